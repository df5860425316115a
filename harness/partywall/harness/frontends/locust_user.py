"""Locust user: multi-tenant traffic whose every answer is scanned. Importing this patches the whole process."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import gevent  # type: ignore[import-untyped]  # it ships no types
from locust import FastHttpUser, events, task
from locust.contrib.fasthttp import FastResponse
from locust.env import Environment
from locust.event import EventHook
from locust.runners import MasterRunner

from ..drive.http.template import Inexpressible
from ..observe.outcome import UNSENT, Outcome
from ..plan import Probe
from .load_spec import WORKER, LoadSpec
from .load_traffic import Step
from .load_witness import FOREIGN, Ending, Reply, Witness

_PERCENTILES = (0.5, 0.95, 0.99)
_ANY_STATUS = frozenset(range(100, 600))


class IsolatedUser(FastHttpUser):
    """One person of one tenant: visits sessions, speaks, remembers, asks; alone on its connections and cookies.

    What it plants, whom it addresses and what it scans for comes from the run's spec in the environment.
    """

    pause = (0.05, 0.25)
    """Least and most seconds between two steps."""
    insecure = False
    max_redirects = 0

    def __init__(self, environment: Environment) -> None:
        self.witness = _witness(environment)
        self.host = self.witness.profile.base_url
        self.network_timeout = self.connection_timeout = self.witness.spec.timeout
        super().__init__(environment)
        agent: Any = self.client.client  # these two are declared for the class; here they are one user's
        agent.valid_response_codes = _ANY_STATUS  # a refusal has a body too, and may tell something there
        agent.redirect_response_codes = frozenset()
        self._traffic = self.witness.traffic()
        self._random = random.Random(str(self._traffic.identity))

    def wait_time(self) -> float:
        """Seconds until the next step."""
        return max(self._random.uniform(*self.pause), self.witness.spec.gap)

    @task
    def step(self) -> None:
        """The next thing it does."""
        self._do(self._traffic.next())

    def on_stop(self) -> None:
        """The run is over for this user."""
        for step in self._traffic.closing():
            self._do(step)

    def _do(self, step: Step) -> None:
        """A step, with its double click and its repeat where it has one."""
        double = gevent.spawn(self._send, step.twice) if step.twice is not None else None
        ending = self._send(step.probe)
        lost = ending.outcome.status == "info" and step.probe.call.request_id is not None
        if step.again is not None or lost:
            again = self._send(step.again or self._traffic.retried(step.probe))
            ending = again if lost else ending
        if double is not None:
            double.join()
        if ending.outcome.status == "ok":
            self._traffic.acknowledged(step.probe)

    def sent(self, probe: Probe) -> None:
        """`probe` is about to be sent."""
        self.witness.sent(probe)

    def answered(self, probe: Probe, reply: Reply) -> Ending:
        """`probe` was answered, or lost."""
        return self.witness.answered(probe, reply)

    def _send(self, probe: Probe) -> Ending:
        try:
            request = self.witness.request(probe.call)
        except Inexpressible as error:
            self.witness.unsent(probe, str(error))
            return Ending(Outcome("fail", reason=str(error), code=UNSENT))
        self.sent(probe)
        with self.client.request(
            request.method,
            request.url,
            name=probe.call.op,
            data=request.content or None,  # type: ignore[arg-type]  # annotated as text; bytes are sent as they are
            headers={name.decode("ascii"): value.decode("latin-1") for name, value in request.headers},
            catch_response=True,
        ) as response:
            ending = self.answered(probe, _reply(response))
            if ending.message:
                response.failure(ending.message)
            else:
                response.success()
        return ending


def _reply(response: FastResponse) -> Reply:
    error = getattr(response, "error", None) or response.request_meta.get("exception")  # type: ignore[attr-defined]
    if error is not None or not response.status_code:
        refused = isinstance(error, ConnectionRefusedError)
        late = isinstance(error, TimeoutError | gevent.Timeout)
        return Reply(0, lost="unreachable" if refused else "timeout" if late else "disconnected")
    headers = tuple((str(name), str(value)) for name, value in (response.headers or {}).items())
    return Reply(response.status_code, headers, response.content or b"")


@cache
def _witness(environment: Environment) -> Witness:
    """The witness of this process: one for all of its users."""
    spec = LoadSpec.of()
    return Witness(spec, spec.loaded_profile(), int(os.environ.get(WORKER, "0")))


@events.init.add_listener  # type: ignore[untyped-decorator]  # Locust's event hooks have no annotations
def _begin(environment: Environment, **rest: Any) -> None:
    """Word of every request comes from Locust itself: what the witness was not told of shows in the difference."""
    if isinstance(environment.runner, MasterRunner):
        _listen(environment.events.quitting, _leave_figures)
        return
    witness = _witness(environment)

    def counted(**told: Any) -> None:
        witness.count.requests += 1

    _listen(environment.events.request, counted)
    _listen(environment.events.quitting, lambda **told: witness.close())


def _listen(hook: EventHook, listener: Callable[..., None]) -> None:
    hook.add_listener(listener)  # type: ignore[no-untyped-call]  # Locust's event hooks have no annotations


def _leave_figures(environment: Environment, **rest: Any) -> None:
    """What the master saw: requests, failures and times by operation, and how often a foreign canary was told."""
    stats = environment.stats
    runner = environment.runner
    total = stats.total
    figures = {
        "requests": total.num_requests,
        "failures": total.num_failures,
        "per_second": round(total.total_rps, 2),
        "foreign": sum(error.occurrences for error in stats.errors.values() if FOREIGN in str(error.error)),
        "exceptions": sorted({str(each["msg"])[:300] for each in runner.exceptions.values()}) if runner else [],
        "operations": {
            ("all" if entry is total else entry.name): {
                "requests": entry.num_requests,
                "failures": entry.num_failures,
                **{f"p{share * 100:g}": entry.get_response_time_percentile(share) for share in _PERCENTILES},
            }
            for entry in [*sorted(stats.entries.values(), key=lambda entry: entry.name), total]
        },
    }
    place = Path(LoadSpec.of().folder) / "master.json"
    draft = place.with_suffix(".part")
    draft.write_text(json.dumps(figures), encoding="utf-8")
    draft.replace(place)
