# Everything a developer runs. Nothing here needs more than git, make and Python 3.11+.
# Another Python gets a virtual environment of its own: `make test PYTHON=python3.13` uses .venv-3.13.
PYTHON ?= python3
VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(VERSION))
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: help setup try quick test browser coverage check fix bench docs pictures lock release clean
help:            ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# With LOCKED=1, as in CI, exactly the packages of requirements/dev.txt, held against their hashes.
$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Holdfast needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(if $(LOCKED),$(PIP) --require-hashes -r requirements/dev.txt && $(PIP) --no-deps --no-build-isolation -e .,$(PIP) -e '.[dev]')
	@touch $@

setup: $(VENV)/ready ## make the virtual environment

# Who only wants to try it needs the package alone (200 MB), not what developers need (1.4 GB).
TRY_VENV := $(if $(wildcard $(VENV)/ready),$(VENV),.venv-try)
TRY_BIN := $(TRY_VENV)/$(notdir $(BIN))

.venv-try/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Holdfast needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up .venv-try (once; less than a minute) ..."
	@$(PYTHON) -m venv .venv-try
	@.venv-try/$(notdir $(BIN))/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

try: $(TRY_VENV)/ready ## ingest the sample sessions and this repository's history, ask, show cited answers
	@PATH="$(CURDIR)/$(TRY_BIN):$$PATH" $(TRY_BIN)/python examples/tour.py

# The tests of the pages need a browser. It is fetched only where that needs no question: as root, with apt;
# elsewhere those tests are skipped, and say why.
browser:
	@for name in chromium-headless-shell chromium chromium-browser google-chrome-stable google-chrome; do \
		command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Fetching Chromium for the tests of the pages ..."; \
		{ apt-get update -qq && for package in chromium-headless-shell chromium; do DEBIAN_FRONTEND=noninteractive \
			timeout 600 apt-get install -y -qq --no-install-recommends $$package && break; done; } >/dev/null 2>&1 || \
			echo "No Chromium to be had: the tests of the pages in a browser will be skipped."; \
	else echo "No Chromium: the tests of the pages in a browser will be skipped (apt install chromium-headless-shell)."; fi

# A worker takes a file at a time, the longest files first (tests/support/run_order.py).
DIST ?= loadfile
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo $(or $(NUMBER_OF_PROCESSORS),2))
PYTEST := $(BIN)/python -m pytest --dist $(DIST) --no-loadscope-reorder

# Otherwise each worker would read and compile Hypothesis, whose assertions pytest rewrites, anew.
unexport PYTHONDONTWRITEBYTECODE

# The files of the tests are kept in memory where there is room: a disk makes them wait.
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 6000000 {print "TMPDIR=/dev/shm"}')

NEEDS := process or model or browser or postgres or claude
QUICK := -m "not ($(NEEDS) or slow)"

quick: setup     ## run the tests that need no other process, browser, server or model: a minute
	@$(if $(TMPDIR),,$(IN_MEMORY)) $(PYTEST) --maxprocesses 4 -n $(CORES) $(QUICK)

# All tests have two workers more than there are cores, because some wait for a process most of their time, but four at most.
WORKERS ?= $(shell n=$$(($(CORES) + 2)); [ $$n -lt 4 ] && echo $$n || echo 4)

test: setup browser ## run all tests, and name the ten slowest
	@$(if $(TMPDIR),,$(IN_MEMORY)) $(PYTEST) -n $(WORKERS) --durations 10 --durations-min 1

# Tests take about twice as long when they are traced, so that only the quick and the slow ones count. The floor is a little below what they
# reach (CONTRIBUTING.md). A failed test is left to `make test`: Python 3.11 now and then ends a thread that starts while it is traced
# ("Cannot install a trace function while another trace function is being installed").
BRANCH_FLOOR := 59

coverage: setup  ## measure which branches the tests that need nothing take (or with TESTS=tests/spend all tests of a folder)
	@$(BIN)/python -m coverage erase
	@$(if $(TMPDIR),,$(IN_MEMORY)) $(BIN)/python -m coverage run -m pytest --maxprocesses 4 --dist $(DIST) --no-loadscope-reorder -n $(CORES) \
		$(if $(TESTS),$(TESTS),-m "not ($(NEEDS))") || [ $$? -eq 1 ]
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage json --quiet -o .coverage-report.json
	@$(if $(TESTS),$(BIN)/python -m coverage report,echo "Branches taken by the tests that need no process, browser, server or model:")
	@$(BIN)/python tools/coverage_summary.py .coverage-report.json $(if $(TESTS),,$(BRANCH_FLOOR))

check: setup     ## format, lint, types, import contracts, structure, docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python tools/check_structure.py
	@$(BIN)/python -m cogapp --check docs/*.md docs/decisions/README.md

fix: setup       ## format, and mend what the linter can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: setup      ## regenerate the generated parts of docs/, and build the site into build/site; needs no network
	@$(BIN)/python -m cogapp -r docs/*.md docs/decisions/README.md
	@$(BIN)/python tools/run_tour.py
	@$(BIN)/python tools/diagrams.py
	@$(BIN)/python tools/terminal_recording.py
	@$(BIN)/python tools/build_site.py

pictures: setup browser ## take the pictures of the pages anew, with the sample sessions; look at them afterwards
	@$(BIN)/python tools/screenshots.py

RELEASE_BIN := .venv-release/$(notdir $(BIN))

.venv-release/ready: requirements/release.txt
	@$(PYTHON) -m venv .venv-release
	@$(RELEASE_BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/release.txt
	@touch $@

lock: .venv-release/ready ## write requirements/ anew: all packages with their hashes
	@PATH="$(CURDIR)/$(RELEASE_BIN):$$PATH" python tools/lock.py

release: .venv-release/ready ## wheel, SBOM and licences in dist/: make release BASE_IMAGE=NAME@sha256:...
	@PATH="$(CURDIR)/$(RELEASE_BIN):$$PATH" python tools/release.py "$(BASE_IMAGE)"

bench: setup     ## measure speed, and tell what changed since the last release: five minutes (ALL=1 for all in bench/README.md)
	@$(BIN)/python -m bench $(if $(ALL),--all)

clean:           ## remove what make made
	@rm -rf .venv .venv-* .try .pytest_cache .ruff_cache .hypothesis .coverage* build dist
	@find bench examples src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
