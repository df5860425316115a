"""What every test may ask for: a sample of the suite that is the same for the same seed."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import settings

settings.register_profile("unhurried", deadline=None)  # how long an example takes says nothing on a busy machine
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--sample N` keeps about one test in N; `--sample-seed` decides which."""
    group = parser.getgroup("sample")
    group.addoption("--sample", type=int, default=1, metavar="N", help="run about one test in N")
    group.addoption("--sample-seed", default="0", metavar="TEXT", help="which sample; CI gives the commit")


def pytest_report_header(config: pytest.Config) -> str | None:
    """The sample as one line that repeats it."""
    every = config.getoption("sample")
    return f"sample: --sample {every} --sample-seed {config.getoption('sample_seed')}" if every > 1 else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop the tests outside the sample, by a checksum of seed and name: order and worker do not matter."""
    every = max(1, config.getoption("sample"))
    seed = config.getoption("sample_seed")
    sampled = [zlib.crc32(f"{seed} {item.nodeid}".encode()) % every == 0 for item in items]
    if not all(sampled):
        config.hook.pytest_deselected(items=[item for item, kept in zip(items, sampled, strict=True) if not kept])
        items[:] = [item for item, kept in zip(items, sampled, strict=True) if kept]
