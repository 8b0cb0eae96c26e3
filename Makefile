# One line per thing a person does. `make help` lists them.
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   ?= demo
DEMO_MARKER := .made-by-make-run
DEMO_RUN = $(DEMO)/workload --out $(DEMO)/run --from-minute 58 --speed 4 --keep POSREPORTS
DEMO_STATEMENTS = --warehouse $(DEMO)/run/warehouse --file examples/live-recent-old.sql --timing
# Removes the demo if `make run` made it. Otherwise says so, unless the folder is empty, and does what $(1) says.
remove_demo = if [ -e '$(DEMO)/$(DEMO_MARKER)' ]; then rm -rf '$(DEMO)'; \
	elif [ -n "$$(ls -A '$(DEMO)' 2>/dev/null)" ]; then \
	echo "$(DEMO) was not made by \`make run\` and is left as it is; remove it, or name another: make run DEMO=FOLDER"; $(1); fi
NEXMARK ?= nexmark-tour
NEXMARK_QUERIES ?= q0,q2,q3,q5,q7,q8,q11,q18
TOUR_MARKER := .made-by-make-nexmark
remove_tour = if [ -e '$(NEXMARK)/$(TOUR_MARKER)' ]; then rm -rf '$(NEXMARK)'; \
	elif [ -n "$$(ls -A '$(NEXMARK)' 2>/dev/null)" ]; then \
	echo "$(NEXMARK) was not made by \`make nexmark\` and is left as it is; remove it, or name another: make nexmark NEXMARK=FOLDER"; $(1); fi
# For steps of less than a minute: Java's thorough compiler would take more time of the cores than it saves.
QUICK_JAVA := env SPARK_SUBMIT_OPTS="-XX:TieredStopAtLevel=1 $$SPARK_SUBMIT_OPTS"
# Test processes side by side, each with a Spark of its own that takes up to 3 GB.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install run nexmark test test-slow lint format bench clean

help: ## list what you can do
	@echo "Causeway. Start with \`make run\`; it installs what it needs into $(VENV)."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  $(BIN)/causeway --help tells the rest. Another Python: make PYTHON=python3.12"

$(VENV)/.installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Causeway needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …"; exit 2; }
	@echo "Installing into $(VENV): Spark, Java and the rest are some 600 MB, a few minutes the first time."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: $(VENV)/.installed ## make the environment in .venv, with a Java where there is none

run: $(VENV)/.installed ## a small Linear Road: traffic, all answers on Spark, validated, and SQL over its live reports
	@$(call remove_demo,exit 2)
	@mkdir -p '$(DEMO)' && touch '$(DEMO)/$(DEMO_MARKER)'
	$(BIN)/causeway linear-road generate --out $(DEMO)/workload --xways 0.5 --minutes 60 --history
	@# A second process asks for the reports once real time has started, without hurry: deadlines are the run's.
	@# Its output file is made first: a run that ends at once may come before the second process.
	@: > '$(DEMO)/statements.txt'; \
	(until grep -qs '"running"' '$(DEMO)/run/spool/_delivery.json' || [ -e '$(DEMO)/run/answers.csv' ]; do sleep 1; done; \
		exec $(QUICK_JAVA) nice -n 10 $(BIN)/causeway sql $(DEMO_STATEMENTS)) >> '$(DEMO)/statements.txt' 2>&1 & \
	asking=$$!; trap 'kill $$asking 2>/dev/null' EXIT; \
	echo '$(BIN)/causeway linear-road run $(DEMO_RUN)'; \
	$(QUICK_JAVA) $(BIN)/causeway linear-road run $(DEMO_RUN) || exit 1; \
	echo '$(BIN)/causeway linear-road validate $(DEMO)/workload $(DEMO)/run'; \
	$(QUICK_JAVA) $(BIN)/causeway linear-road validate $(DEMO)/workload $(DEMO)/run || exit 1; \
	if [ -e '$(DEMO)/run/answers.csv' ]; then wait $$asking || { cat '$(DEMO)/statements.txt'; exit 1; }; fi
	@echo; echo 'During the run, in a second process:'; echo '$(BIN)/causeway sql $(DEMO_STATEMENTS)'
	@cat '$(DEMO)/statements.txt'

nexmark: $(VENV)/.installed ## a small NEXMark: some queries on both engines, checked, and their page, NEXMARK/compare.html
	@$(call remove_tour,exit 2)
	@mkdir -p '$(NEXMARK)' && touch '$(NEXMARK)/$(TOUR_MARKER)'
	$(BIN)/causeway nexmark generate --out $(NEXMARK)/events --events 1000000
	$(BIN)/causeway nexmark run --source $(NEXMARK)/events --query $(NEXMARK_QUERIES) --rounds 2 --check --engine spark --out $(NEXMARK)/spark
	$(BIN)/causeway nexmark run --source $(NEXMARK)/events --query $(NEXMARK_QUERIES) --rounds 2 --check --out $(NEXMARK)/columnar
	$(BIN)/causeway nexmark compare $(NEXMARK)/spark $(NEXMARK)/columnar --out $(NEXMARK)/compare.html

test: $(VENV)/.installed ## what must hold before a change lands: lint, types, tests
	$(MAKE) --no-print-directory lint
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'not slow'

test-slow: $(VENV)/.installed ## the tests that take minutes: whole three-hour workloads
	$(BIN)/pytest -m slow

lint: $(VENV)/.installed ## ruff and mypy
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

format: $(VENV)/.installed ## let ruff tidy the code
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

bench: $(VENV)/.installed ## our figures beside the floor (minutes for each; after `make run`)
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## remove the environment, the demo and caches
	@$(call remove_demo,true)
	@$(call remove_tour,true)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
