# Both from a bare clone, and both safe to repeat:
#   make lab     JupyterLab on examples/ (LAB_ARGS="--no-browser --port 9000" for more arguments)
#   make test    all tests: Python, TypeScript, browser
#
#   make check   lint, formats, types, generated files     make bench      benchmarks
#   make format  repairs formats and simple lint           make generate   openapi.json, TypeScript types, tables
#   make clean   removes all that was made here

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
STAMPS := $(VENV)/stamps
LAB_ARGS ?=
PIP_TIME = $(if $(wildcard $(STAMPS)/lab-* $(STAMPS)/tools-*),about a minute,1 to 3 minutes the first time)
# A file of tests is run by one process. A part of a test is waiting, so there are more than cores.
PROCESSES := $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 6 ? cores + 2 : 8)))
PYTEST_ARGS ?= --numprocesses=$(PROCESSES) --dist=loadfile --no-loadscope-reorder --durations=25

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Else each process of a test compiles all that it imports.
unexport PYTHONPATH VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

# What is installed depends on the sources' names (in the stamp's name) and on their times.
SOURCES := $(sort pyproject.toml hatch_build.py \
  $(shell find jupyter_datalayer_agent jupyter-config -type f -not -path '*/__pycache__/*' -not -path 'jupyter_datalayer_agent/labextension/*') \
  $(addprefix labextension/,package.json yarn.lock .yarnrc.yml tsconfig.json install.json) \
  $(shell find labextension/src labextension/style labextension/schema labextension/licenses -type f))
NAMES := $(firstword $(shell echo $(SOURCES) | cksum))
LAB := $(STAMPS)/lab-$(NAMES)
TOOLS := $(STAMPS)/tools-$(NAMES)

TESTS := test-python test-oldest test-typescript test-browser
# The longest first, so that none is left for one core alone.
CHECKS := check-mypy check-lint check-tests check-generated check-words check-prose check-imports check-format check-ruff check-wheel check-pins check-workflows

.PHONY: pins audit lab test tests-ready $(TESTS) test-jupyter-ai matrix check $(CHECKS) format generate bench clean

lab: $(LAB)
	@python scripts/own_notebook.py examples/cars.ipynb examples/my-cars.ipynb
	@echo "Starting JupyterLab. Should no browser open, open the address that it prints. Ctrl+C ends it."
	@cd examples && jupyter lab --LabApp.default_url=/lab/tree/my-cars.ipynb \
	  $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS)

# What keeps one core busy runs two at a time, each with its output in one piece.
TWO_AT_A_TIME := $(MAKE) --keep-going --no-print-directory --jobs=2 --output-sync=target

# All that the tests need.
tests-ready: $(TOOLS) $(STAMPS)/chromium $(STAMPS)/test-programs $(STAMPS)/compiled

test: tests-ready
	@status=0; $(TWO_AT_A_TIME) test-oldest test-typescript || status=1; \
	for part in test-python test-browser; do $(MAKE) --no-print-directory $$part || status=1; done; \
	exit $$status
$(TESTS): tests-ready

test-python:
	scripts/timed.sh $@ python -m pytest $(PYTEST_ARGS)
# litellm and mcp in the oldest versions that are allowed; the newest are in $(VENV).
test-oldest:
	scripts/timed.sh $@ scripts/test-model-pairs oldest
# The persona on the real Jupyter AI; not a part of `make test`, since it takes minutes.
test-jupyter-ai: $(TOOLS) $(STAMPS)/chromium
	scripts/timed.sh $@ scripts/test-jupyter-ai
	scripts/timed.sh $@-browser scripts/test-jupyter-ai --browser
# The table of docs/models.md, by the tests that make it.
matrix: tests-ready
	UPDATE_MATRIX=1 scripts/timed.sh $@ python -m pytest -n0 tests/models/matrix
test-typescript:
	cd labextension && ../scripts/timed.sh $@ jlpm test
test-browser:
	cd labextension && ../scripts/timed.sh $@ jlpm test:ui

check: $(TOOLS)
	@$(TWO_AT_A_TIME) $(CHECKS)
$(CHECKS): $(TOOLS)

check-ruff:
	scripts/timed.sh $@ ruff check .
check-format:
	scripts/timed.sh $@ ruff format --check .
check-mypy:
	scripts/timed.sh $@ mypy
check-imports:
	scripts/timed.sh $@ lint-imports
check-words:
	scripts/timed.sh $@ python scripts/check_words.py
# Only listed modules read messages by regular expressions.
check-prose:
	scripts/timed.sh $@ python scripts/check_prose.py
# Each configuration lists at least one test, and each test file is in one.
check-tests:
	scripts/timed.sh $@ python scripts/check_tests.py
check-lint:
	cd labextension && ../scripts/timed.sh $@ jlpm lint:check
check-generated:
	scripts/timed.sh $@ scripts/check_generated.sh
# What users install: names, licences, metadata; that it installs and JupyterLab lists it.
check-wheel:
	scripts/timed.sh $@ python scripts/check_wheel.py
check-workflows:
	scripts/timed.sh $@ node scripts/check_workflows.mjs

check-pins:
	scripts/timed.sh $@ python scripts/pins.py --check

# The exact versions of this environment; and the known weaknesses of those, which a service is asked
# for: what that does not know is a failure, too.
pins: tests-ready
	python scripts/pins.py
audit:
	python -m uv tool run pip-audit --requirement scripts/pins.txt --no-deps --disable-pip --strict

format: $(TOOLS)
	ruff check --fix .
	ruff format .
	cd labextension && jlpm lint

generate: $(TOOLS)
	python scripts/approvals_table.py
	python -m jupyter_datalayer_agent.server.openapi > openapi.json
	cd labextension && jlpm generate

bench: $(TOOLS)
	python -m benchmarks

clean:
	rm -rf $(VENV) build dist jupyter_datalayer_agent/labextension labextension/node_modules labextension/lib \
	  labextension/coverage labextension/ui-tests/results .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f labextension/tsconfig.tsbuildinfo labextension/.stylelintcache
	find jupyter_datalayer_agent tests benchmarks scripts -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# --- what the above need ---------------------------------------------------------------------

$(STAMPS)/venv:
	@scripts/venv.sh $(VENV) $(PYTHON)
	@mkdir -p $(STAMPS) && touch $@

# The wheel's build makes the labextension, and leaves labextension/node_modules for the tests.
# scripts/overrides.json spares people JupyterLab's question about news, which lies over the panel.
$(LAB): $(STAMPS)/venv $(SOURCES) scripts/overrides.json scripts/constraints.txt
	@scripts/step.sh lab "Installing JupyterLab and the agent into $(VENV) ($(PIP_TIME))" \
	  scripts/install.sh examples
	@mkdir -p $(VENV)/share/jupyter/lab/settings
	@cp scripts/overrides.json $(VENV)/share/jupyter/lab/settings/
	@rm -f $(STAMPS)/lab-* && touch $@

$(TOOLS): $(STAMPS)/venv $(SOURCES) scripts/constraints.txt
	@scripts/step.sh tools "Installing the agent and its test tools into $(VENV) ($(PIP_TIME))" \
	  scripts/install.sh test lint
	@scripts/step.sh node "Looking for Node.js" scripts/node.sh $(VENV)
	@cd labextension && ../scripts/step.sh panel "Installing what the panel is built and tested with" \
	  jlpm install
	@rm -f $(STAMPS)/lab-* $(STAMPS)/tools-* && touch $@

$(STAMPS)/chromium: $(TOOLS)
	@scripts/step.sh chromium "Looking for a headless Chromium (installed, about a minute, where there is none)" \
	  scripts/chromium.sh
	@touch $@

$(STAMPS)/test-programs: scripts/test_programs.sh scripts/faketime.sh | $(TOOLS)
	@scripts/step.sh test-programs \
	  "Installing what tests use besides: Azurite, JupyterHub's proxy, MCP and model servers, jupytext, collaboration" \
	  scripts/test_programs.sh $(VENV)/programs
	@scripts/step.sh faketime "Looking for libfaketime" scripts/faketime.sh
	@touch $@

$(STAMPS)/compiled: | $(TOOLS)
	@scripts/step.sh compiled "Compiling what the tests import (half a minute)" scripts/compile_tests.sh
	@touch $@
