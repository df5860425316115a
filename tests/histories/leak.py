"""Golden histories of the check `leak`."""

from __future__ import annotations

import base64
from typing import Any

from partywall.canaries import Level, Scope
from partywall.harness.observe.history import History
from partywall.harness.observe.outcome import NOT_IMPLEMENTED, Outcome
from partywall.harness.plan import Address

from .world import ANN, EVERYTHING, OTHER_SESSION, OTHER_TASK, OTHER_TENANT, OTHER_USER, World, of_levels


def each_sees_its_own() -> History:
    """Four directions, everybody is shown its own turn only."""
    world = World()
    scopes = (ANN, OTHER_TENANT, OTHER_USER, OTHER_SESSION)
    own = world.turns(*scopes)
    for scope in scopes:
        world.read("list_turns", scope, own[scope])
        world.read("context", scope, own[scope])
    return world.history


def imported_canary() -> History:
    """The observer pasted the foreign canary into its own session: shown again, it is its own input."""
    world = World()
    own = world.turns(ANN, OTHER_USER)
    world.write("append_turn", ANN, canary=own[OTHER_USER])
    world.read("list_turns", ANN, own[ANN], own[OTHER_USER])
    world.read("list_turns", OTHER_USER, own[OTHER_USER])
    return world.history


def shown_before_it_was_imported() -> History:
    """What the observer puts in later is no excuse for having been shown it before."""
    world = World()
    own = world.turns(ANN, OTHER_USER)
    world.read("list_turns", ANN, own[ANN], own[OTHER_USER])
    world.write("append_turn", ANN, canary=own[OTHER_USER])
    return world.history


def asked_for_in_a_question() -> History:
    """A question that holds a canary may be echoed to the task that asked it."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    question = f"what is {own[OTHER_TENANT].text}?"
    world.read("cached_answer", ANN, f"{question} {own[ANN].text}", query=question)
    world.read("cached_answer", OTHER_TENANT, own[OTHER_TENANT], query="mine?")
    return world.history


def tasks_share_the_listing() -> History:
    """A turn reaches its session on the listing and its task in the context."""
    world = World()
    own = world.turns(ANN, OTHER_TASK)
    for scope in (ANN, OTHER_TASK):
        world.read("list_turns", scope, *own.values())
        world.read("context", scope, own[scope])
    return world.history


def memories_follow_the_user() -> History:
    """A memory reaches every session and task of its user, and no other user."""
    world = World()
    mine = world.write("add_memory", ANN, outcome=Outcome("ok", "m1"))
    theirs = world.write("add_memory", OTHER_USER, outcome=Outcome("ok", "m2"))
    world.read("list_memories", OTHER_SESSION, mine)
    world.read("context", OTHER_TASK, mine)
    world.read("list_memories", OTHER_USER, theirs)
    world.read("list_memories", ANN, mine)
    return world.history


def awkward_ids_kept_apart() -> History:
    """Users whose names differ by a blank, by case, by a wildcard: each is shown its own."""
    world = World()
    scopes = [Scope("acme", user, "s1", "k1") for user in ("ann", "ann ", "Ann", "an%", "ann:s1", "a", "ａｎｎ")]
    own = world.turns(*scopes)
    for scope in scopes:
        world.read("list_turns", scope, own[scope])
    return world.history


def awkward_ids_refused() -> History:
    """The users None and empty are refused: who is shown nothing has leaked nothing, and was no way in."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    for user in (None, ""):
        world.call("list_turns", Address("acme", user, "s1"), Outcome("fail", reason="no user", code="invalid"))
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope, own[scope])
    return world.history


def awkward_ids_without_a_control() -> History:
    """The users None and empty are shown nothing; whether they would be shown anything of theirs is not known."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    for user in (None, ""):
        world.read("list_turns", Address("acme", user, "s1", "k1"))
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope, own[scope])
    return world.history


def no_task_dimension() -> History:
    """A target that does not know tasks may show both tasks' turns everywhere."""
    world = World(**of_levels(Level.TENANT, Level.USER, Level.SESSION))
    own = world.turns(ANN, OTHER_TASK, OTHER_USER)
    for scope in (ANN, OTHER_TASK):
        world.read("context", scope, own[ANN], own[OTHER_TASK])
    world.read("context", OTHER_USER, own[OTHER_USER])
    return world.history


def declared_reach() -> History:
    """The target declares that its artifacts are the session's: another task may see them, another session not."""
    world = World(reach={"put_artifact": {"*": Level.SESSION}})
    reach = {"*": Level.SESSION}
    mine, theirs = (world.mint._mint.canary(scope, reach, kind="artifact") for scope in (ANN, OTHER_SESSION))
    world.write("put_artifact", ANN, canary=mine, name="a")
    world.write("put_artifact", OTHER_SESSION, canary=theirs, name="a")
    world.read("get_artifact", OTHER_TASK, mine, name="a")
    world.read("get_artifact", OTHER_SESSION, theirs, name="a")
    return world.history


def sharing_beside_a_wall() -> History:
    """acme and zeta share on purpose; bob of acme is still kept from what ann of acme wrote."""
    world = World(intended_sharing=(("acme", "zeta"),))
    own = world.turns(ANN, OTHER_TENANT, OTHER_USER)
    world.read("list_turns", ANN, own[ANN], own[OTHER_TENANT])
    world.read("list_turns", OTHER_TENANT, own[OTHER_TENANT], own[ANN])
    world.read("list_turns", OTHER_USER, own[OTHER_USER])
    return world.history


def shared_on_purpose() -> History:
    """The only two tenants share on purpose, so nothing that was looked at is a wall."""
    world = World(intended_sharing=(("acme", "zeta"),))
    own = world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope, *own.values())
    return world.history


def _shown(scope: Scope, op: str, how: str = "plain", channel_write: str = "append_turn") -> History:
    """`scope` is shown its own and ann's by `op`."""
    world = World()
    layer: dict[str, Any] = {"layer": "user", "key": "open_order"} if channel_write == "put_fact" else {}
    name: dict[str, Any] = {"name": "report.md"} if channel_write == "put_artifact" else {}
    mine = world.write(channel_write, ANN, **layer, **name)
    dressed = base64.b64encode(f"order {mine.text} ships".encode()).decode() if how == "base64" else mine
    theirs = world.write(channel_write, scope, **layer, **name)
    asked: dict[str, dict[str, Any]] = {
        "cached_answer": {"query": "q"},
        "get_artifact": {"name": "report.md"},
        "get_fact": {"key": "open_order"},
    }
    world.read(op, scope, theirs, dressed, **asked.get(op, {}))
    return world.history


def claimed_session() -> History:
    """B's credential with A's ids: B is the observer, and A's turn was shown to it."""
    world = World(authenticates=True)
    own = world.turns(ANN, OTHER_TENANT)
    world.read("list_turns", ANN, own[ANN], caller=OTHER_TENANT)
    world.read("list_turns", OTHER_TENANT, own[OTHER_TENANT])
    return world.history


def written_by_a_stranger() -> History:
    """Zeta wrote into ann's session with its own credential: that text is no input of ann's."""
    world = World(authenticates=True)
    own = world.turns(ANN, OTHER_TENANT)
    planted = world.write("append_turn", OTHER_TENANT, into=ANN, caller=OTHER_TENANT)
    world.read("context", ANN, own[ANN], planted)
    world.read("context", OTHER_TENANT, own[OTHER_TENANT])
    return world.history


def two_awkward_ids() -> History:
    """The user None is shown what ann wrote."""
    world = World()
    own = world.turns(ANN)
    world.read("list_turns", Address("acme", None, "s1", "k1"), own[ANN])
    return world.history


def in_the_reason_of_a_refusal() -> History:
    """A refusal that quotes what it refuses to show has shown it."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    reason = f"not yours: voucher {own[ANN].text}"
    world.call("get_memory", OTHER_TENANT, Outcome("fail", reason=reason, code="denied"), memory_id="m1")
    return world.history


def in_a_prompt() -> History:
    """The reply is clean; the prompt at the model was not."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    probe = world.read("run_turn", OTHER_TENANT, own[OTHER_TENANT], text="hello")
    world.recorder.seen("prompt", f"history: {own[ANN].text}", OTHER_TENANT.path, probe, "in flight")
    return world.history


def as_the_key_of_an_object() -> History:
    """A canary may stand in a field's name."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    world.call("run_turn", OTHER_TENANT, Outcome("ok", {"text": "hi", own[ANN].text: 1}), text="hello")
    return world.history


def leak_beside_a_limit() -> History:
    """A limit hides what was not read; it excuses nothing that was."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    world.recorder.limited("list_turns: answer larger than 8,000,000 characters")
    world.read("list_turns", OTHER_TENANT, own[ANN])
    return world.history


def nobody_sees_anything() -> History:
    """A target that drops every write is clean and proves nothing."""
    world = World()
    world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope)
    return world.history


def everything_denied() -> History:
    """A target that denies every read is clean and proves nothing."""
    world = World()
    world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.call("list_turns", scope, Outcome("fail", reason="no", code="denied"))
    return world.history


def one_channel_blind() -> History:
    """Turns show each its own; the search finds nothing for anybody."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope, own[scope])
        world.read("search_memory", scope, query="voucher")
    return world.history


def limit_hit() -> History:
    """All that was read is clean; an answer was too large to be read."""
    world = World()
    own = world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope, own[scope])
    world.recorder.limited("context: answer larger than 8,000,000 characters")
    return world.history


def left_by_an_earlier_run() -> History:
    """A canary that shows before it was planted was left by an earlier run: what shows later may be that one."""
    world = World(fresh=True)
    left = world.canary(ANN, "append_turn")
    world.read("list_turns", ANN, left)
    world.write("append_turn", ANN, canary=left)
    own = world.turns(OTHER_TENANT)
    world.read("list_turns", ANN, left)
    world.read("list_turns", OTHER_TENANT, own[OTHER_TENANT])
    return world.history


def nothing_planted() -> History:
    """Looks at what nobody had written to."""
    world = World()
    for scope in (ANN, OTHER_TENANT):
        world.read("list_turns", scope)
    return world.history


def looked_before_the_write() -> History:
    """The only foreign look came before there was anything to leak."""
    world = World()
    world.read("list_turns", OTHER_TENANT)
    own = world.turns(ANN)
    world.read("list_turns", ANN, own[ANN])
    return world.history


def write_unknown() -> History:
    """Nobody knows whether the only write happened, so nobody had anything to leak."""
    world = World()
    world.write("append_turn", ANN, outcome=Outcome("info", reason="no answer within 10 s", code="timeout"))
    world.read("list_turns", OTHER_TENANT)
    return world.history


def no_observation() -> History:
    """Writes only."""
    world = World("append_turn")
    world.turns(ANN, OTHER_TENANT)
    return world.history


def not_implemented() -> History:
    """The only observation turned out not to be implemented."""
    world = World("append_turn", "list_turns")
    world.turns(ANN, OTHER_TENANT)
    for scope in (ANN, OTHER_TENANT):
        world.call("list_turns", scope, Outcome("fail", reason="not implemented", code=NOT_IMPLEMENTED))
    return world.history


def _gone_on(*, layer: str = "task", quoted: bool = False) -> History:
    """A new session goes on from the old one and shows a fact of it, or a turn that a fact of it quoted."""
    world = World(*EVERYTHING, "create_session")
    fact = world.write("put_fact", ANN, layer=layer, key="conclusion")
    turn = world.write("append_turn", ANN)
    world.read("list_facts", ANN, fact, *([turn] if quoted else []))
    world.call("create_session", OTHER_SESSION, Outcome("ok", "s2"), carry_from="s1")
    mine = world.write("put_fact", OTHER_SESSION, layer="task", key="conclusion_later")
    world.read("list_facts", OTHER_SESSION, mine, turn if quoted else fact)
    return world.history


def _gone_on_elsewhere(session: str, task: str) -> History:
    """What is carried is the same task's in the new session, and nobody else's."""
    world = World(*EVERYTHING, "create_session")
    fact = world.write("put_fact", ANN, layer="task", key="conclusion")
    world.call("create_session", OTHER_SESSION, Outcome("ok", "s2"), carry_from="s1")
    viewer = Scope("acme", "ann", session, task)
    world.read("list_facts", viewer, world.write("put_fact", viewer, layer="task", key="own"), fact)
    return world.history


HISTORIES = {
    "held.carried_to_the_new_session": _gone_on,
    "held.carried_in_a_summary": lambda: _gone_on(quoted=True),
    "violated.PW103-a_session_fact_carried": lambda: _gone_on(layer="session"),
    "violated.PW103-carried_to_another_task": lambda: _gone_on_elsewhere("s2", "k2"),
    "violated.PW103-not_carried_there": lambda: _gone_on_elsewhere("s3", "k1"),
    "held.each_sees_its_own": each_sees_its_own,
    "held.imported_canary": imported_canary,
    "held.asked_for_in_a_question": asked_for_in_a_question,
    "held.tasks_share_the_listing": tasks_share_the_listing,
    "held.memories_follow_the_user": memories_follow_the_user,
    "held.awkward_ids_kept_apart": awkward_ids_kept_apart,
    "inconclusive.awkward_ids_refused": awkward_ids_refused,
    "held.no_task_dimension": no_task_dimension,
    "held.declared_reach": declared_reach,
    "held.sharing_beside_a_wall": sharing_beside_a_wall,
    "violated.PW101-turns": lambda: _shown(OTHER_TENANT, "list_turns"),
    "violated.PW101-base64": lambda: _shown(OTHER_TENANT, "list_turns", "base64"),
    "violated.PW101-cache": lambda: _shown(OTHER_TENANT, "cached_answer"),
    "violated.PW101-artifact": lambda: _shown(OTHER_TENANT, "get_artifact", channel_write="put_artifact"),
    "violated.PW101-claimed-session": claimed_session,
    "violated.PW101-written-by-a-stranger": written_by_a_stranger,
    "violated.PW101-reason-of-a-refusal": in_the_reason_of_a_refusal,
    "violated.PW101-prompt": in_a_prompt,
    "violated.PW101-key-of-an-object": as_the_key_of_an_object,
    "violated.PW101-beside-a-limit": leak_beside_a_limit,
    "violated.PW102-shown-before-it-was-imported": shown_before_it_was_imported,
    "violated.PW102-turns": lambda: _shown(OTHER_USER, "list_turns"),
    "violated.PW102-memory": lambda: _shown(OTHER_USER, "list_memories", channel_write="add_memory"),
    "violated.PW102-fact": lambda: _shown(OTHER_USER, "get_fact", channel_write="put_fact"),
    "violated.PW102-user-none": two_awkward_ids,
    "violated.PW103-turns": lambda: _shown(OTHER_SESSION, "list_turns"),
    "violated.PW103-artifact-names": lambda: _shown(OTHER_SESSION, "list_artifacts", channel_write="put_artifact"),
    "violated.PW104-context": lambda: _shown(OTHER_TASK, "context"),
    "violated.PW104-reply": lambda: _shown(OTHER_TASK, "run_turn"),
    "inconclusive.awkward_ids_without_a_control": awkward_ids_without_a_control,
    "inconclusive.nobody_sees_anything": nobody_sees_anything,
    "inconclusive.everything_denied": everything_denied,
    "inconclusive.one_channel_blind": one_channel_blind,
    "inconclusive.limit_hit": limit_hit,
    "inconclusive.left_by_an_earlier_run": left_by_an_earlier_run,
    "not_covered.nothing_planted": nothing_planted,
    "not_covered.looked_before_the_write": looked_before_the_write,
    "inconclusive.write_unknown": write_unknown,
    "not_covered.no_observation": no_observation,
    "not_covered.not_implemented": not_implemented,
    "not_covered.shared_on_purpose": shared_on_purpose,
}
