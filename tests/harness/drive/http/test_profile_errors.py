"""What is wrong with a profile is told in one sentence each, with the line, all at once, and never with a secret."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from partywall.canaries import UsageError
from partywall.harness.drive.http import load_profile, shipped_profile
from partywall.harness.errors import ContractError

SOUND = """\
version: 1
name: small
base_url: http://agent.invalid
identities:
  "*":
    auth: {type: bearer, token: "${TOKEN}"}
    headers: {X-Tenant: "{{identity.tenant}}"}
vars: {model: any}
operations:
  run_turn:
    request:
      path: /turns
      json: {text: "{{text}}", model: "{{model}}"}
    response: {text: /reply}
"""
ENVIRONMENT = {"TOKEN": "a-token-of-some-length"}


def problems(text: str, environment: dict[str, str] | None = None) -> list[str]:
    """The sentences, without the word for where the text came from."""
    with pytest.raises(ContractError) as caught:
        load_profile(text, ENVIRONMENT if environment is None else environment)
    return [problem.removeprefix("profile text, ") for problem in caught.value.problems]


def test_the_sound_profile_loads() -> None:
    assert load_profile(SOUND, ENVIRONMENT).name == "small"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("version: 1", "version: 2", "line 1: version: input should be 1"),
        ("name: small", "nmae: small", "line 2: a profile has no key 'nmae'; known: "),
        ("base_url: http://agent.invalid", "base_url: ftp://agent.invalid", "line 3: base_url must be http://HOST"),
        ("base_url: http://agent.invalid", "base_url: http://agent.invalid?x=1", "line 3: base_url must be"),
        ("type: bearer, ", "type: beaver, ", "line 6: identities.*.auth: "),
        (
            "token:",
            "tokn:",
            "line 6: identities.*.auth.bearer has no key 'tokn'; known: token, type (did you mean 'token'?)",
        ),
        ("${TOKEN}", "${TOKN}", "line 6: ${TOKN} is not set in the environment and has no :-default"),
        ("${TOKEN}", "${to ken}", "line 6: '${' begins neither"),
        ("{{identity.tenant}}", "{{identity.tenat}}", "line 7: {{identity.tenat}} is not known here; known: "),
        ("{{identity.tenant}}", "{{tenant}}", "line 7: {{tenant}} is not known here"),
        ("X-Tenant", "X Tenant", "line 7: 'X Tenant' is no header name"),
        ("X-Tenant", "Content-Length", "line 7: the header 'Content-Length' is written by the client"),
        ("vars: {model: any}", "vars: {session: any}", "line 8: the var 'session' must be"),
        ("vars: {model: any}", "vars: {}", "line 13: {{model}} is not known here"),
        ("  run_turn:", "  run_trun:", "line 10: no operation 'run_trun'; known: "),
        ("request:", "requst:", "line 10: operations.run_turn.request is missing"),
        ("path: /turns", "path: turns", "line 12: operations.run_turn.request.path: string should match"),
        ("path: /turns", "path: /turns?a=b", "line 12: operations.run_turn.request.path: string should match"),
        ("path: /turns", "path: /t/{{key}}", "line 12: {{key}} is not known here"),
        (
            "path: /turns",
            "method: FETCH\n      path: /t",
            "line 12: operations.run_turn.request.method: input should be",
        ),
        ('"{{text}}"', '"{{text"', "line 13: '{{' begins neither {{name}} nor {{name?}}"),
        ("text: /reply", "text: reply", "line 14: the pointer 'reply' must be empty or begin with '/'"),
        ("text: /reply", "txt: /reply", "line 14: operations.run_turn.response has no key 'txt'; known: "),
        ("    response: {text: /reply}\n", "", "line 10: run_turn needs a response: it says where its text or"),
        ("text: /reply", "text: /reply, value: /v", "line 14: value stands for the whole answer"),
        ("text: /reply", "text: /reply, format: text", "line 14: an answer of format text has no pointers"),
        ("    response:", "    as: nobody\n    response:", "line 14: run_turn is sent as 'nobody'; known: none"),
        ("    response:", "    ok_when: {present: x}\n    response:", "line 14: the pointer 'x' must be empty"),
        ("      json:", "      form: {a: b}\n      json:", "line 13: run_turn has both json and form"),
        ("vars:", "name: again\nvars:", "line 8: the key 'name' stands here twice"),
        ("vars:", "timeout: !!python/object:os.system 1\nvars:", "line 8: the tag 'tag:yaml.org,2002:python/object:os"),
        ("vars:", "? [a]\n: b\nvars:", "line 8: a key must be text"),
        ("vars:", "limits: {rps: 0}\nvars:", "line 8: limits.rps: input should be greater than 0"),
        ("vars:", "dimensions: [tenant, team]\nvars:", "line 8: dimensions.1: input should be 'tenant'"),
        ("vars:", "reach: {run_turn: team}\nvars:", "line 8: reach.run_turn."),
        ("vars:", "reach: {list_turns: user}\nvars:", "line 8: reach names 'list_turns', which writes nothing"),
        ("vars:", "reach: {run_turn: {prompts: user}}\nvars:", "line 8: no channel 'prompts'; known: "),
        ("vars:", "model: {port: 99999}\nvars:", "line 8: model.port: input should be less than"),
        ("vars:", "ids: {session: {from: server}}\nvars:", "line 8: session ids that come from the server need"),
        ("vars:", "ids: {session: {initial: x}}\nvars:", "line 8: initial is for session ids that come from"),
        (
            "vars:",
            "ids: {session: {from: server, capture: {run_tun: /id}}}\nvars:",
            "line 8: no operation 'run_tun'",
        ),
        ("vars:", "vars: ]\nvars:", "line 8: no YAML: "),
        ("vars:", "\tvars:", "line 8: no YAML: "),
        (
            "  run_turn:",
            "  list_turns: {request: {path: /}, response: {items: ''}}\n  xrun_turn:",
            "line 11: no operation",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(before: str, after: str, told: str) -> None:
    assert SOUND.count(before) == 1
    found = problems(SOUND.replace(before, after))
    assert any(problem.startswith(told) for problem in found), found


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines() -> None:
    text = SOUND.replace("{{identity.tenant}}", "{{x}}").replace("/turns", "/{{y}}").replace("/reply", "reply")
    assert [problem.split(":")[0] for problem in problems(text)] == ["line 7", "line 12", "line 14"]


def test_problems_of_form_are_all_told_at_once_too() -> None:
    text = SOUND.replace("version: 1", "version: 3").replace("token:", "tokn:").replace("path:", "pth:")
    assert [problem.split(":")[0] for problem in problems(text)] == ["line 1", "line 6", "line 6", "line 11", "line 12"]


@pytest.mark.parametrize("operations", ["run_turn", "list_turns"])
def test_a_target_needs_a_write_and_an_observation(operations: str) -> None:
    rows = {
        "run_turn": "append_turn: {request: {path: /t}}",
        "list_turns": "list_turns: {request: {path: /t}, response: {items: ''}}",
    }
    text = f"version: 1\nname: n\nbase_url: http://a.invalid\noperations:\n  {rows[operations]}\n"
    missing = "observation" if operations == "run_turn" else "write"
    assert problems(text)[0].startswith(f"line 4: a target needs one {missing}; one of: ")


@pytest.mark.parametrize(
    "line",
    [
        "auth: {type: bearer, token: sk-literal-secret}",
        "auth: {type: basic, username: ann, password: sk-literal-secret}",
        "auth: {type: api_key, name: x-key, value: sk-literal-secret}",
        "auth: {type: jwt, key: sk-literal-secret}",
        'auth: {type: bearer, token: "${NOT_SET:-sk-literal-secret}"}',
        "headers: {X-Api-Key: sk-literal-secret}",
        "headers: {Authorization: Bearer sk-literal-secret}",
        "headers: {Cookie: sk-literal-secret}",
    ],
)
def test_a_literal_secret_is_refused_without_being_repeated(line: str) -> None:
    lines = SOUND.split("\n")
    text = "\n".join([*lines[:5], "    " + line, *lines[7:]])
    [problem] = problems(text)
    assert problem.startswith("line 6: the ")
    assert "is written into the profile; take it from ${NAME} or {file:PATH}" in problem
    assert "sk-literal" not in problem
    assert load_profile(text, {}, allow_literal_secrets=True).secrets.redact("a sk-literal-secret") == "a [redacted]"


def test_a_header_that_proves_nothing_may_be_literal() -> None:
    assert load_profile(SOUND.replace('"{{identity.tenant}}"', "acme"), ENVIRONMENT).name == "small"


def test_a_default_of_none_is_no_secret() -> None:
    text = SOUND.replace("${TOKEN}", "${TOKEN:-none}")
    assert load_profile(text, {}).secrets.redact("none of it") == "none of it"


def test_a_secret_may_stand_in_a_file_beside_the_profile(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a-secret-of-a-file\n")
    path = tmp_path / "profile.yaml"
    path.write_text(SOUND.replace("${TOKEN}", "{file:key}"))
    assert load_profile(path, {}).secrets.redact("has a-secret-of-a-file") == "has [redacted]"
    (tmp_path / "key").unlink()
    with pytest.raises(ContractError, match=r"line 6: the file of the auth token cannot be read: FileNotFoundError"):
        load_profile(path, {})


def test_no_value_of_the_profile_is_repeated_by_a_problem_of_form() -> None:
    text = SOUND.replace('{type: bearer, token: "${TOKEN}"}', "a-secret-by-mistake")
    assert "a-secret" not in " ".join(problems(text))


def test_json_is_taken_even_where_it_is_indented_with_tabs() -> None:
    text = """{
\t"version": 1, "name": "j", "base_url": "http://agent.invalid",
\t"operations": {"run_turn": {"request": {"path": "/t"}, "response": {"text": "x"}}}
}"""
    assert problems(text) == ["line 3: the pointer 'x' must be empty or begin with '/'"]
    assert load_profile(text.replace('"x"', '"/x"'), {}).name == "j"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("012", "012"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ('"5"', "5"),
        ("5", 5),
        ("1.5", 1.5),
        ("true", True),
        ("null", None),
    ],
)
def test_scalars_are_read_as_json_reads_them(written: str, meant: object) -> None:
    text = SOUND.replace("model: any", f"model: {written}")
    assert load_profile(text, ENVIRONMENT).variables["model"] == meant


def test_variables_replace_those_of_the_file_and_must_be_known() -> None:
    assert load_profile(SOUND, ENVIRONMENT, {"model": "other"}).variables == {"model": "other"}
    with pytest.raises(ContractError, match=r"line 8: the profile has no var 'modl' to replace; known: model"):
        load_profile(SOUND, ENVIRONMENT, {"modl": "other"})


def test_environment_fills_and_defaults_and_escapes() -> None:
    text = SOUND.replace("http://agent.invalid", "${URL:-http://default.invalid}").replace(
        "model: any", 'model: "$${X}"'
    )
    profile = load_profile(text, ENVIRONMENT)
    assert (profile.base_url, profile.variables["model"]) == ("http://default.invalid", "${X}")
    assert load_profile(text, {**ENVIRONMENT, "URL": "http://set.invalid/"}).base_url == "http://set.invalid"


@pytest.mark.parametrize("text", ["[]\n", "\n\n", "just text\n\n", "1\n"])
def test_a_text_that_is_no_mapping_is_refused(text: str) -> None:
    assert problems(text)[0] == "line 1: a profile is a mapping of keys to values"


def test_bombs_are_refused_and_end_soon() -> None:
    laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    assert any("more than 20,000 parts" in problem for problem in problems(laughs))
    assert any("nested deeper" in problem for problem in problems("a: &a [*a]\n"))
    assert any("nested deeper" in problem for problem in problems("a: " + "[" * 5000 + "\n"))
    assert any("longer than" in problem for problem in problems("a: b\n" * 300_000))


def test_a_file_that_is_not_there_and_a_profile_that_is_not_shipped_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_profile(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(UsageError, match="is no UTF-8 text"):
        load_profile(tmp_path / "latin.yaml")
    with pytest.raises(UsageError, match=r"no profile 'reference-agnt'; known: .*did you mean 'reference-agent'"):
        shipped_profile("reference-agnt")


def test_control_characters_are_told_with_their_line() -> None:
    assert problems(textwrap.dedent("a: b\nc: d\n") + "e: \x07\n")[0].startswith("line 3: no YAML: ")
