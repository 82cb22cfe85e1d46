# `make demo` and `make test` need Python 3.11 or newer, make and a network to install from; nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test test-slow lint browser bench clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.installed  ## install and train on the bundled Cora
	$(BIN)/glcn fit cora

# In CI the tests of the report page need a browser; elsewhere they are skipped without one.
test: lint $(if $(filter true,$(CI)),browser)  ## lint, types and tests (some minutes)
	$(BIN)/python -m pytest -n 2

test-slow: $(VENV)/.installed-dev  ## the tests that take longer
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(VENV)/.installed-dev  ## style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

browser:  ## install Debian's chromium for the tests of the report page (as root)
	scripts/install_browser.sh

bench: $(VENV)/.installed-dev  ## speed and memory against the alternatives (20 minutes)
	$(BIN)/python benchmarks/run.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing glcn into $(VENV) (about a minute)"
	$(PIP) -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing glcn and its test tools into $(VENV) (about two minutes)"
	$(PIP) -e '.[dev]'
	touch $@
