"""Pytest plugin: the CI gate. Loaded into every pytest of an environment, so it imports nothing until it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from .pytest_canaries import Canaries
    from .pytest_model import MockModel
    from .pytest_run import PartywallRun

_MARKER = "partywall"
_ARGUMENTS = ("scenarios", "pack")
_NO_TARGET = (
    "no target for partywall: give --partywall-target, set partywall_target in the ini file, or override the fixture "
    "partywall_target"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and ini keys: what is verified, and the seed that everything random comes from."""
    group = parser.getgroup("partywall", "isolation of tenants, users, sessions and tasks")
    group.addoption("--partywall-target", metavar="TARGET", help="what to verify: a name or package.module:factory")
    group.addoption("--partywall-seed", type=int, metavar="N", help="everything random comes from it (1)")
    parser.addini("partywall_target", "what to verify: a name or package.module:factory", default="")
    parser.addini("partywall_seed", "everything random comes from it", default="1")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(scenarios=…, pack=…): run a test that uses partywall_run once a scenario; bare: pack quick",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item a scenario, its id the scenario's; a marker that is not understood is told in one sentence."""
    marker = metafunc.definition.get_closest_marker(_MARKER)
    if "partywall_run" not in metafunc.fixturenames:
        if marker is not None and marker in metafunc.definition.own_markers and (marker.args or marker.kwargs):
            raise pytest.Collector.CollectError(
                f"{metafunc.definition.nodeid} is marked for scenarios and does not use the fixture partywall_run"
            )
        return
    args, given = (marker.args, marker.kwargs) if marker is not None else ((), {})
    if args or not set(given) <= set(_ARGUMENTS):
        told = ", ".join([*map(repr, args), *(name for name in given if name not in _ARGUMENTS)])
        raise pytest.Collector.CollectError(
            f"marker {_MARKER} got {told}; expected scenarios=… (a name or a list of names) or pack=…"
        )
    from partywall.canaries import PartywallError

    from .pytest_run import scenario_ids

    try:
        ids = scenario_ids(given.get("scenarios"), given.get("pack", "quick"))
    except PartywallError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    metafunc.parametrize("partywall_run", ids, indirect=True, ids=ids)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a missing or unknown target once, before anything is run. A worker of xdist leaves it to the fixtures:
    it could only crash."""
    config = session.config
    if config.option.collectonly or hasattr(config, "workerinput") or not any(map(_needs_target, session.items)):
        return
    from partywall.canaries import PartywallError

    from .pytest_run import Subject

    try:
        Subject.of(_target(config))
        _seed(config)
    except PartywallError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How the scenarios ended, if there were any."""
    counts: Counter[str] = Counter()
    told: dict[str, None] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            properties = dict(getattr(report, "user_properties", ()))
            if "partywall_status" in properties and report.when == "teardown":
                counts[properties["partywall_status"]] += 1
                told[f"{properties['partywall_target']}, seed {properties['partywall_seed']}"] = None
    if counts:
        words = " · ".join(f"{counts[status]} {status.replace('_', ' ')}" for status in sorted(counts))
        terminalreporter.section("partywall")
        terminalreporter.write_line(f"{words}   on {'; '.join(told)}")


@pytest.fixture(scope="session")
def partywall_target(pytestconfig: pytest.Config) -> Any:
    """What is verified: the option, else the ini key. Override it to give an adapter, or a class or function that
    makes one."""
    try:
        return _target(pytestconfig)
    except pytest.UsageError as error:
        _refuse(error)


@pytest.fixture
def partywall_run(request: pytest.FixtureRequest, partywall_target: Any) -> Iterator[PartywallRun]:
    """One scenario put to the target: `partywall_run.assert_held()`. What the target lacks is skipped."""
    from partywall.canaries import PartywallError

    from .pytest_run import Subject, command, run_scenario

    config = request.config
    if not hasattr(request, "param"):
        pytest.fail("partywall_run must be an argument of the test, to be parametrised by its scenarios", pytrace=False)
    try:
        seed = _seed(config)
        again = command(request.node.nodeid, config.getoption("partywall_target") or "", seed)
        run = run_scenario(request.param, Subject.of(partywall_target), seed, again)
    except (PartywallError, pytest.UsageError) as error:
        _refuse(error)
    request.node.user_properties += run.properties
    if run.status == "not_covered":
        pytest.skip(f"not covered: {run.reason}")
    yield run
    if not run.looked_at and run.status != "held":
        pytest.fail(
            f"the test never looked at what it ran: call partywall_run.assert_held()\n{run.message}", pytrace=False
        )


@pytest.fixture
def mock_llm(pytestconfig: pytest.Config) -> Iterator[MockModel]:
    """A mock LLM of this test's own: `base_url` for the agent, `prompts()` for what it was sent."""
    from .pytest_model import MockModel

    model = MockModel(_seed(pytestconfig))
    yield model
    model.close()


@pytest.fixture
def canaries(request: pytest.FixtureRequest) -> Canaries:
    """Mints, sows and finds canaries under a keyring of this test's own."""
    from .pytest_canaries import Canaries

    return Canaries(request.node.nodeid, _seed(request.config))


@pytest.fixture
def assert_isolated(canaries: Canaries) -> Callable[..., None]:
    """`assert_isolated(snippets, observer=scope)`: no snippet holds a canary that the observer may not see."""
    from .pytest_canaries import assert_no_foreign

    def check(snippets: Any, *, observer: Any, allow_empty: bool = False) -> None:
        __tracebackhide__ = True
        assert_no_foreign(canaries, snippets, observer, allow_empty)

    return check


def _target(config: pytest.Config) -> str:
    spec: str = config.getoption("partywall_target") or config.getini("partywall_target")
    if not spec:
        raise pytest.UsageError(_NO_TARGET)
    return spec


def _seed(config: pytest.Config) -> int:
    given: int | None = config.getoption("partywall_seed")
    if given is not None:
        return given
    text: str = config.getini("partywall_seed")
    try:
        return int(text)
    except ValueError:
        raise pytest.UsageError(f"partywall_seed must be a whole number, got {text!r}") from None


def _needs_target(item: pytest.Item) -> bool:
    """Whether an item takes the target from the options: a user's own fixture of that name stands before ours."""
    if "partywall_target" not in getattr(item, "fixturenames", ()):
        return False
    known: dict[str, Any] = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    definitions = known.get("partywall_target", ())
    return bool(definitions) and definitions[-1].func.__module__ == __name__


def _refuse(error: Exception) -> NoReturn:
    pytest.fail(str(error), pytrace=False)
