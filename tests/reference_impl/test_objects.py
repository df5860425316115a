"""The object store: whole writes, prefixes that end at a segment, and one contract for a folder and for fsspec."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from partywall.canaries import Level, Scope, UsageError
from partywall.reference_impl.keys import Key, Keys
from partywall.reference_impl.objects import FolderObjects, Objects, RemoteObjects, open_objects

from .deployment import Deploy

KEYS = Keys()
ANN = ("acme", "ann", "s1", "k1")
STORES: dict[str, Callable[[Path], Objects]] = {
    "folder": lambda folder: FolderObjects(folder / "objects"),
    "fsspec, memory": lambda folder: RemoteObjects(f"memory://{uuid4().hex}/objects"),
}


@pytest.fixture(params=sorted(STORES))
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    return STORES[request.param](tmp_path)


def _put(objects: Objects, tenant: str, text: str) -> Key:
    path = KEYS.artifact(Scope(tenant, "ann", "s1", "k1"), "report.md")
    asyncio.run(objects.write(path, text))
    return path


def test_a_text_is_read_as_it_was_written_and_written_over(objects: Objects) -> None:
    path = _put(objects, "acme", "für Ann\x00")
    assert asyncio.run(objects.read(path)) == "für Ann\x00"
    _put(objects, "acme", "")
    assert asyncio.run(objects.read(path)) == ""


def test_what_is_not_there_reads_as_none(objects: Objects) -> None:
    assert asyncio.run(objects.read(Key("tacme/uann"))) is None


def test_erasing_takes_whole_segments_and_no_neighbour_whose_name_begins_alike(objects: Objects) -> None:
    mine, other = _put(objects, "tenant-1", "mine"), _put(objects, "tenant-10", "other")
    root = KEYS.artifact_root(Scope("tenant-1", "ann", "s1", "k1"), Level.TENANT)
    assert asyncio.run(objects.erase(root)) == 1
    assert asyncio.run(objects.read(mine)) is None
    assert asyncio.run(objects.read(other)) == "other"
    assert asyncio.run(objects.erase(root)) == 0


def test_everything_at_rest_is_reported_by_its_key(objects: Objects) -> None:
    paths = sorted(_put(objects, tenant, tenant) for tenant in ("acme", "zeta"))
    report = asyncio.run(objects.at_rest())
    assert (report.keys, report.contents) == (paths, ["acme", "zeta"])


def test_a_protocol_that_is_not_known_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the object store 'nosuch' cannot be used: "):
        open_objects("nosuch://bucket", tmp_path)


def test_a_deployment_keeps_and_erases_its_artifacts_behind_a_url(deploy: Deploy) -> None:
    deployment = deploy(objects_url=f"memory://{uuid4().hex}")
    deployment.value("put_artifact", ANN, name="a", text="one")
    assert deployment.value("get_artifact", ANN, name="a") == "one"
    assert deployment.view("stored_bytes")["objects"] == ["one"]
    assert deployment.value("purge", ANN, level="user")["removed"]["objects"] == 1
    assert deployment.view("stored_keys")["objects"] == []
