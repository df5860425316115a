"""The rules on who may import whom; each takes the repository's root and returns one sentence per breach."""

from __future__ import annotations

from pathlib import Path

from .source import Import, Module, graph, inside, modules

HARNESS = "partywall.harness"
MOCK_LLM = f"{HARNESS}.mock_llm"
LOCUST_USER = f"{HARNESS}.frontends.locust_user"
LOCUSTFILE = "partywall.scenarios.load.locustfile"
MUTANTS = "partywall.reference_impl.mutants"

# The floors of the harness, ground first. Two units on one floor stand side by side: no arrow between them.
# The face of the harness itself stands on top: it shows everything, so nothing inside may look at it.
FLOORS = (
    {"errors"},
    {"registry"},
    {"plan"},
    {"codes"},
    {"catalogue"},
    {"observe", "mock_llm"},
    {"drive", "judge"},
    {"report", "exits"},
    {"run"},
    {"online", "doctor", "demos", "lint_keys"},
    {"frontends"},
    {""},
)

# Which faces of the other roots a module may import. The longest matching importer decides.
CROSSINGS: dict[str, tuple[str, ...]] = {
    "partywall.canaries": (),
    "partywall.reference_impl": ("partywall.canaries",),
    "partywall.scenarios": ("partywall.canaries", f"{HARNESS}.plan"),
    LOCUSTFILE: ("partywall.canaries", f"{HARNESS}.plan", LOCUST_USER),
    HARNESS: ("partywall.canaries",),
    f"{HARNESS}.drive.targets": ("partywall.canaries", "partywall.reference_impl", MUTANTS),
    f"{HARNESS}.frontends": ("partywall.canaries", "partywall.reference_impl", MUTANTS),
}


def circles(root: Path) -> list[str]:
    """No circle of imports, of any size, over the modules of all four roots."""
    return [f"circle: {', '.join(sorted(circle))}" for circle in _components(graph(root)) if len(circle) > 1]


def upward_arrows(root: Path) -> list[str]:
    """Inside the harness an arrow points to a lower floor, or stays in its own unit."""
    breaches = []
    for module, found in _ours(root):
        if module.root != "harness" or not inside(found.target, HARNESS):
            continue
        importer, imported = _unit(module.name), _unit(found.target)
        if unknown := [unit for unit in (importer, imported) if _floor(unit) is None]:
            breaches.append(_told(module, found, f"the unit {unknown[0]!r} has no floor"))
        elif importer != imported and (_floor(importer) or 0) <= (_floor(imported) or 0):
            breaches.append(_told(module, found, f"{importer or 'the face'} may not see {imported or 'the face'}"))
    return breaches


def units_without_a_floor(root: Path) -> list[str]:
    """Every unit of the harness has its floor, even one that imports nothing yet."""
    units = {_unit(name) for name in modules(root) if inside(name, HARNESS)}
    return [f"the unit {unit!r} of the harness has no floor" for unit in sorted(units) if _floor(unit) is None]


def drive_meets_judge(root: Path) -> list[str]:
    """Neither drive nor judge reaches the other, over however many modules; report does not import drive."""
    arrows = graph(root)
    breaches = []
    for importer, imported in (("drive", "judge"), ("judge", "drive"), ("report", "drive")):
        for name in sorted(arrows):
            if inside(name, f"{HARNESS}.{importer}") and (way := _way(arrows, name, f"{HARNESS}.{imported}")):
                breaches.append(f"{importer} reaches {imported}: {' → '.join(way)}")
    return breaches


def meetings_outside_run(root: Path) -> list[str]:
    """Below the frontends, `run` is the one place that imports both drive and judge."""
    breaches = []
    for name, targets in sorted(graph(root).items()):
        seen = {unit for unit in ("drive", "judge") for target in targets if inside(target, f"{HARNESS}.{unit}")}
        if len(seen) == 2 and _unit(name) not in ("run", "frontends", "") and inside(name, HARNESS):
            breaches.append(f"{name} imports both drive and judge; only run may")
    return breaches


def mock_llm_walls(root: Path) -> list[str]:
    """The mock LLM imports nothing of ours but the canaries; only targets and frontends import it."""
    breaches = []
    for module, found in _ours(root):
        within = inside(module.name, MOCK_LLM)
        if within and not inside(found.target, MOCK_LLM) and found.target != "partywall.canaries":
            breaches.append(_told(module, found, "the mock LLM imports nothing of ours but canaries"))
        users = (f"{HARNESS}.drive.targets", f"{HARNESS}.frontends")
        if not within and inside(found.target, MOCK_LLM) and not any(inside(module.name, user) for user in users):
            breaches.append(_told(module, found, "only drive.targets and frontends may import the mock LLM"))
    return breaches


def crossings(root: Path) -> list[str]:
    """Inside a root imports are relative; across roots they are absolute and name a face the table allows."""
    breaches = []
    for module, found in _ours(root):
        same = inside(found.target, f"partywall.{module.root}")
        if same and not found.relative:
            breaches.append(_told(module, found, "inside a root an import is relative"))
        if not same and found.relative:
            breaches.append(_told(module, found, "across roots an import is absolute"))
        if not same and found.target not in (allowed := _allowed(module.name)):
            breaches.append(_told(module, found, f"it may import of other roots: {', '.join(allowed) or 'nothing'}"))
    return breaches


def locust_imports(root: Path) -> list[str]:
    """Locust patches the process: only frontends.locust_user imports it, only the locustfile imports that."""
    breaches = []
    for module in modules(root).values():
        for found in module.imports:
            within = inside(module.name, LOCUST_USER)
            if inside(found.target, "locust") and not within:
                breaches.append(_told(module, found, "only frontends.locust_user imports locust"))
            if inside(found.target, LOCUST_USER) and not within and module.name != LOCUSTFILE:
                breaches.append(_told(module, found, "only scenarios.load.locustfile imports locust_user"))
    return breaches


def switches_to_mutants(root: Path) -> list[str]:
    """The reference holds no way to be broken: nothing of it outside `mutants` imports a mutant."""
    return [
        _told(module, found, "the reference may not know its mutants")
        for module, found in _ours(root)
        if module.root == "reference_impl" and inside(found.target, MUTANTS) and not inside(module.name, MUTANTS)
    ]


def _ours(root: Path) -> list[tuple[Module, Import]]:
    return [(module, found) for module in modules(root).values() for found in module.imports if found.ours]


def _told(module: Module, found: Import, why: str) -> str:
    return f"{module.name}:{found.line} imports {found.target}: {why}"


def _unit(name: str) -> str:
    return name.removeprefix(HARNESS).lstrip(".").split(".")[0]


def _floor(unit: str) -> int | None:
    return next((number for number, units in enumerate(FLOORS) if unit in units), None)


def _allowed(name: str) -> tuple[str, ...]:
    return CROSSINGS[max((importer for importer in CROSSINGS if inside(name, importer)), key=len)]


def _way(arrows: dict[str, set[str]], start: str, package: str) -> list[str]:
    """The shortest chain of imports from `start` into `package`; empty where there is none."""
    ways, seen = [[start]], {start}
    for way in ways:
        for target in sorted(arrows[way[-1]] - seen):
            if inside(target, package):
                return [*way, target]
            seen.add(target)
            ways.append([*way, target])
    return []


def _components(arrows: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components (Tarjan 1972), without recursion."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []
    done: set[str] = set()
    for start in arrows:
        if start in order:
            continue
        work = [(start, iter(sorted(arrows[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    work.append((target, iter(sorted(arrows[target]))))
                    break
                if target not in done:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    found.append(set(stack[at:]))
                    done.update(stack[at:])
                    del stack[at:]
    return found
