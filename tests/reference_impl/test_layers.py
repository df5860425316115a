"""Eight entries, the layer of each and why, and what each does where it is misplaced; the user layer is the user's."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from partywall.canaries import Scope
from partywall.reference_impl.layers import Holding, Layer, Placement, Question, place

from .deployment import Deployment

ANN = ("acme", "ann", "s1", "k1")
OTHER_TASK = (*ANN[:3], "k2")
OTHER_SESSION = (*ANN[:2], "s2", "k1")
BOB = ("acme", "bob", "s1", "k1")

ENTRIES = [
    ("use a table this time", Holding(True, False, False), Layer.SESSION, Question.SESSION),
    ("region by order address", Holding(False, False, False), Layer.TASK, Question.TASK),
    ("report template", Holding(True, True, True), Layer.USER, Question.USER),
    ("current step and spent budget", Holding(False, False, False), Layer.TASK, Question.TASK),
    ("last tool result", Holding(False, False, False), Layer.TASK, Question.TASK),
    ("time zone and language", Holding(True, True, True), Layer.USER, Question.USER),
    ("a clarified rule", Holding(False, True, True), Layer.TASK, Question.TASK),
    ("the session's canary", Holding(True, False, False), Layer.SESSION, Question.SESSION),
]
SEEN_FROM = {
    Layer.TASK: {ANN},
    Layer.SESSION: {ANN, OTHER_TASK},
    Layer.USER: {ANN, OTHER_TASK, OTHER_SESSION},
}
"""From where an entry works, by the layer that it is kept in."""


def _works_on(deployment: Deployment, entry: str) -> set[tuple[str, ...]]:
    scopes = (ANN, OTHER_TASK, OTHER_SESSION, BOB)
    return {at for at in scopes if entry in "\n".join(deployment.value("context", at, query="how?"))}


@pytest.mark.parametrize(("entry", "holding", "layer", "question"), ENTRIES)
def test_the_first_no_decides_the_layer_and_is_named(
    entry: str, holding: Holding, layer: Layer, question: Question
) -> None:
    placed = place(holding)
    assert (placed.layer, placed.question) == (layer, question)
    assert placed.answer is (layer is Layer.USER)


@pytest.mark.parametrize(("entry", "holding", "layer", "question"), ENTRIES)
def test_an_entry_works_where_it_holds_and_misplaced_it_works_elsewhere(
    reference: Deployment, entry: str, holding: Holding, layer: Layer, question: Question
) -> None:
    for kept in Layer:
        reference.value("put_fact", ANN, key=f"entry {kept.value}", value=f"{entry} in {kept.value}", layer=kept.value)
        assert _works_on(reference, f"{entry} in {kept.value}") == SEEN_FROM[kept]
    wider = [kept for kept in Layer if SEEN_FROM[kept] > SEEN_FROM[layer]]
    narrower = [kept for kept in Layer if SEEN_FROM[kept] < SEEN_FROM[layer]]
    misplaced = place(holding).misplaced
    if layer is Layer.TASK:
        assert all(OTHER_TASK in SEEN_FROM[kept] for kept in wider)
        assert "other tasks" in misplaced
    elif layer is Layer.SESSION:
        assert all(OTHER_SESSION in SEEN_FROM[kept] for kept in wider)
        assert "never said" in misplaced
    else:
        assert all(OTHER_SESSION not in SEEN_FROM[kept] for kept in narrower)
        assert "every session" in misplaced


def test_what_the_user_never_agreed_to_keep_is_kept_nowhere() -> None:
    placed = place(Holding(True, True, False))
    assert placed == Placement(None, Question.USER, False, placed.misplaced)
    assert "neither see nor change" in placed.misplaced


def test_every_set_of_answers_is_decided_by_the_first_no() -> None:
    for answers in product((True, False), repeat=3):
        placed = place(Holding(*answers))
        first = answers.index(False) if False in answers else 2
        assert placed.question is list(Question)[first]
        assert placed.layer is [Layer.TASK, Layer.SESSION, Layer.USER if all(answers) else None][first]


def test_the_sessions_canary_is_the_sessions_in_deed(reference: Deployment) -> None:
    for at in (ANN, OTHER_SESSION):
        reference.value("append_turn", at, text="hello")
    sessions = reference.system.sessions
    found = [reference.runner.run(sessions.session(Scope(*at))) for at in (ANN, OTHER_SESSION)]
    one, other = (session.mark for session in found if session is not None)
    assert one
    assert one != other
    assert _works_on(reference, one) == {ANN, OTHER_TASK}


@pytest.mark.parametrize("layer", [None, "", "team", "TASK", 1])
def test_a_write_that_names_no_layer_is_refused(reference: Deployment, layer: Any) -> None:
    more = {} if layer is None else {"layer": layer}
    refused = reference.post("put_fact", ANN, key="a", value=1, **more)
    assert (refused.status_code, refused.json()["problems"][0]["at"]) == (422, "layer")
    assert reference.value("list_facts", ANN) == []


def test_the_user_lists_changes_and_deletes_what_is_theirs_from_any_session(reference: Deployment) -> None:
    reference.value("put_fact", ANN, key="language", value="de", layer="user")
    reference.value("put_fact", ANN, key="step", value=2, layer="task")
    listed = reference.value("list_facts", ANN, layer="user")
    assert [(fact["key"], fact["value"]) for fact in listed] == [("language", "de")]
    reference.value("put_fact", OTHER_SESSION, key="language", value="fr", layer="user")
    assert reference.value("get_fact", ANN, key="language")["value"] == "fr"
    assert reference.post("delete_fact", BOB, key="language", layer="user").status_code == 404
    reference.value("delete_fact", OTHER_SESSION, key="language", layer="user")
    assert reference.value("list_facts", ANN[:2], include_superseded=True) == []
    assert [fact["key"] for fact in reference.value("list_facts", ANN)] == ["step"]


def test_a_layer_that_the_scope_names_no_ids_for_is_refused(reference: Deployment) -> None:
    assert reference.post("list_facts", ANN[:2], layer="task").status_code == 422
    assert reference.value("list_facts", ANN[:2]) == []


def test_writes_are_counted_by_layer_whatever_they_write(reference: Deployment) -> None:
    reference.value("append_turn", ANN, text="one")
    reference.value("run_turn", ANN, text="two")
    reference.value("put_fact", ANN, key="a", value=1, layer="task")
    reference.value("put_artifact", ANN, name="a", text="b")
    reference.value("add_memory", ANN, text="tea")
    metrics = reference.view("metrics")
    counted = {layer.value: f'partywall_layer_writes_total{{layer="{layer.value}"}} ' for layer in Layer}
    found = {layer: metrics.split(line)[1].split("\n")[0] for layer, line in counted.items()}
    assert found == {"session": "3.0", "task": "2.0", "user": "1.0"}
