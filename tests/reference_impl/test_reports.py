"""A report made again is the text that was kept, whatever was said since, by its owner or by anybody else."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .deployment import Deployment

ANN = ("acme", "ann", "s1", "k1")
OTHERS = [
    ("zeta", "ann", "s1", "k1"),
    ("acme", "bob", "s1", "k1"),
    ("acme", "ann", "s2", "k1"),
    ("acme", "ann", "s1", "k2"),
]
KEYS = ("rule", "share")
DAY = 86400.0
_ASSERTED = st.tuples(
    st.sampled_from(KEYS),
    st.sampled_from(["{{rule}}", "two", 3, None]),
    st.sampled_from(["task", "session", "user"]),
    st.none() | st.integers(0, 5),
)
_STEPS = st.lists(_ASSERTED | st.sampled_from(["report", "wait"]), min_size=1, max_size=12)


def _say(deployment: Deployment, at: tuple[str, ...], asserted: tuple[str, Any, str, int | None]) -> None:
    key, value, layer, days = asserted
    since: dict[str, Any] = {} if days is None else {"valid_from": deployment.system.clock.now() - days * DAY}
    deployment.value("put_fact", at, key=key, value=value, layer=layer, **since)


def test_a_report_is_the_same_after_any_assertions(reference: Deployment) -> None:
    number = 0

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(_STEPS, _STEPS)
    def any_assertions(before: list[Any], after: list[Any]) -> None:
        nonlocal number
        number += 1
        at = ("acme", f"ann{number}", "s1", "k1")
        for key in KEYS:
            _say(reference, at, (key, "one", "user", None))
        kept = {}
        for place, step in enumerate([*before, "report", *after]):
            if step == "wait":
                reference.system.clock.advance(60.0)
            elif step == "report":
                name = f"r{place}"
                kept[name] = reference.value("render_artifact", at, name=name, template="{{rule}}/{{share}}")
            else:
                _say(reference, at, step)
        for name, text in kept.items():
            again = reference.value("replay_artifact", at, name=name)
            assert (again["text"], again["same"]) == (text, True)
            asked = {"at": again["facts_at"], "known_at": again["facts_at"]}
            assert all(reference.value("get_fact", at, key=key, **asked) is not None for key in KEYS)

    any_assertions()


def test_facts_of_the_same_name_in_other_scopes_are_no_part_of_a_report(reference: Deployment) -> None:
    _say(reference, ANN, ("rule", "mine", "task", 3))
    for at in OTHERS:
        _say(reference, at, ("rule", "theirs", "task", 4))
        _say(reference, at, ("theirs", "theirs", "task", 4))
    assert reference.value("render_artifact", ANN, name="report", template="Rule: {{rule}}") == "Rule: mine"
    assert reference.post("render_artifact", ANN, name="other", template="{{theirs}}").status_code == 422
    for at in OTHERS:
        _say(reference, at, ("rule", "theirs again", "task", None))
        assert reference.post("replay_artifact", at, name="report").status_code == 404
        assert reference.value("render_artifact", at, name="report", template="{{rule}}") == "theirs again"
    _say(reference, ANN, ("rule", "corrected", "task", 3))
    again = reference.value("replay_artifact", ANN, name="report")
    assert (again["text"], again["same"]) == ("Rule: mine", True)
    assert reference.value("render_artifact", ANN, name="next", template="Rule: {{rule}}") == "Rule: corrected"


def test_a_report_whose_text_was_put_over_is_text_and_no_report(reference: Deployment) -> None:
    _say(reference, ANN, ("rule", "one", "task", None))
    reference.value("render_artifact", ANN, name="report", template="{{rule}}")
    reference.value("put_artifact", ANN, name="report", text="by hand")
    assert reference.post("replay_artifact", ANN, name="report").status_code == 422
    assert reference.value("get_artifact", ANN, name="report") == "by hand"
