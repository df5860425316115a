# Two commands need nothing but Python 3.11 or newer and make:  make verify,  make test.  The rest: make help.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
LOCKS := requirements.lock requirements-adapters.txt
CODE := $(wildcard canaries harness scenarios reference_impl tests bench)
UV := $(shell command -v uv 2>/dev/null)
# The first of these that runs and is new enough; a pyenv shim can be on PATH and yet not run.
PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$p; break; }; done)

VERIFY_ARGS ?=
PYTEST_ARGS ?=
LOCK_ARGS ?=

.PHONY: help verify test test-services test-slow lint format types bench docs lock clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "make %-14s %s\n", $$1, $$2 }'

verify: $(STAMP)  ## put the bundled agent to the scenarios, then show a red run; VERIFY_ARGS="--target … --seed …"
	$(VENV)/bin/partywall verify $(VERIFY_ARGS)
ifeq ($(VERIFY_ARGS),)
	@echo; echo "And a run that is meant to be red: the same agent with one part replaced (an answer cache keyed by the question)."
	@$(VENV)/bin/partywall verify --target reference:mutant=M12 --scenarios cross_tenant --out out/red; code=$$?; \
	  [ $$code = 1 ] || { echo "this run should have exited 1, violated; it exited $$code" >&2; exit 1; }
endif

test: $(STAMP)  ## the test suite, without the slow and the service tests; PYTEST_ARGS="-k …"
	$(PY) -m pytest -n auto -m "not slow and not services" $(PYTEST_ARGS)

test-services: $(STAMP)  ## tests on real stores; needs PARTYWALL_TEST_POSTGRES_URL, …_REDIS_URL, …
	$(PY) -m pytest -m services $(PYTEST_ARGS)

test-slow: $(STAMP)  ## the long tiers, packaging included; PYTEST_ARGS="--sample 4" takes one in four
	$(PY) -m pytest -n auto --dist loadscope -m "slow and not services" $(PYTEST_ARGS)

lint: $(STAMP)  ## ruff: format and rules
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

format: $(STAMP)  ## let ruff rewrite what it can
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

types: $(STAMP)  ## mypy --strict over the four roots, tests and bench
	$(PY) -m mypy --strict $(CODE)

bench: $(STAMP)  ## run every bench/*.py; each prints ratios measured in one run
	@failed=; ran=; for script in bench/*.py; do \
	  [ -e "$$script" ] || continue; ran=yes; echo "== $$script"; $(PY) "$$script" || failed="$$failed $$script"; \
	done; \
	[ -n "$$ran" ] || echo "no benchmark yet: bench/ holds no script"; \
	[ -z "$$failed" ] || { echo "benchmarks that failed:$$failed" >&2; exit 1; }

docs: $(STAMP)  ## check that every link between the Markdown pages resolves (builds no site)
	$(PY) -m pytest -q tests/architecture/test_docs.py

lock:  ## re-make the two lock files; needs uv; LOCK_ARGS=--upgrade takes newer versions
	@uv=$$(command -v uv || ls $(VENV)/bin/uv 2>/dev/null) || { echo "make lock needs uv on PATH" >&2; exit 1; }; \
	compile="$$uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-emit-find-links --no-header --no-annotate $(LOCK_ARGS) pyproject.toml"; \
	$$compile --group dev --extra load --extra numpy --extra postgres --extra redis -o requirements.lock && \
	$$compile --extra openai-agents --extra langgraph -c requirements.lock -o requirements-adapters.txt

clean:  ## remove the environment, caches and everything built
	rm -rf $(VENV) out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An editable install cannot be hashed, so the locks come first and the project after them, without dependencies.
ifneq ($(UV),)
INSTALL := $(UV) pip install --quiet --python $(PY)
CREATE := $(UV) venv --quiet --seed --python $(or $(PYTHON),'>=3.11') $(VENV)
else
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check
CREATE := $(or $(PYTHON),python3) -m venv $(VENV)
endif

$(STAMP): pyproject.toml $(LOCKS)
	@[ -n "$(UV)$(PYTHON)" ] || { echo "partywall needs Python 3.11 or newer: none of python3, python3.11 … python3.14 on PATH is" >&2; exit 1; }
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "making $(VENV)"; rm -rf $(VENV); $(CREATE); } \
	  || { rm -rf $(VENV); echo "could not make $(VENV): install your system's python3-venv package, or uv" >&2; exit 1; }
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --require-hashes -r requirements-adapters.txt
	$(INSTALL) --no-deps -e .
	@touch $@
