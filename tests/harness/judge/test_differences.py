"""The ten differences: told by findings, by their code and channel, and by nothing else."""

from __future__ import annotations

import pytest
from partywall.harness.catalogue import CODES
from partywall.harness.judge.bench import checks
from partywall.harness.judge.differences import TEN, Difference, differences
from partywall.harness.judge.verdict import Control, Evidence, Finding, Judgement, Status, Verdict
from partywall.harness.plan import Guarantee, Trial


def _finding(code: str, channel: str) -> Finding:
    return Finding(
        code=code,
        guarantee=Guarantee.ISOLATION,
        claim="it was so",
        boundary="tenant",
        owner="acme/ann",
        observer="zeta/ann",
        channel=channel,
        fingerprint="f",
        evidence=(Evidence("p1", "list_memories", "", ""),),
    )


def _judged(*verdicts: Verdict) -> list[Judgement]:
    return [Judgement(Trial("cross_tenant", "x"), verdicts)]


def _status(number: int, judgements: list[Judgement]) -> Status:
    return next(told.status for told in differences(judgements) if told.difference.number == number)


def _leak(code: str, channel: str) -> Verdict:
    return Verdict("leak", Guarantee.ISOLATION, Status.VIOLATED, findings=(_finding(code, channel),))


@pytest.mark.parametrize("difference", TEN, ids=lambda each: str(each.number))
def test_every_code_of_a_difference_is_known_and_some_check_gives_it(difference: Difference) -> None:
    given = frozenset().union(*(check.codes for check in checks().values()))
    assert difference.codes <= set(CODES)
    assert difference.codes <= given


def test_they_are_ten_in_order() -> None:
    assert [each.number for each in TEN] == list(range(1, 11))


def test_a_leak_through_a_cache_is_the_caches_difference_and_not_the_scopes() -> None:
    judged = _judged(_leak("PW101", "cache"))
    assert _status(3, judged) is Status.VIOLATED
    assert _status(2, judged) is not Status.VIOLATED


def test_what_another_finding_may_have_hidden_is_undecided_and_never_held() -> None:
    assert _status(6, _judged(_leak("PW101", "cache"))) is Status.INCONCLUSIVE


def test_a_difference_is_held_where_the_checks_that_could_show_it_are() -> None:
    held = Verdict("supersession", Guarantee.SUPERSESSION, Status.HELD, controls=(Control("seen", "facts", True),))
    assert _status(7, _judged(held)) is Status.HELD


def test_a_difference_that_nothing_was_asked_about_is_not_covered() -> None:
    assert {told.status for told in differences(_judged())} == {Status.NOT_COVERED}
