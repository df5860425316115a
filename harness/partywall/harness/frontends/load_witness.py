"""Load witness: one worker's record of a load run; every answer is scanned at once and judged later."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from partywall.canaries import DEFAULT_PREFIX, Level, Opened, Scanner, reaches

from ..drive.http import HttpTarget, Profile
from ..drive.http.client import Answer, HttpClient, Lane, Watch
from ..drive.http.profile import Limits, Route
from ..drive.http.request import WireRequest, build
from ..drive.http.sessions import SessionIds
from ..drive.http.template import Inexpressible
from ..errors import ContractError
from ..observe.history import Header
from ..observe.journal import write
from ..observe.outcome import NOT_IMPLEMENTED, TIMEOUT, UNSENT, Outcome
from ..observe.recorder import Recorder
from ..plan import OPERATIONS, Call, Capabilities, Channel, Planting, Probe, Trial, reach_of
from ..plan.contract import LimitHit, conform
from ..plan.identity import RawPath
from .load_recorder import LateRecorder
from .load_spec import LoadSpec
from .load_traffic import Traffic

FOREIGN = "a foreign canary was shown"
"""The constant message of a request that failed so: it names nobody, and Locust counts it in one line."""
LIVE_LEVEL = "S1"
"""What a worker looks for at once; the judge reads everything that was recorded again at S3."""
MOST_EVIDENCE = 200
"""Answers with a foreign canary that are recorded after a worker's history is full."""

_REMEMBERED = 20_000
_SOWN_BY = {"message": ("append_turn", "run_turn"), "memory": ("add_memory",)}
_MINTED = {"session": Level.SESSION, "preference": Level.USER}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `lost` says why nothing did: `unreachable`, `timeout`, `disconnected`; empty otherwise."""

    status: int
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a request ended: `message` is empty where it counts as a success, and one of few words otherwise."""

    outcome: Outcome
    message: str = ""


@dataclass(slots=True)
class Count:
    """What one worker did. `requests` is Locust's own count: what it has and `checked` has not went unseen."""

    worker: int
    requests: int = 0
    checked: int = 0
    failed: int = 0
    foreign: int = 0
    problems: list[str] = field(default_factory=list)


class Witness:
    """Mints, builds, records and scans for all simulated users of one worker.

    Its history is bounded by `most_entries` of the spec: beyond, answers are still scanned and those that hold a
    foreign canary still recorded, but nothing else, and the history says that a limit was hit.
    """

    def __init__(self, spec: LoadSpec, profile: Profile, worker: int) -> None:
        keyrings = spec.opened_keyrings()
        self.spec = spec
        self.profile = profile
        self.count = Count(worker)
        self._mint = Planting(keyrings[0], spec.nonce)
        self._started = 0
        self._entries = 0
        self._full = False
        self._evidence = 0
        self._unrecorded: set[str] = set()
        self._scanner = Scanner(keyrings, level=LIVE_LEVEL)
        self._recorder = LateRecorder(header_of(spec, profile.capabilities))
        self._reader = _Reader(profile, self._recorder)
        self._reach = _Reach(profile.capabilities)
        self._boundaries: dict[tuple[str, RawPath], Level | None] = {}

    def traffic(self) -> Traffic:
        """The steps of the next simulated user: numbers are taken in turn by the workers, so none is taken twice."""
        number = self._started * self.spec.workers + self.count.worker
        self._started += 1
        rng = random.Random(f"{self.spec.seed}/{number}")
        return Traffic(self._mint, number, self.profile.capabilities, rng, self.spec.prompts)

    def request(self, call: Call) -> WireRequest:
        """What goes over the wire. Raises Inexpressible where the profile has no place for it."""
        return self._reader.request(call)

    def sent(self, probe: Probe) -> None:
        """`probe` is about to be sent."""
        if self._entries >= self.spec.most_entries and not self._full:
            self._full = True
            self._recorder.limited(f"the history of worker {self.count.worker} is full at {self._entries} entries")
        if self._full:
            self._unrecorded.add(probe.id)
        else:
            self._recorder.invoked(probe, probe.call, probe.client)
            self._entries += 2 + len(probe.sows)  # its end has its place already

    def answered(self, probe: Probe, reply: Reply) -> Ending:
        """`probe` was answered or lost: scan what came, record it, and say how it ended.

        An answer that is well so far is read when the run is over; should it then turn out to be none, it counts as
        failed all the same.
        """
        foreign = self._foreign(probe, reply)
        recorded = probe.id not in self._unrecorded
        self._unrecorded.discard(probe.id)
        self.count.checked += 1
        if not foreign and self._reader.well_so_far(probe.call, reply):
            if recorded:
                self._recorder.ended(probe.id, lambda: self._read_late(probe, reply))
            return Ending(Outcome("ok"))
        outcome = self._outcome(probe, reply)
        if not recorded and foreign and self._evidence < MOST_EVIDENCE:
            self._evidence += 1
            self._recorder.invoked(probe, probe.call, probe.client)
            recorded = True
        if recorded:
            self._recorder.completed(probe.id, outcome)
        if foreign:
            self.count.foreign += 1
            if recorded:
                self._tell_untold(probe, reply, outcome, foreign)
            return Ending(outcome, FOREIGN)
        self.count.failed += outcome.status != "ok"
        return Ending(outcome, "" if outcome.status == "ok" else f"{outcome.status}: {outcome.code or 'unknown'}")

    def unsent(self, probe: Probe, why: str) -> None:
        """`probe` could not be expressed in this profile: nothing was sent."""
        self.sent(probe)
        if probe.id not in self._unrecorded:
            self._recorder.completed(probe.id, Outcome("fail", reason=why, code=UNSENT))
        self._unrecorded.discard(probe.id)

    def close(self) -> None:
        """Leave history and count in the spec's folder, each whole or not at all, the count last."""
        place = Path(self.spec.folder) / f"worker-{self.count.worker}"
        history = self._recorder.history()  # first: reading what was left for the end may add to the count
        write([history], place.with_suffix(".jsonl"))
        draft = place.with_suffix(".part")
        draft.write_text(json.dumps(asdict(self.count)), encoding="utf-8")
        draft.replace(place.with_suffix(".json"))

    def _read_late(self, probe: Probe, reply: Reply) -> Outcome:
        outcome = self._outcome(probe, reply)
        self.count.failed += outcome.status != "ok"
        return outcome

    def _outcome(self, probe: Probe, reply: Reply) -> Outcome:
        try:
            outcome = self._reader.outcome(probe.call, reply)
            if outcome.status == "ok":
                conform(probe.call.op, outcome.value)
            return outcome
        except LimitHit as error:
            self._recorder.limited(f"{probe.call.op}: {error}", probe.id)
            return Outcome("info", reason=str(error), code="limit")
        except ContractError as error:
            self.count.problems += [each for each in error.problems if each not in self.count.problems][:20]
            return Outcome("info", reason=str(error), code="contract")

    def _foreign(self, probe: Probe, reply: Reply) -> set[str]:
        """The tokens in body and headers that this viewer may not see."""
        headers = "\n".join([f"{name}: {value}" for name, value in reply.headers]).encode()
        call = probe.call
        viewer, channel = call.scope.path, str(OPERATIONS[call.op].channel)
        scan = self._scanner.scan(headers + b"\n\n" + reply.body)
        strangers = [
            sighting
            for sighting in scan.sightings
            if self._reach.parts(self._parted(sighting.opened, viewer), sighting.opened.kind, channel)
        ]
        if any(sighting.start < len(headers) for sighting in strangers):
            self._reader.headers(call, reply)
        return {sighting.opened.token for sighting in strangers}

    def _parted(self, opened: Opened, viewer: RawPath) -> Level | None:
        """Where its owner and the viewer part. Answers repeat what they showed before, so most are asked again."""
        key = opened.token, viewer
        if key not in self._boundaries:
            if len(self._boundaries) >= _REMEMBERED:
                self._boundaries.clear()
            self._boundaries[key] = opened.boundary(viewer)
        return self._boundaries[key]

    def _tell_untold(self, probe: Probe, reply: Reply, outcome: Outcome, tokens: Iterable[str]) -> None:
        """What stood beside the value that the profile reads is evidence too."""
        told = json.dumps(outcome.value) + outcome.reason
        if any(token not in told for token in tokens):
            text = reply.body.decode("utf-8", "backslashreplace")
            channel = str(OPERATIONS[probe.call.op].channel)
            self._recorder.seen(channel, text, probe.call.scope.path, probe.id, how="body")


def header_of(spec: LoadSpec, capabilities: Capabilities) -> Header:
    """The header of a load run's histories."""
    watched = frozenset({str(Channel.PROMPT)})
    watches = capabilities.watches | watched if spec.prompts else capabilities.watches - watched
    return Header(
        trial=Trial("load", spec.target, seed=spec.seed, size=spec.users),
        capabilities=replace(capabilities, watches=watches),
        keyrings=spec.keyrings,
        prefix=DEFAULT_PREFIX,
        world="load",
        exercises=("isolation",),
        clock=time.time(),
    )


class _Reach:
    """Who may see a canary, told from the token alone: its owner was minted in another process.

    Where the token does not say enough (a dimension the target lacks, tenants that share) nothing is foreign here,
    and the judge decides, who has every planting of every worker.
    """

    def __init__(self, capabilities: Capabilities) -> None:
        self._dimensions = capabilities.dimensions if not capabilities.intended_sharing else frozenset()
        self._by_kind = {
            kind: [{**reach_of(op), **capabilities.reach.get(op, {})} for op in ops] for kind, ops in _SOWN_BY.items()
        }

    def parts(self, parted: Level | None, kind: str, channel: str) -> bool:
        """Whether a canary of that kind, whose owner parts from the viewer there, may not be seen in `channel`."""
        if parted is None or parted not in self._dimensions:
            return False
        ways = self._by_kind.get(kind) or [{"*": _MINTED.get(kind, Level.TASK)}]
        return not any(reaches(reach, parted, channel) for reach in ways)


class _Reader(HttpClient):
    """Builds requests and understands answers as the HTTP driver does, and sends nothing itself."""

    def __init__(self, profile: Profile, recorder: Recorder) -> None:
        watch = Watch(profile)
        watch.recorder = recorder
        super().__init__(profile, SessionIds(profile.sessions), Lane(Limits()), watch, HttpTarget(profile))

    def request(self, call: Call) -> WireRequest:
        """The request of `call`; Inexpressible where there is none."""
        route = self._route(call)
        if route is None:
            raise Inexpressible(f"the profile has no {call.op}")
        return build(call, self._profile, route, self._sessions)

    def headers(self, call: Call, reply: Reply) -> None:
        """Record the headers of an answer."""
        self._watch.headers(call, Answer(reply.status, tuple(reply.headers), b""))

    def well_so_far(self, call: Call, reply: Reply) -> bool:
        """Whether the status alone says `ok`, and nothing in the answer is needed before the run is over."""
        route = self._route(call)
        if reply.lost or route is None or route.ok_when is not None or self._profile.sessions.server:
            return False
        return route.classes.of(reply.status)[0] == "ok"

    def outcome(self, call: Call, reply: Reply) -> Outcome:
        """How a call ended. Raises LimitHit and ContractError as the driver's seam does."""
        route = self._route(call)
        if route is None:
            return Outcome("fail", reason=f"the profile has no {call.op}", code=NOT_IMPLEMENTED)
        if reply.lost == "unreachable":
            return Outcome("fail", reason="no connection", code=UNSENT)
        if reply.lost:
            return Outcome("info", reason="no whole answer", code=TIMEOUT if reply.lost == "timeout" else reply.lost)
        understood = self._outcome(call, route, Answer(reply.status, tuple(reply.headers), reply.body))
        secrets = self._profile.secrets
        value, reason = secrets.redacted(understood.value), secrets.redact(understood.reason)
        return Outcome(understood.status, value, reason, understood.code)

    def _route(self, call: Call) -> Route | None:
        return self._profile.routes.get(call.op)
