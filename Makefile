# One line per thing a person does. `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   ?= demo

.DEFAULT_GOAL := help
.PHONY: help install run test test-slow lint format bench clean

help: ## list what you can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: $(VENV)/.installed ## make the environment in .venv (Python packages, and Java where there is none)

run: $(VENV)/.installed ## Linear Road on a small scale: traffic, its figures, its history, real-time delivery
	rm -rf $(DEMO)
	$(BIN)/causeway linear-road generate --out $(DEMO)/workload --xways 1 --minutes 30
	$(BIN)/causeway linear-road inspect $(DEMO)/workload
	$(BIN)/causeway linear-road history $(DEMO)/workload
	$(BIN)/causeway linear-road drive $(DEMO)/workload --to $(DEMO)/spool --from-minute 20 --speed 60

test: $(VENV)/.installed ## everything that must hold before a change lands: lint, types, tests
	$(MAKE) --no-print-directory lint
	$(BIN)/pytest -m 'not slow'

test-slow: $(VENV)/.installed ## the tests that take minutes: whole three-hour workloads
	$(BIN)/pytest -m slow

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

format: $(VENV)/.installed ## let ruff tidy the code
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

bench: $(VENV)/.installed ## every benchmark: our figures beside the floor (minutes)
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## remove the environment, the demo and caches
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
