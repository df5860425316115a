"""A knowledge chunk is immutable all the way down."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from partywall.reference_impl.knowledge import KnowledgeChunk


def test_no_field_can_be_set() -> None:
    chunk = KnowledgeChunk("tea", "m1", {"at": 1}, [0.5])
    for field in ("text", "chunk_id", "metadata", "embedding"):
        with pytest.raises(FrozenInstanceError):
            setattr(chunk, field, "other")


def test_changing_what_was_passed_in_changes_nothing() -> None:
    metadata: dict[str, Any] = {"at": 1}
    embedding = [0.5]
    chunk = KnowledgeChunk("tea", "m1", metadata, embedding)
    metadata["at"] = 2
    embedding.append(9.0)
    assert dict(chunk.metadata) == {"at": 1}
    assert chunk.embedding == (0.5,)


def test_changing_what_was_handed_out_fails() -> None:
    chunk = KnowledgeChunk("tea", "m1", {"at": 1}, [0.5])
    with pytest.raises(TypeError):
        chunk.metadata["at"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        chunk.embedding[0] = 1.0  # type: ignore[index]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2003"])
def test_white_space_alone_is_no_text(text: str) -> None:
    with pytest.raises(ValueError, match="white space"):
        KnowledgeChunk(text, "m1")


@pytest.mark.parametrize("metadata", [{"a": []}, {"a": {}}, {1: "a"}])
def test_metadata_that_could_be_changed_inside_is_refused(metadata: Any) -> None:
    with pytest.raises(ValueError, match="metadata"):
        KnowledgeChunk("tea", "m1", metadata)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_embedding_is_finite(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        KnowledgeChunk("tea", "m1", {}, [number])


def test_the_embedding_takes_no_part_in_equality() -> None:
    one, other = KnowledgeChunk("tea", "m1", {"a": 1}, [0.1]), KnowledgeChunk("tea", "m1", {"a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert one != KnowledgeChunk("tea", "m2", {"a": 1}, [0.1])
