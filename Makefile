# Every chore has one way. `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed
# Processes that share the tests; those of a file stay together, as they share what it fits.
JOBS   ?= 2
PYTEST  = $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
# What runs the demo: local, or ray for a Ray cluster on this machine.
ENGINE ?= local

.DEFAULT_GOAL := help
.PHONY: help install demo check format test test-slow test-cluster bench bench-quick bench-peers docs screenshots wheel clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP) ## create the environment and install pairgram into it

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("pairgram needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt -e '.[text,lm,ann,demo,networkx,pandas,pyg,serve,map,ray,docs,examples,reference,dev]'
	@touch $(STAMP)

demo: $(STAMP) ## the main job on real data: fit, held-out scores beside the floors, suggestions
	$(BIN)/pairgram demo --engine $(ENGINE)

check: $(STAMP) ## format, lint, types, import contracts, quick tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -m quick tests

format: $(STAMP) ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(STAMP) ## all tests but those marked slow
	$(PYTEST) -m 'not slow and not alone'
	$(BIN)/pytest -m 'alone and not slow'

test-slow: $(STAMP) ## the tests marked slow, one after the other
	$(BIN)/pytest -m slow

test-cluster: $(STAMP) ## of these, the tests that kill nodes of a Ray cluster
	$(BIN)/pytest -m slow tests/test_ray_cluster.py

bench: $(STAMP) ## the tables in results/, from PAIRGRAM_DATA
	$(BIN)/pairgram bench paper

bench-quick: $(STAMP) ## every table on a small generated graph, into build/quick
	$(BIN)/pairgram bench paper --quick -o build

bench-peers: $(STAMP) ## the environments of the tools that `pairgram bench speed` runs beside
	$(BIN)/python benchmarks/peers/install.py

docs: $(STAMP) ## the documentation as a site, into build/site
	$(BIN)/mkdocs build --strict

screenshots: $(STAMP) ## the pictures of the page in docs/, from the demo's model and Chromium
	$(BIN)/python docs/figures/screenshots.py

wheel: $(STAMP) ## build the wheel into dist/
	$(BIN)/python -m build --wheel

clean: ## remove the environment and what was built
	rm -rf $(VENV) dist build demo .browser
