"""The loop in the background: values and errors come back, a blocked loop is told and left, nothing waits for ever."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from partywall.harness import TargetError
from partywall.harness.frontends.pytest_loop import BackgroundLoop


def test_values_and_errors_come_back() -> None:
    async def value() -> int:
        await asyncio.sleep(0)
        return 7

    async def error() -> None:
        raise ValueError("no")

    async def timeout() -> None:
        raise TimeoutError("its own")

    with BackgroundLoop() as loop:
        assert loop.run(value()) == 7
        with pytest.raises(ValueError, match="no"):
            loop.run(error())
        with pytest.raises(TimeoutError, match="its own"):
            loop.run(timeout())


def test_it_serves_a_thread_whose_own_loop_is_running() -> None:
    async def value() -> int:
        return 7

    async def inside() -> int:
        return loop.run(value())

    with BackgroundLoop() as loop:
        assert asyncio.run(inside()) == 7


def test_a_blocked_loop_is_told_and_left_behind() -> None:
    released = threading.Event()

    async def blocks() -> None:
        released.wait(30)

    loop = BackgroundLoop(stall=0.2)
    with pytest.raises(TargetError, match=r"blocked the event loop for 0.2 s; an async method must not block"):
        loop.run(blocks())
    released.set()
    loop.close()


def test_work_that_is_only_slow_is_waited_for() -> None:
    with BackgroundLoop(stall=0.2) as loop:
        loop.run(asyncio.sleep(1.2))


def test_closing_ends_what_is_left_and_closing_twice_is_no_mistake() -> None:
    ended = threading.Event()

    async def left() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def start() -> None:
        tasks.append(asyncio.create_task(left()))
        await asyncio.sleep(0)

    tasks: list[asyncio.Task[None]] = []
    loop = BackgroundLoop()
    loop.run(start())
    began = time.monotonic()
    loop.close()
    loop.close()
    assert ended.is_set()
    assert time.monotonic() - began < 30
