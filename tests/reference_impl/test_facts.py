"""Facts have two times: when a value holds, and since when that is known; nothing that was believed is overwritten."""

from __future__ import annotations

from typing import Any

import pytest

from .deployment import Deploy, Deployment

ANN = ("acme", "ann", "s1", "k1")
NEXT = (*ANN[:2], "s2", "k1")
DAY = 86400.0


def _put(deployment: Deployment, value: Any, key: str = "rule", **more: Any) -> float:
    deployment.value("put_fact", ANN, key=key, value=value, layer="task", **more)
    return deployment.system.clock.now()


def _told(deployment: Deployment, **asked: Any) -> Any:
    found = deployment.value("get_fact", ANN, key="rule", **asked)
    return None if found is None else found["value"]


@pytest.fixture
def deployment(deploy: Deploy) -> Deployment:
    return deploy(lifetime=90 * DAY, task_after=90 * DAY)


def test_what_held_at_any_instant_can_be_asked(deployment: Deployment) -> None:
    before = deployment.system.clock.now()
    first = _put(deployment, "by billing address")
    deployment.system.clock.advance(DAY)
    second = _put(deployment, "by order address")
    assert [_told(deployment, at=at) for at in (before, first, second - 1, second)] == [
        None,
        "by billing address",
        "by billing address",
        "by order address",
    ]
    old, new = deployment.value("list_facts", ANN, include_superseded=True)
    assert (old["valid_to"], old["superseded_by"]) == (new["valid_from"], new["version"])
    assert deployment.value("get_fact", ANN, key="rule", at=new["valid_from"])["version"] == new["version"]
    assert [fact["value"] for fact in deployment.value("list_facts", ANN, at=first)] == ["by billing address"]


def test_the_same_value_again_makes_no_new_version(deployment: Deployment) -> None:
    first = _put(deployment, {"a": 1, "b": [1, 2]})
    _put(deployment, {"b": [1, 2], "a": 1})
    _put(deployment, {"a": 1, "b": [1, 2]}, valid_from=first)
    assert len(deployment.value("list_facts", ANN, include_superseded=True)) == 1
    assert "partywall_fact_supersessions_total 0.0" in deployment.view("metrics")


def test_a_correction_changes_what_is_believed_of_the_past_and_not_what_was_believed_then(
    deployment: Deployment,
) -> None:
    first = _put(deployment, "19 %")
    deployment.system.clock.advance(10 * DAY)
    before = deployment.system.clock.now()
    deployment.system.clock.advance(1)
    _put(deployment, "7 %", valid_from=first + 5 * DAY)
    assert _told(deployment, at=first + 6 * DAY) == "7 %"
    assert _told(deployment, at=first + 6 * DAY, known_at=before) == "19 %"
    assert _told(deployment, at=first + 4 * DAY) == "19 %"
    assert _told(deployment, known_at=before) == "19 %"
    assert _told(deployment, known_at=first - 1) is None
    [old, new] = deployment.value("list_facts", ANN, include_superseded=True)
    assert (old["valid_to"], new["valid_from"]) == (first + 5 * DAY, first + 5 * DAY)
    assert old["superseded_at"] == new["recorded_at"] > before
    assert [f["valid_to"] for f in deployment.value("list_facts", ANN, known_at=before, include_superseded=True)] == [
        None
    ]


def test_a_value_from_between_leaves_what_began_later(deployment: Deployment) -> None:
    first = _put(deployment, "one")
    deployment.system.clock.advance(10 * DAY)
    last = _put(deployment, "three")
    _put(deployment, "two", valid_from=first + DAY)
    assert [_told(deployment, at=at) for at in (first, first + DAY, last - 1, last)] == ["one", "two", "two", "three"]
    assert _told(deployment) == "three"


def test_a_fact_of_the_future_is_refused(deployment: Deployment) -> None:
    refused = deployment.post(
        "put_fact", ANN, key="rule", value=1, layer="task", valid_from=deployment.system.clock.now() + 60
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    assert _told(deployment) is None


def test_a_report_made_again_is_the_same_whatever_changed_since(deployment: Deployment) -> None:
    _put(deployment, "by billing address")
    began = deployment.value("get_fact", ANN, key="rule")["valid_from"]
    _put(deployment, 12, key="share")
    deployment.value("put_fact", ANN, key="currency", value="EUR", layer="user")
    template = "Turnover {{rule}}: {{share}} % in {{currency}}, {{rule}}. {{}}"
    text = deployment.value("render_artifact", ANN, name="report", template=template)
    assert text == "Turnover by billing address: 12 % in EUR, by billing address. {{}}"
    assert deployment.value("get_artifact", ANN, name="report") == text
    deployment.system.clock.advance(DAY)
    _put(deployment, "by order address")
    _put(deployment, "corrected", valid_from=began)
    deployment.value("put_fact", ANN, key="currency", value="{{rule}}", layer="user")
    again = deployment.value("replay_artifact", ANN, name="report")
    assert (again["text"], again["same"]) == (text, True)
    at = again["facts_at"]
    asked = {"at": at, "known_at": at}
    held = {fact["key"]: fact["value"] for fact in deployment.value("list_facts", ANN, **asked)}
    assert held == {"rule": "by billing address", "share": 12, "currency": "EUR"}
    other = deployment.value("render_artifact", ANN, name="other", template="{{currency}} {{rule}}")
    assert other == "{{rule}} by order address"


def test_a_report_that_rests_on_what_is_gone_is_not_made_up(deployment: Deployment) -> None:
    _put(deployment, "one")
    deployment.value("render_artifact", ANN, name="report", template="{{rule}}")
    deployment.value("put_artifact", ANN, name="plain", text="text")
    assert deployment.post("render_artifact", ANN, name="x", template="{{unknown}}").status_code == 422
    assert deployment.post("replay_artifact", ANN, name="plain").status_code == 422
    assert deployment.post("replay_artifact", ANN, name="nothing").status_code == 404
    assert deployment.post("replay_artifact", (*ANN[:3], "k2"), name="report").status_code == 404
    deployment.value("delete_fact", ANN, key="rule")
    _put(deployment, "another one")
    gone = deployment.post("replay_artifact", ANN, name="report")
    assert (gone.status_code, gone.json()["code"]) == (409, "conflict")


def test_only_conclusions_that_are_named_are_carried(deployment: Deployment) -> None:
    for key in ("kept", "left"):
        _put(deployment, key, key=key)
    assert deployment.post("create_session", NEXT, carry_from="s1", carry=["kept", "unknown"]).status_code == 422
    assert deployment.value("list_sessions", ANN) == ["s1"]
    assert deployment.post("create_session", NEXT, carry=["kept"]).status_code == 422
    deployment.value("create_session", NEXT, carry_from="s1", carry=["kept"])
    [fact] = deployment.value("list_facts", NEXT)
    assert (fact["key"], fact["value"]) == ("kept", "kept")
    assert fact["carried_from"].endswith("|ss1|k")
    assert "ann" not in fact["carried_from"]
    assert any('"event": "carried"' in line and "u#" in line for line in deployment.view("read_log"))


@pytest.mark.parametrize("how", ["expired", "archived"])
def test_a_session_that_has_ended_can_be_gone_on_from(deploy: Deploy, how: str) -> None:
    deployment = deploy()
    deployment.value("append_turn", ANN, text="a turn")
    _put(deployment, "concluded")
    deployment.value("put_fact", ANN, key="mood", value="dry", layer="session")
    if how == "archived":
        deployment.value("archive_session", ANN)
    else:
        deployment.system.clock.advance(8 * 3600)
    assert deployment.value("session_info", ANN)["state"] == how
    deployment.value("create_session", NEXT, carry_from="s1")
    assert [fact["value"] for fact in deployment.value("list_facts", NEXT)] == ["concluded"]
    assert deployment.value("list_turns", NEXT) == []
