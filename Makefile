# Every target does its own set-up from a bare clone: python >= 3.12, make, git and a C++ compiler suffice.
.DEFAULT_GOAL := help
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PYTEST_ARGS ?= -n auto

.PHONY: help demo test check format gpu-test bench schema lock clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml requirements.lock tools/bootstrap.sh
	@sh tools/bootstrap.sh $(VENV)
	@touch $@

demo: $(STAMP)  ## scaffold, lint, validate, cut, verify and grade, in a scratch folder
	@$(BIN)/python -m ce_author.demo

test: $(STAMP)  ## every test that this machine can run; what it cannot is named
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(STAMP)  ## formatting, lint, strict types, import layers, generated files
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m ce_schema.jsonschema_gen --check

format: $(STAMP)  ## rewrite formatting and fixable lint
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

gpu-test: $(STAMP)  ## the tests that need an NVIDIA GPU
	@$(BIN)/python -m pytest -m gpu -n 0

bench: $(STAMP)  ## this toolkit and its peer, same work, same run
	@$(BIN)/python benchmarks/run.py

schema: $(STAMP)  ## regenerate the published JSON Schema
	@$(BIN)/python -m ce_schema.jsonschema_gen

lock: $(STAMP)  ## refresh requirements.lock from pyproject.toml
	@sh tools/lock.sh $(VENV)

clean:  ## remove what the targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist
