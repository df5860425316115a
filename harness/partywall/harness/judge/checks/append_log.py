"""Check `append_log`: what was appended to a session is there, once, in one order, for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...observe.history import Faulted, History
from ...plan.channel import Channel
from ...plan.guarantee import Guarantee
from ..append_log import NAMES, Append, Read, Session, Violation, doubt, sessions_of, told, violations_of
from ..append_log.model import Level
from ..check import Check, conclude
from ..testimony import finding, named
from ..verdict import Control, Evidence, Finding, Verdict

_CODES = {name: f"PW{201 + index}" for index, name in enumerate(NAMES)}
_MISSED = frozenset(
    {"LOST-APPEND", "STALE-READ", "READ-YOUR-WRITES", "READ-WENT-BACKWARDS", "MONOTONIC-READS", "LOST-OVERWRITTEN"}
)
_LEVELS: dict[str, Level] = {"session": "session", "eventual": "eventual", "durable_on_ack": "eventual"}
_STRIKES = ("kill", "restart", "crash", "power", "disk")
_PAUSES = ("pause", "stop")


def judge(history: History) -> Verdict:
    """Violated where two answers about one session contradict each other, whoever wrote and read.

    Held only where clients really overlapped, and where a full read after the last acknowledgement showed the log: a
    serial run is no test of concurrency, and a loss that nobody could see is none that did not happen. A session that
    no read ever showed a turn of is blind, not empty: the listing may be of another store.
    """
    promises = history.header.capabilities.promises
    level = _LEVELS.get(str(promises.get("level")), "linearizable")
    sessions = sessions_of(history)
    found: dict[str, list[tuple[Session, Violation]]] = {}
    doubted = 0
    strikes = _Strikes.of(history)
    for session in sessions:
        if not session.seen:
            continue
        violations = [*session.violations, *violations_of(session.log, level)[1]]
        for violation in violations:
            if doubt(session.log, violation):
                doubted += 1
            else:
                found.setdefault(_named(strikes, violation), []).append((session, violation))
    findings = [_finding(history, name, found[name]) for name in NAMES if name in found]
    tried = [session for session in sessions if session.clients > 1]
    controls = [*_controls(tried), *([_sound(doubted)] if doubted else [])]
    covered = bool(tried)
    passed = all(control.passed for control in controls)
    reason = _summary(history, level, sessions) if covered and (passed or findings) else ""
    return conclude(
        "append_log",
        Guarantee.ATOMICITY,
        findings,
        controls,
        covered=covered,
        reason=reason if covered else "no session was appended to by two clients",
    )


def _controls(tried: list[Session]) -> Iterator[Control]:
    appends = sum(len(session.log.appends) for session in tried)
    if not tried:
        return
    met = sum(session.overlapping * len(session.log.appends) for session in tried)
    share = met / appends if appends else 0.0
    yield Control(
        "appends of different clients to one session overlapped",
        Channel.TURNS,
        share > 0,
        f"{share:.2f} of {appends} did" if share else f"none of {appends} did: a serial run is no test of concurrency",
    )
    for session in tried:
        if not any(append.status == "ok" for append in session.log.appends):
            continue
        final = session.seen and bool(session.log.final_reads)
        why = "no full read began after the last acknowledgement" if session.seen else "no full read showed any of them"
        yield Control(
            f"a final read shows the turns of {named(session.key)}",
            Channel.TURNS,
            final,
            "" if final else why,
        )


def _sound(doubted: int) -> Control:
    return Control("every contradiction was borne out a second way", Channel.TURNS, False, f"{doubted} were not")


def _summary(history: History, level: Level, sessions: list[Session]) -> str:
    """The strongest level that was judged, and what was not, since it is not promised."""
    promises = history.header.capabilities.promises
    unclear = sum(session.unclear for session in sessions)
    parts = [f"judged as {level}"]
    if not promises.get("idempotent"):
        parts.append(
            f"idempotence is not promised, so retries were not judged{f' ({unclear} texts)' if unclear else ''}"
        )
    if not promises.get("cas"):
        parts.append("compare-and-set is not promised, so expected versions were not judged")
    if level != "linearizable":
        parts.append("staleness is allowed by promise")
    return "; ".join(parts)


def _named(strikes: _Strikes, it: Violation) -> str:
    """A loss that spans a fault is the fault's finding: what was acknowledged did not survive it.

    The event must have struck after the acknowledgement and before the look that missed the turn. A fault that struck
    before either explains nothing.
    """
    if it.first is None:
        return it.name
    if it.name in _MISSED and isinstance(it.second or (it.pins[0] if it.pins else None), Append | Read):
        look = it.pins[0] if it.name == "LOST-OVERWRITTEN" and it.pins else it.second
        assert look is not None
        if any(it.first.ret < at < look.ret for at in strikes.losses):
            return "DURABILITY-LOSS"
    if it.name in ("CAS-HOLE", "LOST-OVERWRITTEN"):
        spans = [op for op in (it.first, it.second) if isinstance(op, Append)]
        if any(op.call < at < op.ret for op in spans for at in strikes.pauses):
            return "LOCK-LOST"
    return it.name


@dataclass(frozen=True, slots=True)
class _Strikes:
    """When the target was struck, and when it or one of its workers was paused."""

    losses: tuple[int, ...]
    pauses: tuple[int, ...]

    @staticmethod
    def of(history: History) -> _Strikes:
        """By delivered faults, and by operations that do the same."""
        due = [(entry.at, entry.fault) for entry in history.entries if isinstance(entry, Faulted) and entry.delivered]
        called = {probe: call for probe, call in history.invocations.items() if call.op in (*_STRIKES, *_PAUSES)}
        due += [(call.at, call.op) for probe, call in called.items() if history.outcome(probe).status != "fail"]
        return _Strikes(
            tuple(at for at, fault in due if fault.startswith(_STRIKES)),
            tuple(at for at, fault in due if fault.startswith(_PAUSES)),
        )


def _finding(history: History, name: str, found: list[tuple[Session, Violation]]) -> Finding:
    """One finding for all violations of a name: the first one's testimony, and how many more there are."""
    session, first = found[0]
    sessions = len({each.key for each, _ in found})
    more = f" ({len(found)} such, in {sessions} session{'' if sessions == 1 else 's'})" if len(found) > 1 else ""
    tenant, user, place, task = (*session.key, "")[:4]
    path = (tenant, user, place, task)
    evidence = [each for at, it in found[:5] for each in _evidence(history, at, it)]
    return finding(
        _CODES[name],
        f"{named(session.key[:3])}: {told(session.log, first)}{more}",
        boundary="session",
        owner=path,
        observer=path,
        channel=Channel.TURNS,
        carrier="plain",
        evidence=evidence,
        kind=(name,),
    )


def _evidence(history: History, session: Session, it: Violation) -> Iterator[Evidence]:
    for op in (it.first, it.second, *it.pins[:2]):
        if op is None:
            continue
        call = history.invocations[op.id]
        if isinstance(op, Append):
            number = f" as turn {op.number}" if op.number is not None else ""
            outcome = {"ok": f"acknowledged{number}", "fail": "refused", "info": "never answered"}[op.status]
            yield Evidence(op.id, call.op, "", f"append by {op.client}: {outcome}", at=op.call)
        else:
            yield Evidence(op.id, call.op, "", f"read by {op.client}: {op.size} turns", at=op.call)


CHECK = Check(
    id="append_log",
    title="what was appended is there, once, in one order, for everybody",
    guarantee=Guarantee.ATOMICITY,
    codes=frozenset(_CODES.values()),
    needs=frozenset({"append_turn | run_turn", "list_turns"}),
    judge=judge,
)
