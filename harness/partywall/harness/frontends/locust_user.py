"""Locust user: multi-tenant traffic whose every answer is scanned. Importing this patches the whole process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import gevent
from locust import FastHttpUser, events, task
from locust.env import Environment
from locust.runners import MasterRunner, Runner

from ..drive.http.template import Inexpressible
from ..plan import Probe
from .load_spec import WORKER, LoadSpec
from .load_traffic import Step
from .load_witness import FOREIGN, Ending, Reply, Witness

PERCENTILES = (0.5, 0.95, 0.99)
_ANY_STATUS = frozenset(range(100, 600))


class IsolatedUser(FastHttpUser):
    """One person of one tenant: visits sessions, speaks, remembers, asks; alone on its connections and cookies.

    A subclass may say otherwise by `wait` and `witness_type`; anything else comes from the run's spec.
    """

    wait = (0.05, 0.25)
    """Least and most seconds between two steps."""
    witness_type = Witness
    witness: Witness
    insecure = False
    max_redirects = 0

    def __init__(self, environment: Environment) -> None:
        self.witness = _witness(environment, type(self).witness_type)
        self.host = self.witness.profile.base_url
        self.network_timeout = self.connection_timeout = self.witness.spec.timeout
        super().__init__(environment)
        # a refusal has a body that may tell something: no status is an error of the client's, none is followed
        self.client.client.valid_response_codes = _ANY_STATUS
        self.client.client.redirect_response_codes = frozenset()
        self._traffic = self.witness.traffic()
        self._random = __import__("random").Random(self.witness.spec.seed)

    def wait_time(self) -> float:
        """Seconds until the next step."""
        return max(self._random.uniform(*self.wait), self.witness.spec.gap)

    @task
    def step(self) -> None:
        """The next thing it does, with its double click and its repeat where it has one."""
        step: Step = self._traffic.next()
        double = gevent.spawn(self._send, step.twice) if step.twice is not None else None
        ending = self._send(step.probe)
        if step.again is not None or (ending.outcome.status == "info" and step.probe.call.request_id):
            again = self._send(step.again or self._traffic.retried(step.probe))
            ending = again if ending.outcome.status != "ok" else ending
        if double is not None:
            double.join()
        if ending.outcome.status == "ok":
            self._traffic.acknowledged(step.probe)

    def _send(self, probe: Probe) -> Ending:
        try:
            request = self.witness.request(probe.call)
        except Inexpressible as error:
            self.witness.unsent(probe, str(error))
            return Ending(_NOTHING, str(error))
        self.witness.sent(probe)
        with self.client.request(
            request.method,
            request.url,
            name=probe.call.op,
            data=request.content or None,  # type: ignore[arg-type]  # annotated as text; bytes are sent as they are
            headers={name.decode(): value.decode() for name, value in request.headers},
            catch_response=True,
        ) as response:
            ending = self.witness.answered(probe, _reply(response))
            if ending.message:
                response.failure(ending.message)
            else:
                response.success()
        return ending
