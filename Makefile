# GNU make. `make` alone lists the targets.

.DEFAULT_GOAL := help
.PHONY: help setup system demo test browser check attacks faults fleet hosts fuzz soak mutants bench rules clean

# Recursive on purpose: looked up only by the recipes that need an interpreter.
PYTHON = $(shell for python in python3.11 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)
NO_PYTHON = qrspi needs Python 3.11 or newer as python3.11 or python3; found: \
	$$(python3 --version 2>/dev/null || echo none)

VENV := .venv
PY := $(VENV)/bin/python
PYTEST := $(PY) -m pytest
# One more than there are cores, as some tests wait: for a broker, a browser, a daemon.
WORKERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
TOOLS := git strace chromium rabbitmq-server

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: system $(VENV)/.stamp ## make .venv with the package and its tools

$(VENV)/.stamp: pyproject.toml
	@[ -n "$(PYTHON)" ] || { echo "$(NO_PYTHON)" >&2; exit 1; }
	@[ -x $(PY) ] || $(PYTHON) -m venv $(VENV)
	@echo "installing qrspi and its development tools into $(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# strace is how the fault tests kill a command at each of its writes, chromium is the browser that
# the page is tried in. In runlevel 1 Debian starts no broker as a service. Tests that need a tool which is not there skip and say so.
system:
	@PATH="$$PATH:/usr/sbin"; missing=; for tool in $(TOOLS); do \
	  command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing with apt-get"; \
	  { apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $$missing; } \
	    >/dev/null 2>&1 && exit 0; fi; \
	echo "not installed:$$missing; the tests that need them are skipped"

demo: setup ## a whole run with scripted agents, in a scratch repository
	@$(VENV)/bin/qrspi demo

# The tests of workers share one broker, so one process takes them all.
test: setup ## the test suite without the slow tests
	$(PYTEST) -n $(WORKERS) --dist loadgroup -m 'not slow and not hosts'

# axe-core is text that a browser is given to judge a page by; without npm, what needs it is skipped.
browser: setup ## the page in a real browser, all of it
	@[ -e $(VENV)/axe.min.js ] || { cd $(VENV) && npm pack --silent axe-core@4 >/dev/null 2>&1 \
	  && tar -xzf axe-core-4.*.tgz --strip-components=1 package/axe.min.js \
	  && rm axe-core-4.*.tgz; } || echo "axe-core cannot be fetched; the tests that need it are skipped"
	$(PYTEST) -n 2 -m browser tests/web

check: setup ## everything a change must pass: lint, types, layers, tests
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy --strict tools/*.py bench/*.py
	$(VENV)/bin/lint-imports
	$(PYTEST) -n $(WORKERS) --dist loadgroup -m 'not slow and not hosts'

attacks: setup ## every attack that was ever tried, and a table of how each ended
	QRSPI_ATTACKS=table $(PYTEST) -n auto --dist loadgroup tests/attacks

# Status 5 means that nothing was selected.
faults: setup ## the slow tests, and every test that breaks the world
	$(PYTEST) -n auto -m 'slow and not browser' --ignore=tests/faults || [ $$? -eq 5 ]
	$(PYTEST) -n auto tests/faults || [ $$? -eq 5 ]
	QRSPI_EXAMPLES=400 $(PYTEST) -n auto --dist loadgroup tests/property
	$(PY) -m tests.faults.campaign

fuzz: setup ## cases by the million through the readers, the splitter and the state machine
	$(PY) -m tests.fuzz

soak: setup ## a daemon for half an hour in an unkind world; QRSPI_SOAK says how many seconds
	$(PY) -m tests.faults.soak

mutants: setup ## change each decision of the core, and see whether a test notices
	$(PY) tools/mutants.py

# One broker for all of them, so one process.
fleet: setup ## workers over a real RabbitMQ: kills, freezes, restarts
	$(PYTEST) tests/fleet tests/core/fleet

hosts: setup ## hooks, install and plugin in the real Claude Code, Codex and Copilot (from npm)
	$(PYTEST) -n 2 tests/hosts

bench: setup ## measure the speed goals, as ratios on this machine
	$(PY) bench/run.py

rules: ## rule ids of the contract that no test names
	@[ -n "$(PYTHON)" ] || { echo "$(NO_PYTHON)" >&2; exit 1; }
	@$(PYTHON) tools/rules.py

clean: ## remove caches and build outputs (.venv stays)
	rm -rf dist build bench/results .pytest_cache .mypy_cache .ruff_cache \
	  .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
