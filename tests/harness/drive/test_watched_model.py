"""A profile with a mock model behind it: an agent that never asks the model proves nothing about prompts."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest
from partywall.harness import RunPlan, RunResult, Status, UsageError, verify

PROFILE = """
version: 1
name: echo
base_url: http://127.0.0.1:{port}
dimensions: [tenant, user, session]
fresh: true
operations:
  run_turn:
    request:
      method: POST
      path: /turn
      json: {{text: "{{{{text}}}}", who: ["{{{{tenant}}}}", "{{{{user}}}}", "{{{{session}}}}"]}}
    response: {{text: /reply}}
model: {{port: {model}}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def against_echo(tmp_path: Path, model_port: int, debug: bool = False) -> RunResult:
    """Verify a service that answers with everything its caller ever said, and asks no model; with `debug`, a member
    that the profile does not name holds what everybody said."""
    said: dict[str, list[str]] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b"":
            length = next(
                int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
            )
            body = json.loads(await reader.readexactly(length))
            heard = said.setdefault(json.dumps(body["who"]), [])
            heard.append(body["text"])
            everything = {"debug": list(said.values())} if debug else {}
            answer = json.dumps({"reply": " ".join(heard), **everything}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(answer) + answer)
            await writer.drain()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has hung up: that is how a test ends
        finally:
            writer.close()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    profile = tmp_path / "echo.yaml"
    profile.write_text(PROFILE.format(port=port, model=model_port))
    async with server:
        return await verify(RunPlan(str(profile), ("cross_tenant",)))


def test_a_model_that_was_never_called_leaves_the_prompt_channel_inconclusive(tmp_path: Path) -> None:
    result = asyncio.run(against_echo(tmp_path, free_port()))
    cells = {cell.channel: cell.status for j in result.judgements for v in j.verdicts for cell in v.cells}
    assert cells == {"reply": Status.HELD, "prompt": Status.INCONCLUSIVE}
    assert result.status is Status.INCONCLUSIVE
    reasons = " ".join(v.reason for j in result.judgements for v in j.verdicts)
    assert "the model was never called" in reasons


def test_a_leak_in_a_member_that_the_profile_does_not_name_is_seen(tmp_path: Path) -> None:
    result = asyncio.run(against_echo(tmp_path, free_port(), debug=True))
    found = {(f.code, f.channel) for j in result.judgements for v in j.verdicts for f in v.findings}
    assert found == {("PW101", "reply")}


def test_a_port_that_is_taken_is_told_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="is taken"):
            asyncio.run(against_echo(tmp_path, taken.getsockname()[1]))
