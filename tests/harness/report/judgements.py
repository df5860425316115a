"""Judgements and histories built by hand, for the tests of what is told of them."""

from __future__ import annotations

from collections.abc import Sequence

from partywall.canaries import DEFAULT_PREFIX, Canary, Keyring, Level, Scope
from partywall.harness.judge.verdict import Cell, Control, Evidence, Finding, Judgement, Status, Verdict
from partywall.harness.observe.history import Completed, Header, History, Invoked, Sown
from partywall.harness.observe.outcome import Outcome
from partywall.harness.plan.capabilities import Capabilities
from partywall.harness.plan.guarantee import Guarantee
from partywall.harness.plan.trial import Trial
from partywall.harness.report.build import build
from partywall.harness.report.results import Results

CANARY = DEFAULT_PREFIX + "0123456789abcdefghjkmnpq"
KEYRING = Keyring.derive(b"k" * 32, "verify-1")
TRIAL = Trial("cross_tenant", "reference", seed=1)
CAPABILITIES = Capabilities(frozenset({"add_memory", "search_memory"}), fresh=True)
PASSED = Control("acme/ann sees its own by search", "search", True, "in p3")
FAILED = Control("acme/ann sees its own by list", "list", False, "no canary was ever seen there")


def evidence(excerpt: str = "the order is mzqx7…abc123", **told: object) -> Evidence:
    """A sighting in a search result."""
    return Evidence(**{"probe": "p7", "op": "search_memory", "place": "/0/text", "excerpt": excerpt} | told)  # type: ignore[arg-type]


def finding(claim: str = "acme/ann was shown zeta/zoe's canary 7f3a01: crossed TENANT", **told: object) -> Finding:
    """A crossing of tenants by search."""
    known = {
        "code": "PW101",
        "guarantee": Guarantee.ISOLATION,
        "boundary": "tenant",
        "owner": "zeta/zoe",
        "observer": "acme/ann",
        "channel": "search",
        "fingerprint": "f1",
        "evidence": (evidence(),),
    }
    return Finding(claim=claim, **known | told)  # type: ignore[arg-type]


def held(check: str = "leak", *cells: Cell) -> Verdict:
    """A check that held under its control."""
    return Verdict(check, Guarantee.ISOLATION, Status.HELD, controls=(PASSED,), cells=cells)


def violated(*findings: Finding, check: str = "leak", cells: Sequence[Cell] = ()) -> Verdict:
    """A check with findings, one if none is given."""
    return Verdict(check, Guarantee.ISOLATION, Status.VIOLATED, "", findings or (finding(),), (PASSED,), tuple(cells))


def inconclusive(reason: str = "control failed", check: str = "leak", *cells: Cell) -> Verdict:
    """A check that could not decide."""
    return Verdict(check, Guarantee.ISOLATION, Status.INCONCLUSIVE, reason, controls=(FAILED,), cells=cells)


def not_covered(reason: str = "the target lacks add_memory", check: str = "leak") -> Verdict:
    """A check that the target lacks the operations for."""
    return Verdict(check, Guarantee.ISOLATION, Status.NOT_COVERED, reason, needs=("add_memory",))


def cell(status: Status = Status.HELD, boundary: str = "tenant", channel: str = "search", **told: object) -> Cell:
    """A field of the matrix; with its control where it is held or violated."""
    control = status in (Status.HELD, Status.VIOLATED)
    known = {"carrier": "plain", "control": control}
    return Cell(boundary=boundary, channel=channel, status=status, **known | told)  # type: ignore[arg-type]


def judgement(*verdicts: Verdict, trial: Trial = TRIAL, world: str = "main") -> Judgement:
    """What was said of one world."""
    counts = {"probes": 12, "observations_checked": 40, "observations_total": 41}
    return Judgement(trial, verdicts, world, counts)


def results(*judgements: Judgement, **told: object) -> Results:
    """The results of a run whose status is the worst judgement."""
    order = [Status.NOT_COVERED, Status.HELD, Status.INCONCLUSIVE, Status.VIOLATED]
    status = max((judged.status for judged in judgements), key=order.index, default=Status.NOT_COVERED)
    codes = {Status.HELD: 0, Status.VIOLATED: 1, Status.INCONCLUSIVE: 4, Status.NOT_COVERED: 5}
    known = {
        "target": "reference",
        "capabilities": CAPABILITIES,
        "trial": str(TRIAL),
        "seed": 1,
        "status": status,
        "exit_code": codes[status],
        "seconds": 9.81,
    }
    return build(judgements, **known | told)  # type: ignore[arg-type]


def history(reply: str = "nothing foreign") -> History:
    """Two tenants: one plants, the other looks."""
    planted = Canary(Scope("zeta", "zoe", "s1", "k1"), {"*": Level.TASK}, "message", 1, CANARY)
    header = Header(TRIAL, CAPABILITIES, (KEYRING.to_record(),), DEFAULT_PREFIX, clock=1_700_000_000.0)
    return History(
        header,
        (
            Sown(1, "p1", planted),
            Invoked(2, "p1", "c1", "add_memory", ("zeta", "zoe"), planted.owner.path, {"text": CANARY}),
            Completed(3, "p1", Outcome("ok", "m1")),
            Invoked(4, "p2", "c2", "search_memory", ("acme", "ann"), ("acme", "ann", "s1", "k1"), {"query": "order"}),
            Completed(5, "p2", Outcome("ok", [{"text": reply}])),
        ),
    )
