# Every target sets up what it needs: a virtual environment in .venv, from the package index alone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv takes a sixth of pip's time, but reads no settings of pip's: where these name an index, pip installs.
UV := ! $(BIN)/python -m pip config list | grep index >/dev/null && $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: help demo test trials coverage fast check fuzz fuzz-guided bench tables docs release lowest clean
help:
	@echo "make demo   index a small corpus and ask it a two-hop question"
	@echo "make test   everything"
	@echo "make trials every kill, power cut and example, an hour of hostile input, the lowest versions: hours"
	@echo "make coverage  the same, with the lines of the package that no test reaches"
	@echo "make fast   the tests that need no model and no data"
	@echo "make check  lint, types, architecture"
	@echo "make fuzz   hostile input for a minute; for an hour: make fuzz SECONDS=3600"
	@echo "make fuzz-guided  the same of one test, guided by the code that inputs reach (atheris, Linux)"
	@echo "make bench  speed, side by side (recall tables: see docs/benchmarks.md)"
	@echo "make tables the tables of README and docs anew from benchmarks/results.json"
	@echo "make docs   the documentation as a site, in build/site"
	@echo "make release  wheels and sdists in dist/, tried in an environment of their own"
	@echo "make lowest   the fast tests and the demo with the lowest versions that pyproject.toml allows"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Triplebeam needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(BIN)/python pyproject.toml
	$(PIP) uv && $(UV) --editable . || $(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime research/pyproject.toml
	$(UV) --editable '.[dev]' --editable ./research || $(PIP) --editable '.[dev]' --editable ./research
	@# Without what it depends on: its binding of trec_eval has no wheel for every machine. See docs/decisions.md.
	$(PIP) --no-deps 'ir-measures>=0.4.3'
	@touch $@

# A cluster for the tests of OpenSearch, where there are a JDK and Maven: some minutes of small downloads.
.PHONY: opensearch-jars
opensearch-jars: $(VENV)/.dev
	$(BIN)/python tests/opensearch_cluster/nodes.py assemble

$(VENV)/.models: $(VENV)/.runtime
	$(BIN)/triplebeam doctor --install
	@touch $@

demo: $(VENV)/.models
	$(BIN)/triplebeam demo

# Two workers share the processors: threads of OpenMP that spin while they wait would take them from each other.
test trials fast coverage: export OMP_WAIT_POLICY = passive

test: $(VENV)/.dev $(VENV)/.models
	$(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder

# Counting lines makes the tests two and a half times as slow.
coverage: $(VENV)/.dev $(VENV)/.models
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered -n 2 --dist loadgroup --no-loadscope-reorder

fast: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not slow and not data" -n 2 --dist loadgroup

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The long trials: 240 kills, 90 power cuts, recall on real questions, agents with a real model, every example of every
# property, drawn anew, and an hour of hostile input.
trials: $(VENV)/.dev $(VENV)/.models
	TRIPLEBEAM_TRIALS=1 TRIPLEBEAM_RANDOM=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder
	$(MAKE) fuzz SECONDS=3600
	$(MAKE) lowest

SECONDS ?= 60
fuzz: $(VENV)/.dev
	end=$$(($$(date +%s) + $(SECONDS))); while [ $$(date +%s) -lt $$end ]; do \
	  TRIPLEBEAM_FUZZ_EXAMPLES=300 $(BIN)/python -m pytest tests/fuzz || exit 1; done

TEST ?= test_readers_and_the_splitter
fuzz-guided: $(VENV)/.dev
	$(PIP) --only-binary=:all: atheris
	mkdir -p build/fuzz
	cd build/fuzz && $(abspath $(BIN))/python ../../tests/fuzz/guided.py $(TEST) -max_total_time=$(SECONDS)

bench: $(VENV)/.dev $(VENV)/.models
	$(BIN)/python benchmarks/query_time.py

tables: $(VENV)/.dev
	$(BIN)/python benchmarks/tables.py

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

release: $(BIN)/python
	rm -rf dist build/release
	$(PIP) build twine
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m build --outdir dist research
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python scripts/look_into_release.py dist
	$(PYTHON) -m venv build/release
	PYTHON=$(CURDIR)/build/release/bin/python WHEEL="$$(ls $(CURDIR)/dist/triplebeam-*.whl)" RESEARCH="$$(ls $(CURDIR)/dist/triplebeam_research-*.whl)" sh scripts/try_release.sh

# Old versions warn about newer ones of what they depend on, which is not for us to mend: warnings are no errors here.
lowest: $(BIN)/python
	$(PIP) uv
	mkdir -p build/research
	sed '/"triplebeam==/d' research/pyproject.toml > build/research/pyproject.toml
	$(BIN)/uv pip compile --quiet --python $(BIN)/python --resolution lowest-direct --extra dev pyproject.toml build/research/pyproject.toml --output-file build/lowest.txt
	$(BIN)/uv venv --quiet --clear --seed --python $(BIN)/python build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest/bin/python --requirement build/lowest.txt --editable . --editable ./research
	build/lowest/bin/python -m pytest -m "not slow and not data" -n 2 -o filterwarnings=ignore
	build/lowest/bin/triplebeam demo

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .coverage* dist build
