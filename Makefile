# One word per task; `make help` lists them. CI and people run the same words.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# Many tests wait for servers and processes: three at once also on two cores.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n > 3 ? n : 3)))

# The tests start hundreds of processes: where this is set each would compile the program once more.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test check static fix types lint floors bench docs contract ratchets picture lock wheels clean

help:  ## list the words
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP)  ## make .venv with everything locked, and the command in it

PACKAGES := claimcheck deep-research deep-research-server
$(STAMP): requirements.lock pyproject.toml $(wildcard packages/*/pyproject.toml)
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 with venv, or run 'make PYTHON=python3.12 $(MAKECMDGOALS)'"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the locked dependencies into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --no-build-isolation $(PACKAGES:%=--editable packages/%)
	@touch $(STAMP)

QUESTION ?= What are the main ways to make large language model inference faster?
demo: setup  ## research a question in the bundled library: no key, no server
	$(BIN)/deep-research "$(QUESTION)"

test: setup static  ## everything CI checks: lint, floors, types, tests
	$(BIN)/python -m pytest -n $(WORKERS)

check: setup static  ## the same without the tests that start processes
	$(BIN)/python -m pytest -n $(WORKERS) -m "not process"

static:
	$(BIN)/ruff check packages tests lab
	$(BIN)/ruff format --check packages tests lab
	$(BIN)/lint-imports
	$(BIN)/basedpyright

lint: setup  ## style only
	$(BIN)/ruff check packages tests lab

fix: setup  ## repair what ruff can repair, and format
	$(BIN)/ruff check --fix packages tests lab
	$(BIN)/ruff format packages tests lab

types: setup  ## pyright
	$(BIN)/basedpyright

floors: setup  ## which module may import which
	$(BIN)/lint-imports

bench: setup  ## the offline benchmarks that need no data set
	$(BIN)/python lab/index_speed.py
	$(BIN)/python lab/mutations.py

docs: setup  ## write the generated pages and tables anew: settings, result schema, Python API, sources, prompts
	$(BIN)/python -m tests.house.documents

contract: setup  ## run every row of the contract for each reasoner and write docs/contract.md
	$(BIN)/python -m tests.contract

ratchets: setup  ## lower the counts that may only shrink to what is there
	$(BIN)/python -m tests.house.ratchets

picture: setup  ## draw docs/run.svg and docs/page-*.png from real runs
	$(BIN)/python docs/picture.py
	$(BIN)/python docs/page_pictures.py

LOCK = uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 \
  $(PACKAGES:%=--no-emit-package %) packages/claimcheck/pyproject.toml packages/deep-research/pyproject.toml packages/deep-research-server/pyproject.toml
lock: setup  ## write requirements.lock, and those of the container, anew from the packages (needs uv)
	$(LOCK) --group dev --output-file requirements.lock
	$(LOCK) --extra pdf --extra mcp --extra postgres --extra metrics --extra otel --constraint requirements.lock --output-file deploy/requirements.lock
	echo hatchling | uv pip compile --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 - --constraint requirements.lock --output-file deploy/build.lock

wheels: setup  ## build the three wheels into dist/
	for package in $(PACKAGES); do (cd packages/$$package && ../../$(BIN)/python -m hatchling build -t wheel -d ../../dist) || exit 1; done

clean:  ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache build dist
