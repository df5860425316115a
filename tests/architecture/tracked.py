"""The rules on every file that git would track; each takes the repository's root, one sentence per breach."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

# Joined here, so that this file does not hold the words it looks for.
REGISTRIES = (
    "pypi" + ".org",
    "python" + "hosted",
    "registry.npm" + "js",
    "proxy.golang" + ".org",
    "crates" + ".io",
)
FOREIGN = re.compile(
    "|".join(map(re.escape, REGISTRIES))
    + r"|(?<![\w./-])/(?:wor"
    + "k|ro"
    + "ot|hom"
    + r"e/\w+|opt/py"
    + r"pi)(?:/|\b)"
)
ADDRESS = re.compile(r"://|^\s*--?(?:index-url|extra-index-url|find-links|trusted-host)\b", re.MULTILINE)
LOCKS_OF_TOOLS = re.compile(r"(?:uv|poetry|pdm)\.lock|pylock(?:\.[\w-]+)?\.toml|Pipfile\.lock")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(<?([^)\s>]+)>?[^)]*\)|!\[[^\]\n]*\]\(<?([^)\s>]+)>?[^)]*\)")
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\s*\$?\s*((?:make|pytest|uv run|python3? -m pytest)\b[^#\n]*)", re.MULTILINE)


def tracked(root: Path) -> list[Path]:
    """The files git tracks or would track; without git, every file outside caches and environments."""
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (root / ".git").exists():
        names = subprocess.run(listing, capture_output=True, check=True, text=True).stdout.split("\0")
        return sorted(path for name in names if name and (path := root / name).is_file())
    hidden = {".venv", "__pycache__", "out", "dist", "build"}
    return sorted(path for path in root.rglob("*") if path.is_file() and not hidden.intersection(path.parts))


def locks_of_tools(root: Path) -> list[str]:
    """No lock file of a tool is tracked: they carry the addresses of registries."""
    return [f"{_at(root, path)} is tracked" for path in tracked(root) if LOCKS_OF_TOOLS.fullmatch(path.name)]


def addresses_in_locks(root: Path) -> list[str]:
    """No lock or requirements file names where a package comes from."""
    named = re.compile(r".*\.lock|requirements.*\.(?:txt|in)|constraints.*\.txt")
    return [
        f"{_at(root, path)} holds an address"
        for path in tracked(root)
        if named.fullmatch(path.name) and ADDRESS.search(path.read_text("utf-8"))
    ]


def foreign_names(root: Path) -> list[str]:
    """No tracked file names a package registry or a path of somebody's machine."""
    breaches = []
    for path in tracked(root):
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if found := FOREIGN.search(line):
                breaches.append(f"{_at(root, path)}:{number} names {found.group()!r}")
    return breaches


def untested_readme(root: Path) -> list[str]:
    """`.ci/run` calls the very command that the README gives for the tests."""
    readme = (root / "README.md").read_text("utf-8")
    blocks = "\n".join(found.group() for found in FENCE.finditer(readme))
    commands = [command.strip() for command in COMMAND.findall(blocks)]
    tests = [command for command in commands if re.search(r"\b(?:test|pytest)\b", command)]
    if not tests:
        return ["README.md shows no test command in a fenced block"]
    script = (root / ".ci" / "run").read_text("utf-8")
    called = re.compile(rf"^(?:step .*? )?{re.escape(tests[0])}\s*$", re.MULTILINE)
    return [] if called.search(script) else [f".ci/run does not call the README's test command {tests[0]!r}"]


def broken_links(root: Path) -> list[str]:
    """Every relative link in a Markdown file leads to a file, and its anchor to a heading there."""
    breaches = []
    for page in (path for path in tracked(root) if path.suffix == ".md"):
        for match in LINK.finditer(FENCE.sub("", page.read_text("utf-8"))):
            link = match.group(1) or match.group(2)
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            file, _, anchor = link.partition("#")
            there = page if not file else (root / file.lstrip("/") if file.startswith("/") else page.parent / file)
            if not there.exists():
                breaches.append(f"{_at(root, page)} links to {link!r}, which is not there")
            elif anchor and there.suffix == ".md" and anchor not in _anchors(there):
                breaches.append(f"{_at(root, page)} links to {link!r}, and that page has no such heading")
    return breaches


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings as GitHub makes them: lower case, hyphens, a number for a repeat."""
    anchors: set[str] = set()
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchors.add(next(name for name in (slug, *(f"{slug}-{n}" for n in range(1, 100))) if name not in anchors))
    return anchors


def _at(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
