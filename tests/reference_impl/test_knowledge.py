"""A knowledge chunk is immutable all the way down."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


@pytest.mark.parametrize("metadata", [None, "ab", ["a"], 5, [("a", 1)]])
def test_metadata_is_a_mapping(metadata: Any) -> None:
    with pytest.raises(ValueError, match="metadata"):
        KnowledgeChunk("tea", "m1", metadata)


@pytest.mark.parametrize("embedding", ["12", b"12", 5, [None], ["x"], {}, [[0.5]], [True], [10**400]])
def test_an_embedding_is_numbers_in_order(embedding: Any) -> None:
    with pytest.raises(ValueError, match="embedding"):
        KnowledgeChunk("tea", "m1", {}, embedding)


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4)
_METADATA = st.dictionaries(st.text(max_size=3), _SCALARS, max_size=4)
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_EMBEDDING = st.none() | st.lists(_NUMBERS, max_size=4)
_TEXT = st.text(min_size=1).filter(str.strip)
_INTRUSIONS = (
    lambda chunk: setattr(chunk, "text", "x"),
    lambda chunk: delattr(chunk, "metadata"),
    lambda chunk: setattr(chunk, "extra", 1),
    lambda chunk: chunk.metadata.update(a=1),
    lambda chunk: chunk.metadata.pop("a"),
    lambda chunk: chunk.metadata.__setitem__("a", 1),
    lambda chunk: chunk.embedding.append(1.0),
    lambda chunk: chunk.embedding.__setitem__(0, 1.0),
)


@settings(deadline=None)
@given(_TEXT, st.text(min_size=1), _METADATA, _EMBEDDING)
def test_nothing_done_to_a_chunk_or_to_what_it_was_made_of_changes_it(
    text: str, chunk_id: str, metadata: dict[str, Any], embedding: list[float] | None
) -> None:
    chunk = KnowledgeChunk(text, chunk_id, MappingProxyType(metadata), embedding)
    as_made = (text, chunk_id, dict(metadata), None if embedding is None else tuple(embedding))
    twin, number = KnowledgeChunk(text, chunk_id, dict(metadata), [0.25]), hash(chunk)
    metadata["added"] = []
    metadata.clear()
    if embedding is not None:
        embedding[:] = [9.0]
    for intrude in _INTRUSIONS:
        with pytest.raises((AttributeError, TypeError)):
            intrude(chunk)
    assert (chunk.text, chunk.chunk_id, dict(chunk.metadata), chunk.embedding) == as_made
    assert chunk == twin
    assert hash(chunk) == hash(twin) == number


@settings(deadline=None)
@given(st.text(st.characters(categories=["Zs", "Zl", "Zp"]) | st.sampled_from("\t\n\r\x0b\x0c"), max_size=6))
def test_no_white_space_of_any_kind_is_text(blank: str) -> None:
    with pytest.raises(ValueError, match="white space"):
        KnowledgeChunk(blank, "m1")


_NESTED: st.SearchStrategy[Any] = (
    st.lists(_SCALARS, max_size=2) | st.dictionaries(st.text(max_size=3), _SCALARS, max_size=2) | st.just(set())
)


@settings(deadline=None)
@given(metadata=_METADATA, nested=_NESTED)
def test_anything_that_could_be_changed_inside_is_refused_among_whatever_else(
    metadata: dict[str, Any], nested: Any
) -> None:
    with pytest.raises(ValueError, match="metadata"):
        KnowledgeChunk("tea", "m1", {**metadata, "nested": nested})


def test_text_and_numbers_of_a_class_of_their_own_become_plain() -> None:
    class Loud(str):
        def __eq__(self, other: object) -> bool:
            return True

        def __str__(self) -> str:
            return "intruder"

        __hash__ = str.__hash__

    class Number(int):
        pass

    chunk = KnowledgeChunk(Loud("tea"), Loud("m1"), {Loud("a"): Number(1), "b": True, "c": 0.5})
    assert [type(each) for each in (chunk.text, chunk.chunk_id, *chunk.metadata)] == [str] * 5
    assert [type(each) for each in chunk.metadata.values()] == [int, bool, float]
    assert (chunk.text, dict(chunk.metadata)) == ("tea", {"a": 1, "b": True, "c": 0.5})
