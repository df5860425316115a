"""Probes of faults in sessions and facts: each is true of the reference and false of its mutant."""

from __future__ import annotations

from collections.abc import Callable

from .deployment import Deployment

ANN = ("acme", "ann", "s1", "k1")
BOB = ("acme", "bob", "s1", "k1")
OTHER_TASK = (*ANN[:3], "k2")
WORD = "hapaxlegomenon"
HOUR = 3600.0
Probe = Callable[[Deployment], bool]


def _advance(deployment: Deployment, seconds: float) -> None:
    deployment.system.clock.advance(seconds)


def _texts(deployment: Deployment, at: tuple[str, ...] = ANN) -> list[str]:
    return [turn["text"] for turn in deployment.value("list_turns", at)]


def _all_there(deployment: Deployment) -> bool:
    deployment.together([("append_turn", ANN, {"text": f"word{n}"}) for n in range(8)])
    return len(set(_texts(deployment))) == 8


def _once(deployment: Deployment) -> bool:
    for _ in range(2):
        deployment.post("append_turn", ANN, text="hello", request_id="r1")
    return _texts(deployment) == ["hello"]


def _own_request(deployment: Deployment) -> bool:
    for at in (ANN, BOB):
        deployment.value("create_session", at)
        deployment.post("append_turn", at, text="hello", request_id="r1")
    return _texts(deployment, BOB) == ["hello"]


def _ended(deployment: Deployment) -> bool:
    deployment.value("append_turn", ANN, text="hello")
    _advance(deployment, 9 * HOUR)
    return deployment.post("append_turn", ANN, text="late").status_code == 410


def _reading_moves_nothing(deployment: Deployment) -> bool:
    deployment.value("append_turn", ANN, text="hello")
    end = deployment.value("session_info", ANN)["expires_at"]
    _advance(deployment, HOUR)
    deployment.value("list_turns", ANN)
    return bool(deployment.value("session_info", ANN)["expires_at"] == end)


def _writing_moves_nothing(deployment: Deployment) -> bool:
    deployment.value("append_turn", ANN, text="hello")
    end = deployment.value("session_info", ANN)["expires_at"]
    _advance(deployment, HOUR)
    deployment.value("append_turn", ANN, text="again")
    return bool(deployment.value("session_info", ANN)["expires_at"] == end)


def _stale_refused(deployment: Deployment) -> bool:
    for text in ("one", "two"):
        deployment.value("append_turn", ANN, text=text)
    return deployment.post("append_turn", ANN, text="old", expected_version=1).status_code == 409


def _numbered(deployment: Deployment) -> bool:
    for n in range(7):
        deployment.value("append_turn", ANN, text=f"word{n}")
    return [turn["turn"] for turn in deployment.value("list_turns", ANN)] == list(range(1, 8))


def _told_its_number(deployment: Deployment) -> bool:
    told = [deployment.value("append_turn", ANN, text=f"word{n}")["turn"] for n in range(7)]
    return told == list(range(1, 8))


def _superseded(deployment: Deployment) -> bool:
    for value in ("old", "new"):
        deployment.value("put_fact", ANN, key="rule", value=value, layer="session")
    return "old" in str(deployment.value("list_facts", ANN, include_superseded=True))


def _said_again(deployment: Deployment) -> bool:
    for _ in range(2):
        deployment.value("put_fact", ANN, key="rule", value="same", layer="session")
    return len(deployment.value("list_facts", ANN, include_superseded=True)) == 1


def _own_history(deployment: Deployment) -> bool:
    deployment.value("append_turn", OTHER_TASK, text=WORD)
    deployment.value("append_turn", ANN, text="hello")
    return WORD not in str(deployment.value("context", ANN, query="what?"))


def _own_layer(deployment: Deployment) -> bool:
    deployment.value("put_fact", ANN, key="rule", value=WORD, layer="task")
    return WORD not in str(deployment.value("list_facts", (*ANN[:2], "s2", "k2")))


def _bounded(deployment: Deployment) -> bool:
    for n in range(205):
        deployment.post("append_turn", ANN, text=f"word{n}.")
    return len(deployment.value("list_turns", ANN)) <= 200


def _summed_up(deployment: Deployment) -> bool:
    for n in range(205):
        deployment.post("append_turn", ANN, text=f"word{n}.")
    known = [fact["key"] for fact in deployment.value("list_facts", ANN)]
    return any(key.startswith("summary") for key in known) or len(_texts(deployment)) > 200


PROBES: dict[str, Probe] = {
    "M30": _all_there,
    "M34a": _once,
    "M34b": _own_request,
    "M36a": _ended,
    "M36b": _reading_moves_nothing,
    "M36c": _writing_moves_nothing,
    "M43": _stale_refused,
    "M45a": _numbered,
    "M45b": _told_its_number,
    "M47a": _superseded,
    "M47b": _said_again,
    "M48": _own_history,
    "M49": _own_layer,
    "M50a": _bounded,
    "M50b": _summed_up,
}
