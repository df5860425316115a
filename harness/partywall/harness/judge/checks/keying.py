"""Check `keying`: every key that comes to be at rest names the owner it belongs to."""

from __future__ import annotations

from urllib.parse import unquote

from ...observe.history import History
from ...plan.guarantee import Guarantee
from ...plan.operation import ANY_WRITE
from ..check import Check, conclude
from ..testimony import finding
from ..verdict import Control, Evidence, Finding, Verdict

_PLACES = ("cache", "objects")
"""Where keys are read by prefix. Rows of a main store carry the scope in columns, an index may carry a digest of it."""
_PROMISE = "keyed"
"""Places, such as log, locks and rates, whose keys name at least the tenant, as the target promises. Unasked they are
not judged: a log may be kept under the names of its files."""
_MOST = 20


def judge(history: History) -> Verdict:
    """Violated where a key is there after the owners' work that was not before, and names no tenant, or no user, of
    theirs. Only the difference is judged: what stood there before may be anybody's."""
    views = [probe for probe, call in history.invocations.items() if call.op == "stored_keys"]
    seen = [(probe, history.outcome(probe).value) for probe in views if history.outcome(probe).status == "ok"]
    owners = {entry.canary.owner.path[:2] for entry in history.sown}
    findings: list[Finding] = []
    controls: list[Control] = []
    if len(seen) > 1:
        first, last = seen[0][1], seen[-1][1]
        named = history.header.capabilities.promises.get(_PROMISE, ())
        promised = [named] if isinstance(named, str) else [str(place) for place in named]
        for place in dict.fromkeys((*_PLACES, *promised)):
            fresh = sorted({str(key) for key in last.get(place, [])} - {str(key) for key in first.get(place, [])})
            if fresh:
                controls.append(Control(f"keys came to be in {place}", "keys", True, f"{len(fresh)} did"))
                findings += _judged(fresh, place, owners, seen[-1][0])
            elif place in promised:
                controls.append(Control(f"keys came to be in {place}", "keys", False, "none did"))
    if len(seen) < len(views):
        controls.append(Control("every view of the keys was answered", "keys", False, "one was not"))
    return conclude(
        "keying",
        Guarantee.KEYING,
        findings,
        controls,
        covered=len(views) > 1,
        reason="" if len(views) > 1 else "nobody looked at the keys before and after",
    )


def _judged(keys: list[str], place: str, owners: set[tuple[str, str]], probe: str) -> list[Finding]:
    without_tenant = [key for key in keys if not any(_names(key, tenant) for tenant, _ in owners)]
    must_name_user = place in _PLACES
    without_user = [
        key
        for key in keys
        if must_name_user
        and key not in without_tenant
        and not any(_names(key, tenant) and _names(key, user) for tenant, user in owners)
    ]
    told = (("PW801", "tenant", without_tenant), ("PW802", "user", without_user))
    return [_finding(code, level, bad, place, probe) for code, level, bad in told if bad]


def _names(key: str, identifier: str) -> bool:
    return identifier in key or identifier in unquote(key)


def _finding(code: str, level: str, keys: list[str], place: str, probe: str) -> Finding:
    claim = f"{len(keys)} keys in {place} name no {level} of those who made them, the first is {keys[0][:120]!r}"
    return finding(
        code,
        claim,
        boundary=level,
        owner=None,
        observer=("", "", "", ""),
        channel="keys",
        carrier="plain",
        evidence=[Evidence(probe, "stored_keys", f"/{place}", key[:200]) for key in keys[:_MOST]],
        kind=(place,),
    )


CHECK = Check(
    id="keying",
    title="every key at rest names its owner",
    guarantee=Guarantee.KEYING,
    codes=frozenset({"PW801", "PW802"}),
    needs=frozenset({ANY_WRITE, "stored_keys"}),
    judge=judge,
)
