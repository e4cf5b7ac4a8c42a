# The first Python on the PATH that runs and is new enough; a name that is found may be a shim that does not run.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$p && break; done)
# The newest one that runs, wherever it lies; asked for its version, since a shim's name is only a promise.
VERSION := import sys; print("%d.%02d" % sys.version_info[:2], sys.executable)
NEWEST ?= $(shell for p in python3 python3.14 python3.13 python3.12 $(wildcard $(HOME)/.pyenv/versions/3.*/bin/python3); do \
	$$p -c '$(VERSION)' 2>/dev/null; done | sort | tail -n 1 | cut -d' ' -f2)
VENV := .venv
BIN := $(VENV)/bin
# Make would take a comma in a call for the end of an argument.
COMMA := ,
PACKAGES := engine adapters datasets results

.PHONY: demo test check format real readers test-newest bench clean

## The whole 35,000-turn sweep on synthetic data with simulated models
demo: $(VENV)/.ready
	@$(BIN)/turntide demo

## The test suite
test: $(VENV)/.ready-dev
	@$(BIN)/pytest -q -n 2 --dist worksteal

## What CI runs besides the tests
check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

## The real parts that tests use where they are present: ChromaDB and more (Redis and Chromium come from the system)
real: $(VENV)/.ready-dev readers
	@$(call install,$(VENV),.[chroma$(COMMA)local])
	@$(BIN)/turntide models install smollm2

## Other people's readers of what we export, apart: what they need contradicts what ChromaDB needs
readers: .venv-readers/.ready

.venv-readers/.ready:
	@$(PYTHON) -m venv .venv-readers
	@.venv-readers/bin/pip install --quiet --disable-pip-version-check --no-compile 'datasets>=3' 'inspect-ai>=0.3.150'
	@touch $@

## The core on the newest CPython that runs here
test-newest: $(VENV)-newest/.ready-dev
	@$(VENV)-newest/bin/python --version
	@$(VENV)-newest/bin/pytest -q -n 2 --dist worksteal -m "not real" tests/engine tests/adapters

## Speed, memory and limits, measured, judged and compared: all, or make bench ONLY=calls,rate JSON=figures.json
bench: $(VENV)/.ready
	@$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json $(JSON))

clean:
	rm -rf $(VENV) $(VENV)-newest .venv-readers build *.egg-info

$(VENV)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "turntide needs Python 3.11 or newer: make PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): about a minute, once."
	@$(PYTHON) -m venv $(VENV)
	@$(call install,$(VENV),.[embeddings$(COMMA)figures])
	@echo "Installing the embedding model (83 MB, once)."
	@$(BIN)/turntide models install
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "Installing the development tools."
	@$(call install,$(VENV),.[dev])
	@touch $@

$(VENV)-newest/.ready-dev: pyproject.toml
	@echo "Setting up $(VENV)-newest with $(NEWEST)."
	@$(NEWEST) -m venv $(VENV)-newest
	@$(call install,$(VENV)-newest,.[dev])
	@touch $@

# Editable, and with the four packages linked under one name, so that type checkers find them as well.
define install
$(1)/bin/python -m pip install --quiet --disable-pip-version-check -e '$(2)' && \
	$(1)/bin/python -c "import pathlib, sysconfig; \
	roof = pathlib.Path(sysconfig.get_path('purelib'), 'turntide'); roof.mkdir(exist_ok=True); \
	[(roof / p).unlink(missing_ok=True) or (roof / p).symlink_to(pathlib.Path(p).resolve()) for p in '$(PACKAGES)'.split()]"
endef
