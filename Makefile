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
TOOLS := .venv-tools/bin
PACKAGES := engine adapters datasets results

.PHONY: demo test check format real readers tools pins sbom audit test-newest bench chaos hostile fuzz clean

## The whole 35,000-turn sweep on synthetic data with simulated models
demo: $(VENV)/.ready
	@$(BIN)/turntide demo

## The test suite
test: $(VENV)/.ready-dev
	@$(BIN)/pytest -q -n 3 --dist worksteal

## What CI runs besides the tests
check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

## The real parts that tests use: ChromaDB, Ray and more (the system has Redis, Chromium, libfaketime)
real: $(VENV)/.ready-dev readers tools
	@$(call install,$(VENV),real)
	@$(BIN)/turntide models install smollm2

## Other people's readers of what we export, apart: what they need contradicts what ChromaDB needs
readers: .venv-readers/.ready

## What `make pins`, `make sbom` and `make audit` need, apart from what turntide needs
tools: .venv-tools/.ready

.venv-readers/.ready .venv-tools/.ready: .venv-%/.ready: requirements/%.txt
	@$(PYTHON) -m venv .venv-$*
	@$(call install,.venv-$*,$*) --no-compile
	@touch $@

## Pin what pyproject.toml asks for, with hashes; with UPGRADE=1 in the newest releases
pins: tools
	@$(call pin,real) pyproject.toml --extra dev --extra chroma --extra local --extra ray
	@$(call pin,dev) pyproject.toml --extra dev --constraint requirements/real.txt
	@$(call pin,run) pyproject.toml --extra embeddings --extra figures --extra redis --group build --constraint requirements/real.txt
	@$(call pin,readers) --group readers
	@$(call pin,tools) --group tools

## The bill of materials of what turntide runs on (CycloneDX)
sbom: tools
	@mkdir -p build
	@$(TOOLS)/python requirements/sbom.py > build/sbom.json
	@echo "build/sbom.json"

## Whether a vulnerability is known in anything that is pinned
audit: tools
	@$(TOOLS)/python requirements/audit.py

## The core on the newest CPython that runs here
test-newest: $(VENV)-newest/.ready-dev
	@$(VENV)-newest/bin/python --version
	@$(VENV)-newest/bin/pytest -q -n 2 --dist worksteal -m "not real" tests/engine tests/adapters

## Speed, memory and limits, measured, judged and compared: all, or make bench ONLY=calls,rate JSON=figures.json
bench: $(VENV)/.ready
	@$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(if $(JSON),--json $(JSON))

## Kills, full disks, jumping clocks, dying stores, shards: all, or make chaos ONLY=kills KILLS=100 SEED=7 JSON=results.json
chaos: $(VENV)/.ready-dev
	@$(BIN)/python -m bench.chaos $(if $(ONLY),--only $(ONLY)) $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(JSON),--json $(JSON))

## Every attack of the tests fired at an SQL worker under a run's bounds; then statements that nobody would think of
hostile: $(VENV)/.ready-dev
	@$(BIN)/python -m bench.hostile

fuzz: $(VENV)/.ready-dev
	@$(BIN)/python -m bench.fuzz $(if $(SECONDS),--seconds $(SECONDS))

clean:
	rm -rf $(VENV) $(VENV)-newest .venv-readers .venv-tools build *.egg-info

$(VENV)/.ready: pyproject.toml requirements/run.txt
	@test -n "$(PYTHON)" || { echo "turntide needs Python 3.11 or newer: make PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): about a minute, once."
	@$(PYTHON) -m venv $(VENV)
	@$(call install,$(VENV),run)
	@$(call link,$(VENV))
	@echo "Installing the embedding model (83 MB, once)."
	@$(BIN)/turntide models install
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready requirements/dev.txt
	@echo "Installing the development tools."
	@$(call install,$(VENV),dev)
	@touch $@

$(VENV)-newest/.ready-dev: pyproject.toml requirements/dev.txt
	@echo "Setting up $(VENV)-newest with $(NEWEST)."
	@$(NEWEST) -m venv $(VENV)-newest
	@$(call install,$(VENV)-newest,dev)
	@$(call link,$(VENV)-newest)
	@touch $@

# One file for every Python from 3.11 and every platform: with markers, and the hashes of all wheels. It names no host.
pin = $(TOOLS)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command 'make pins' $(if $(UPGRADE),--upgrade) --output-file requirements/$(1).txt

# What is pinned, and nothing else: a file whose hash is not written down is refused.
install = $(1)/bin/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r requirements/$(2).txt

# Ourselves, editable, and with the four packages linked under one name, so that type checkers find them as well.
define link
$(1)/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-index --no-build-isolation -e . && \
	$(1)/bin/python -c "import pathlib, sysconfig; \
	roof = pathlib.Path(sysconfig.get_path('purelib'), 'turntide'); roof.mkdir(exist_ok=True); \
	[(roof / p).unlink(missing_ok=True) or (roof / p).symlink_to(pathlib.Path(p).resolve()) for p in '$(PACKAGES)'.split()]"
endef
