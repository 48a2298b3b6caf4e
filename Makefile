# What can be done here, one command each. Needs Python 3.11 or newer, git and make; everything else is fetched, by digest.
#
#   make PYTHON=python3.13 test    another interpreter
#   make WORKERS=0 test            the suite in one process
#   make UPGRADE=1 lock-deps       newer releases of what is pinned
#   make ONLY='admit.core.rollup*' mutation    one module of core

PYTHON ?=
WORKERS ?= 2
UPGRADE ?=
ONLY ?=
export PYTHON

BIN := .venv/bin
environment := sh requirements/environment.sh

.PHONY: help demo test check lint types imports architecture dev format coverage bench mutation docs clean lock-deps environment
.NOTPARALLEL:

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

demo: environment ## Play the main job on a small real repository, patch by patch
	@$(BIN)/python demo/play.py

test: check ## Everything: the checks, then the whole suite
	@$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal

check: lint types imports architecture ## All that needs no run of the suite (make -k check: see every complaint)

lint: environment
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --check . ; echo "run: make format"; exit 1; }

types: environment
	@$(BIN)/mypy --strict --no-error-summary src

imports: environment
	@$(BIN)/lint-imports --no-logo pyproject.toml > .venv/imports.txt || { cat .venv/imports.txt; exit 1; }

architecture: environment
	@$(BIN)/python -m pytest -q tests/architecture

dev: ## Set up for work on admit: the sources are linked, not copied
	@$(environment) .venv requirements/dev.txt editable
	@echo "ready: . $(BIN)/activate"

format: environment ## Put the sources in order
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

coverage: environment ## Branch coverage of the whole suite
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest --numprocesses=$(WORKERS) --dist=worksteal -q
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

bench: ## Measure each claim beside its peer
	@$(environment) .venv-bench requirements/bench.txt
	@for claim in bench/*/bench_*.py; do echo "== $$claim"; .venv-bench/bin/python "$$claim" || exit 1; done

mutation: ## Break core in small ways and see that a test notices
	@$(environment) .venv-mutation requirements/mutation.txt none
	@rm -rf mutants
	@CI=true .venv-mutation/bin/mutmut run --max-children $(or $(filter-out 0,$(WORKERS)),1) $(ONLY) > .venv-mutation/run.txt 2>&1 \
		|| { tail -40 .venv-mutation/run.txt; exit 1; }
	@.venv-mutation/bin/python .ci/survivors.py $(if $(ONLY),partial)

docs: environment ## Write the reference from the tables in the code
	@$(BIN)/python docs/write_reference.py

clean: ## Remove everything that was made here
	@rm -rf .venv .venv-bench .venv-mutation .venv-lock build dist mutants .coverage .coverage.* \
		.pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

lock-deps: ## Pin again what pyproject.toml and requirements/*.in ask for (needs Python 3.11, the oldest that is served)
	@PYTHON=$${PYTHON:-python3.11} $(environment) .venv-lock requirements/lock.txt none
	@sh requirements/lock.sh .venv-lock/bin/pip-compile $(if $(UPGRADE),--upgrade)

environment:
	@$(environment) .venv requirements/dev.txt
