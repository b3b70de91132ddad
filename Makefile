# Every target installs just what it needs into .venv, once. `make help` lists them.
PYTHON ?= python3
PORT ?= 8000
export NO_MKDOCS_2_WARNING := 1
export SITE_URL ?= http://127.0.0.1:$(PORT)/

BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
LOCKED := pyproject.toml constraints.txt
NODE_MODULES := theme/node_modules/.package-lock.json

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help serve site test lessons check lab bench lint pins clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: .venv/docs $(NODE_MODULES)  ## build the site and serve it on http://127.0.0.1:8000 (PORT= changes it)
	@echo "The site will answer on http://127.0.0.1:$(PORT)/ (Ctrl-C stops it)"
	@SITE_URL=http://127.0.0.1:$(PORT)/ $(BIN)/mkdocs serve --dev-addr 127.0.0.1:$(PORT)

site: .venv/docs $(NODE_MODULES)  ## build the site into site/, strictly (SITE_URL= where it will be published)
	$(BIN)/mkdocs build --strict --clean

test: .venv/tests $(NODE_MODULES)  ## install all that the tests need and run pytest (ARGS= is passed on)
	$(BIN)/python -m pytest $(ARGS)

lessons: .venv/lessons  ## execute the lessons and write their notebook twins (NAMES=07 does one)
	$(BIN)/python tools/lessons.py write $(NAMES)

check: .venv/lessons  ## run every lesson from clean and compare the twins, changing nothing
	$(BIN)/python tools/lessons.py check
	$(BIN)/python tools/lessons.py run

lab: .venv/lessons  ## open JupyterLab on a copy of the lessons, in playground/
	$(BIN)/python tools/lessons.py copy playground
	$(BIN)/jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/playground

bench: .venv/lessons  ## time a training step of the paper's model (ARGS="--help" lists options)
	$(BIN)/python benchmarks/step.py $(ARGS)

lint: .venv/dev  ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

pins: .venv/tests .venv/dev  ## rewrite constraints.txt from what .venv holds
	$(BIN)/python tools/pins.py

clean:  ## remove .venv and everything that was built, but not your playground/
	rm -rf .venv theme/node_modules site

.venv/ready:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.12 or newer is needed, and there is no $(PYTHON): install it from https://www.python.org/downloads/ and run make PYTHON=python3.12 again." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || { echo "Python 3.12 or newer is needed, and $(PYTHON) is $$($(PYTHON) --version 2>&1): install it from https://www.python.org/downloads/ and run make PYTHON=python3.12 again." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@touch $@

.venv/docs: .venv/ready $(LOCKED)
	$(INSTALL) --group docs
	@touch $@

.venv/lessons: .venv/ready $(LOCKED)
	$(INSTALL) --editable . --group lessons
	@touch $@

.venv/tests: .venv/ready $(LOCKED)
	$(INSTALL) --editable . --group tests
	@touch $@ .venv/docs .venv/lessons

.venv/dev: .venv/ready $(LOCKED)
	$(INSTALL) --group dev
	@touch $@

$(NODE_MODULES): .venv/docs theme/package.json theme/package-lock.json
	cd theme && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
