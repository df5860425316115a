"""Opening by a spec, the shipped profiles, and the schema that is published."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from partywall.canaries import Level
from partywall.harness.drive.http import HttpTarget, load_profile, shipped_profile, shipped_profiles
from partywall.harness.drive.http.models import schema
from partywall.harness.drive.resolve import kind_of
from partywall.harness.drive.target import TargetSettings
from partywall.harness.errors import ContractError
from partywall.harness.plan.operation import OPERATIONS

from .profiles import HEAD, RUN_TURN, small
from .wire import Server

EXAMPLE = Path(__file__).parents[4] / "examples" / "blackbox" / "profile.yaml"


@pytest.mark.parametrize("spec", ["a.yaml", "dir/b.YML", "c.json", "reference-agent"])
def test_a_file_of_that_kind_and_a_shipped_name_are_claimed(spec: str) -> None:
    assert kind_of(spec).id == "http"


@pytest.mark.parametrize("spec", ["reference", "package.module:factory"])
def test_other_specs_are_left_to_others(spec: str) -> None:
    assert kind_of(spec).id != "http"


def test_options_are_vars_of_the_profile(tmp_path: Path) -> None:
    async def run() -> None:
        async with Server() as server:
            path = tmp_path / "p.yaml"
            literal = 'identities: {"*": {auth: {type: bearer, token: literal-token}}}\n'
            path.write_text(HEAD.replace("{url}", server.url) + "vars: {model: a}\n" + literal + RUN_TURN)
            options = {"model": "b", "allow_literal_secrets": "true"}
            target = await kind_of(str(path)).open(str(path), TargetSettings(options=options))
            assert isinstance(target, HttpTarget)
            assert target.profile.variables == {"model": "b"}
            with pytest.raises(ContractError, match="written into the profile"):
                await kind_of(str(path)).open(str(path), TargetSettings(options={"model": "b"}))

    asyncio.run(run())


def test_what_a_profile_declares_is_what_the_target_can_do() -> None:
    capabilities = small(
        """
        dimensions: [tenant, user]
        reach: {run_turn: {reply: session}, append_turn: user}
        promises: {idempotent: true}
        intended_sharing: [[acme, zeta]]
        authenticates: true
        fresh: true
        disposable: true
        identities: {"*": {headers: {X-Tenant: "{{identity.tenant}}"}}}
        model: {port: 8199, fault: slow-drip}
        """
    )
    found = capabilities.capabilities
    assert found.operations == {"run_turn"}
    assert found.dimensions == {Level.TENANT, Level.USER}
    assert found.reach == {"run_turn": {"reply": Level.SESSION}, "append_turn": {"*": Level.USER}}
    assert (found.promises, found.intended_sharing) == ({"idempotent": True}, (("acme", "zeta"),))
    assert (found.authenticates, found.fresh, found.disposable) == (True, True, True)
    assert capabilities.model is not None
    assert (capabilities.model.port, capabilities.model.fault) == (8199, "slow-drip")


def test_a_target_that_authenticates_needs_something_to_prove_by() -> None:
    with pytest.raises(ContractError, match="line 4: a target that authenticates needs an identity"):
        small("authenticates: true")


def test_a_target_without_declarations_promises_nothing() -> None:
    found = small().capabilities
    assert (found.authenticates, found.fresh, found.disposable, found.promises) == (False, False, False, {})


def test_the_reference_profile_drives_every_operation_of_the_agent() -> None:
    profile = load_profile(shipped_profile("reference-agent"), {"PARTYWALL_TOKEN_KEY": "k" * 32})
    gone = {"restart", "kill", "pause", "resume"}
    assert set(profile.routes) == set(OPERATIONS) - gone


@pytest.mark.parametrize("name", shipped_profiles())
def test_a_shipped_profile_bears_its_files_name_and_keeps_to_the_schema(name: str) -> None:
    data = yaml.safe_load(shipped_profile(name).read_text("utf-8"))
    assert data["name"] == name
    jsonschema.validate(data, published())


def test_the_example_loads_and_keeps_to_the_schema() -> None:
    assert load_profile(EXAMPLE, {}).model is not None
    jsonschema.validate(yaml.safe_load(EXAMPLE.read_text("utf-8")), published())


def test_the_schema_in_the_package_is_the_schema_of_the_code() -> None:
    jsonschema.Draft202012Validator.check_schema(published())
    assert published() == schema()


@pytest.mark.parametrize(
    "change", [{"verson": 1}, {"version": 2}, {"operations": {}}, {"operations": {"run_trun": {}}}]
)
def test_the_schema_refuses_what_the_loader_refuses(change: dict[str, Any]) -> None:
    data = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | change, published())


def published() -> dict[str, Any]:
    text = files("partywall.harness.drive").joinpath("profile.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
