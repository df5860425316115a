"""What a user installs: built from a littered copy, put into fresh environments, used beside their code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..architecture.source import REPOSITORY, ROOTS, python_files
from ..architecture.synthetic import plant
from ..architecture.tracked import tracked

pytestmark = pytest.mark.slow

UV = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
IMPORT_ALL = "import " + ", ".join(f"partywall.{root}" for root in ROOTS)
COMMAND_LINE = any((REPOSITORY / "harness/partywall/harness/frontends").glob("cli*"))


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment of its own, with nothing in it but what a test installs."""

    folder: Path

    def run(self, command: str, *arguments: str, cwd: Path | None = None) -> str:
        """What `command` of this environment printed; AssertionError with its output where it failed."""
        binaries = self.folder / ("Scripts" if os.name == "nt" else "bin")
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL"))
        }
        done = subprocess.run(
            [str(binaries / command), *arguments],
            cwd=cwd or self.folder,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{command} {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def install(self, *what: str) -> None:
        """Install with uv where there is one, with pip otherwise."""
        if UV:
            python = str(self.folder / ("Scripts" if os.name == "nt" else "bin") / "python")
            run([UV, "pip", "install", "--quiet", "--python", python, *what])
        else:
            self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)


def run(command: list[str], cwd: Path | None = None) -> None:
    """Run a command of the machine; AssertionError with its output where it failed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def environment(folder: Path) -> Environment:
    """A fresh virtual environment at `folder`."""
    run([sys.executable, "-m", "venv", *(["--without-pip"] if UV else []), str(folder)])
    return Environment(folder)


def copy_of_the_checkout(folder: Path) -> Path:
    """What git would track, copied into `folder`."""
    for path in tracked(REPOSITORY):
        there = folder / path.relative_to(REPOSITORY)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, there)
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git would track, with an environment and reports in it that no ignore file names."""
    litter = {"myenv/pyvenv.cfg": "", "myenv/lib/site-packages/six.py": "", "reports/results.json": "{}"}
    return plant(copy_of_the_checkout(tmp_path_factory.mktemp("checkout")), litter)


@pytest.fixture(scope="module")
def built(checkout: Path) -> tuple[Path, Path]:
    """The sdist of the copy, and the wheel that was built from that sdist."""
    run(
        [
            sys.executable,
            "-m",
            "build",
            *(["--installer", "uv"] if UV and shutil.which("uv") else []),
            str(checkout),
        ]
    )
    (sdist,) = (checkout / "dist").glob("*.tar.gz")
    (wheel,) = (checkout / "dist").glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that holds the wheel and what it depends on."""
    fresh = environment(tmp_path_factory.mktemp("wheel") / "venv")
    fresh.install(str(built[1]))
    return fresh


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that holds an editable install of the copy beside it."""
    folder = tmp_path_factory.mktemp("editable")
    fresh = environment(folder / "venv")
    fresh.install("-e", str(copy_of_the_checkout(folder / "checkout")))
    return fresh


def test_the_sdist_holds_the_sources_and_the_tests(checkout: Path, built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {path.relative_to(checkout).as_posix() for path in python_files(checkout)}
    wanted = {name for name in sources if not name.startswith("bench/")}
    assert wanted | {"README.md", "LICENSE", "pyproject.toml", "PKG-INFO"} <= names


def test_the_sdist_holds_no_environment_and_no_litter(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = [name.partition("/")[2] for name in archive.getnames() if not name.endswith(".gitignore")]
    expected = {*ROOTS, "tests", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO"}
    assert {name.split("/")[0] for name in names} <= expected
    assert [name for name in names if "__pycache__" in name or name.endswith((".pyc", "pyvenv.cfg"))] == []


def test_the_wheel_holds_the_four_roots_and_no_init_for_the_namespace(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = archive.namelist()
    assert {name.split("/")[1] for name in names if name.startswith("partywall/")} == set(ROOTS)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"partywall"}
    assert {f"partywall/{root}/py.typed" for root in ROOTS} <= set(names)


def test_the_wheel_imports_in_a_fresh_environment(installed: Environment) -> None:
    printed = installed.run("python", "-c", f"{IMPORT_ALL}; print(partywall.__file__, len(partywall.__path__))")
    assert printed.split() == ["None", "1"]


def test_the_namespace_admits_a_part_from_another_distribution(installed: Environment, tmp_path: Path) -> None:
    plant(tmp_path, {"other/partywall/theirs/__init__.py": "NAME = 'theirs'"})
    program = f"import sys; sys.path.append('other'); {IMPORT_ALL}; from partywall.theirs import NAME; print(NAME)"
    assert installed.run("python", "-c", program, cwd=tmp_path).strip() == "theirs"


@pytest.mark.skipif(not COMMAND_LINE, reason="there is no command line yet")
def test_the_command_of_the_wheel_tells_its_version(installed: Environment) -> None:
    assert "0.1.0" in installed.run("partywall", "--version")


def test_an_editable_install_sees_an_edit(edited: Environment) -> None:
    printed = edited.run("python", "-c", f"{IMPORT_ALL}; print(partywall.__file__, len(set(partywall.__path__)))")
    assert printed.split() == ["None", "4"]
    plant(edited.folder.parent / "checkout", {"scenarios/brand_new.py": "HERE = 1"})
    assert edited.run("python", "-c", "import partywall.scenarios.brand_new as it; print(it.HERE)").strip() == "1"


THEIR_TEST = """
import harness, scenarios, canaries
from scenarios.login import STEPS
import partywall.harness, partywall.scenarios

def test_their_packages_are_theirs():
    assert (harness.OWNER, scenarios.OWNER, canaries.OWNER, STEPS) == ("them", "them", "them", 3)
    assert partywall.harness is not harness
"""


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
@pytest.mark.parametrize("install", ["installed", "edited"])
def test_a_repository_with_folders_of_our_names_is_unharmed(
    install: str, mode: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    packages = {f"{name}/__init__.py": "OWNER = 'them'\n" for name in ("harness", "scenarios", "canaries")}
    for name, text in {
        **packages,
        "scenarios/login.py": "STEPS = 3\n",
        "tests/__init__.py": "",
        "tests/scenarios/__init__.py": "",
        "tests/scenarios/test_login.py": THEIR_TEST,
        "tests/harness/__init__.py": "",
        "tests/harness/test_own.py": THEIR_TEST,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    environment: Environment = request.getfixturevalue(install)
    printed = environment.run("python", "-m", "pytest", "-q", f"--import-mode={mode}", cwd=tmp_path)
    assert "2 passed" in printed
