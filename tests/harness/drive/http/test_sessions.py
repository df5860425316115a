"""What a session is called at the target: chosen by us, or given by it to its owner alone."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import replace

import pytest
from partywall.canaries import Scope
from partywall.harness.drive.http import HttpTarget
from partywall.harness.drive.http.sessions import SessionIds, SessionRule
from partywall.harness.observe.outcome import UNSENT
from partywall.harness.plan.identity import Address, Identity

from .profiles import ANN, BOB, HOME, a_call, asked, small
from .wire import Received, Server, whole

THEIRS = Scope("zeta", "bob", "s1", "k1")
OPERATIONS = """
operations:
  create_session: {request: {path: /new, json: {from: "{{carry_from?}}"}}}
  run_turn: {request: {path: "/s/{{session}}", json: {text: "{{text}}"}}, response: {text: /reply}}
"""
ON_CREATION = "ids: {session: {from: server, capture: {create_session: /id}}}"
ON_FIRST_TURN = 'ids: {session: {from: server, initial: "new", capture: {run_turn: "header:X-Session"}}}'


class Numbering(Server):
    """Numbers the sessions it is asked for, and answers after a moment."""

    def __init__(self) -> None:
        super().__init__(self.number)
        self.count = 0

    async def number(self, request: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        if request.target in ("/new", "/s/new"):
            self.count += 1
            id = f"server-{self.count}"
        else:
            id = request.target.rpartition("/")[2]
        writer.write(whole(json.dumps({"id": id, "reply": "ok"}), "200 OK", f"X-Session: {id}"))


def test_the_plain_id_is_the_session_alone() -> None:
    assert SessionIds(SessionRule()).of(HOME) == "s1"
    assert SessionIds(SessionRule()).of(Address("acme", "ann", None)) is None


def test_a_uuid_of_the_path_tells_owners_apart_and_one_of_the_session_does_not() -> None:
    folded, bare = SessionIds(SessionRule(format="uuid5")), SessionIds(SessionRule(format="uuid5-session"))
    assert folded.of(HOME) != folded.of(THEIRS)
    assert folded.of(HOME) == SessionIds(SessionRule(format="uuid5")).of(HOME)
    assert bare.of(HOME) == bare.of(THEIRS)
    assert uuid.UUID(folded.of(HOME)).version == 5
    assert folded.of(Scope("a", "b:c", "d")) != folded.of(Scope("a:b", "c", "d"))


def test_a_session_that_the_server_has_not_named_is_not_addressed() -> None:
    async def run() -> None:
        async with Numbering() as server:
            profile = small(ON_CREATION, url=server.url, operations=OPERATIONS)
            [early, _, later] = await asked(profile, a_call(), a_call("create_session", carry_from=None), a_call())
            assert (early.status, early.code, later.status) == ("fail", UNSENT, "ok")
            assert [request.target for request in server.requests] == ["/new", "/s/server-1"]

    asyncio.run(run())


def test_equal_ids_of_two_owners_are_two_sessions_of_the_server() -> None:
    async def run() -> None:
        async with Numbering() as server:
            profile = small(ON_CREATION, url=server.url, operations=OPERATIONS)
            calls = [
                a_call("create_session"),
                a_call("create_session", BOB, THEIRS),
                a_call(),
                a_call("run_turn", BOB, THEIRS),
            ]
            await asked(profile, *calls)
            assert [request.target for request in server.requests][2:] == ["/s/server-1", "/s/server-2"]

    asyncio.run(run())


def test_an_intruder_addresses_the_owners_session_and_never_names_it() -> None:
    async def run() -> None:
        async with Numbering() as server:
            profile = small(ON_CREATION, url=server.url, operations=OPERATIONS)
            create = a_call("create_session")
            intruder, unproved = replace(create, caller=BOB), replace(create, credential="expired")
            await asked(profile, create, intruder, unproved, replace(a_call(), caller=BOB))
            assert server.requests[-1].target == "/s/server-1"

    asyncio.run(run())


def test_a_session_may_be_carried_by_the_servers_own_name() -> None:
    async def run() -> None:
        async with Numbering() as server:
            profile = small(ON_CREATION, url=server.url, operations=OPERATIONS)
            other = replace(HOME, session="s2")
            await asked(profile, a_call("create_session"), a_call("create_session", at=other, carry_from="s1"))
            assert [request.json for request in server.requests] == [{}, {"from": "server-1"}]

    asyncio.run(run())


def test_two_first_turns_at_once_found_one_session() -> None:
    async def run() -> None:
        async with Numbering() as server:
            target = HttpTarget(small(ON_FIRST_TURN, url=server.url, operations=OPERATIONS))
            clients = [await target.connect(ANN) for _ in range(4)]
            await asyncio.gather(*(client.invoke(a_call()) for client in clients))
            assert sorted(request.target for request in server.requests) == ["/s/new", *["/s/server-1"] * 3]
            for client in clients:
                await client.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("given", ['""', "null", "true", "[1]"])
def test_what_is_no_id_is_not_kept(given: str) -> None:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(f'{{"id": {given}, "reply": "ok"}}'))

    async def run() -> None:
        async with Server(answer) as server:
            profile = small(ON_CREATION, url=server.url, operations=OPERATIONS)
            _, outcome = await asked(profile, a_call("create_session"), a_call(caller=Identity("acme", "ann")))
            assert outcome.code == UNSENT

    asyncio.run(run())
