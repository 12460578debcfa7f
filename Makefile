# Two commands matter: `make lab` to learn, `make test` to check everything. Both set up .venv first.
.DEFAULT_GOAL := help

PYTHON ?= python3
PY := .venv/bin/python
READY := .venv/.ready
PIP := $(PY) -m pip --disable-pip-version-check
LAB_FLAGS ?=
NB ?=
CHECK := $(PY) -m ruff check && $(PY) -m ruff format --check && $(PY) -m mypy
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout=60 -n 2 --dist loadfile
# JupyterLab asks the network for news and newer versions, and the reader whether it may; a lesson
# should do neither.
QUIET_LAB := --LabApp.news_url=None \
  --LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate

GRADER_READY := build/nbgrader-ready/.ready
SUITE_READY := build/conformance/.ready
PEERS_READY := build/peers/.ready
BENCH_READY := build/bench/.ready
BENCH_FLAGS ?=
SOAK_SECONDS ?= 60

.PHONY: help lab exercises test conformance peers bench demo doctor notebooks nbgrader check clean

help:
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

lab: $(READY) ## open JupyterLab on your own copies, at the first notebook
	@$(PY) -m mini_agent.workbook
	@$(PY) -m exercises
	@$(PY) -m jupyterlab $(QUIET_LAB) --ServerApp.root_dir='$(CURDIR)/work' \
	  --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb $(LAB_FLAGS)

exercises: $(READY) ## your own copies of the exercises, in work/exercises
	@$(PY) -m exercises

test: $(READY) ## run everything: ruff, mypy, pytest, nbval on each notebook
	@start=$$(date +%s); \
	$(CHECK) && \
	export PYTHONPATH='$(CURDIR)/tests/startup' && \
	$(PY) -m pytest -n 2 --dist loadgroup && \
	echo "pytest $(NBVAL) notebooks/ exercises/" && \
	$(PY) -m pytest $(NBVAL) notebooks/ exercises/ && \
	echo "make test took $$(($$(date +%s) - start)) s"

conformance: $(SUITE_READY) ## the official conformance suite judges our client and our server
	@$(PY) tests/conformance/run.py

peers: $(PEERS_READY) ## install the older servers and the Inspector that tests/interop drives

bench: $(BENCH_READY) ## our client measured beside others, then a minute of faults
	@$(PY) tests/benchmarks/run.py $(BENCH_FLAGS)
	@SOAK_SECONDS=$(SOAK_SECONDS) $(PY) -m pytest -q tests/test_soak.py

demo: $(READY) ## one full round of the agent against a calendar server, in this terminal
	@.venv/bin/mini-agent demo

doctor: $(READY) ## is this machine ready, and what mends it
	@$(PY) -m mini_agent.doctor

notebooks: $(READY) ## build the notebooks from notebooks/source (one: make notebooks NB=03)
	@$(PY) -m notebooks.build $(NB)
	@$(PY) -m notebooks.path
	@$(PY) -m notebooks.glossary
	@$(PY) -m notebooks.example
	@$(PY) -m exercises.build $(NB)

nbgrader: $(GRADER_READY) ## student versions of the exercises, and the proof that they grade
	@$(PY) -m exercises.grading

check: $(READY) ## ruff and mypy alone
	@$(CHECK)

clean: ## remove .venv and every cache; your copies in work/ stay
	@rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, and '$(PYTHON)' is not. Name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
	  exit 1; }
	@echo "Setting up .venv; this takes about a minute, once."
	@$(PYTHON) -m venv .venv
	@$(PIP) install -qq -e '.[dev]' -c constraints.txt
	@mkdir -p .venv/share/jupyter/lab/settings
	@echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}' \
	  > .venv/share/jupyter/lab/settings/overrides.json
	@touch $@

$(SUITE_READY): $(READY)
	@echo "Setting up Node and the conformance suite; this takes a minute, once."
	@$(PIP) install -qq -e '.[conformance]' -c constraints.txt
	@mkdir -p $(@D)
	@touch $@

$(PEERS_READY): $(SUITE_READY) tests/interop/peers.py tests/interop/npm/package-lock.json tests/interop/sqlite.txt
	@echo "Installing older servers and MCP Inspector; this takes a minute, once."
	@$(PY) tests/interop/peers.py
	@touch $@

$(BENCH_READY): $(READY)
	@echo "Setting up what is measured beside our client; this takes half a minute, once."
	@$(PIP) install -qq -e '.[bench]' -c constraints.txt
	@mkdir -p $(@D)
	@touch $@

$(GRADER_READY): $(READY)
	@$(PIP) install -qq -e '.[nbgrader]' -c constraints.txt
	@mkdir -p $(@D)
	@touch $@
