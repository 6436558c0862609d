# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
# CI asks for all extras in an environment of its own; a newcomer's tests need no torch.
EXTRAS ?= test
PYTEST_ARGS ?=
# Processes that share the tests out, each with a node of its own (1.5 GB); one process: TEST_WORKERS=0.
TEST_WORKERS ?= 2
comma := ,
STAMP := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))
BIN := $(VENV)/bin

.PHONY: help demo test serve lint format check-quality bench-check clean

help: ## Say what each target does
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /: /'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Mafteach needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.12 demo"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(EXTRAS)]'
	@touch $@

demo: $(STAMP) ## Start a real node, ingest examples/documents, ask Hebrew and English questions
	$(BIN)/python -m scripts.demo

test: $(STAMP) ## Run all tests on a real node that they start themselves
	$(BIN)/python -m pytest --numprocesses $(TEST_WORKERS) --dist loadscope --max-worker-restart 1 $(PYTEST_ARGS)

serve: $(STAMP) ## Serve the HTTP API on http://127.0.0.1:8080
	$(BIN)/mafteach serve

lint: ## ruff, mypy, import-linter (EXTRAS=test,dev)
ifeq (,$(findstring dev,$(EXTRAS)))
	@$(MAKE) lint EXTRAS=$(EXTRAS),dev
else
lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
endif

format: $(STAMP) ## Apply ruff's fixes and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check-quality: $(STAMP) ## Evaluate examples/ and fail on a significant loss against the kept report
	$(BIN)/mafteach evaluate examples --against evaluation/baseline/examples.json

bench-check: $(STAMP) ## Measure all quick benchmarks and fail on a ratio that got worse than the kept run (15 minutes)
	$(BIN)/mafteach bench all --quick --against docs/benchmarks/quick.json

clean: ## Remove the virtual environment; data and caches stay
	rm -rf $(VENV)
