# Each target runs commands that you can type yourself. `make` alone prints the targets.
BIN := .venv/bin
ENV := .venv/.installed
FAST := tests/unit tests/components tests/policies tests/twin/gcp
DIST := dist
VERSION = $(shell cat components/tpuplane/VERSION)
# Each command imports the SDKs: to compile them every time would double the time of a preview.
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
.PHONY: help up down fast test long browser matrix lives ray lint types stale generate hooks bench bench-gate bench-scale bench-raw bench-multislice bench-queueing soak pages docs wheels sbom audit cloud cloud-compare notes outdated

help: ## Print this list
	@sed -En 's/^([a-z-]+):.* ## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

up: $(ENV) ## Create the local stack on a twin and run a Ray sample on it
	@$(BIN)/tpuplane check stacks/Pulumi.local.yaml && $(BIN)/tpuplane-twin rehearse local

down: $(ENV) ## End the twin and delete its state
	@$(BIN)/tpuplane-twin down

fast: $(ENV) ## Run the tests that need no cluster and no built program
	@$(BIN)/pytest -n 2 $(FAST) -m "not engine and not ray and not long"

test: $(ENV) lint types ## Run lint, types and all tests except long, browser, matrix and ray
	@$(BIN)/tpuplane-twin build
	@$(BIN)/pytest -n 2 $(FAST)
	@$(BIN)/pytest -n 3 --no-loadscope-reorder tests/e2e tests/twin tests/standins --ignore tests/twin/gcp

long: $(ENV) ## Run the tests with a twin of several clusters, or several updates
	@$(BIN)/tpuplane-twin build && $(BIN)/pytest -m long

browser: $(ENV) ## Run the tests of the page in a headless Chromium
	@$(BIN)/uv run --frozen --all-packages --group browser pytest -m browser tests/browser

matrix: $(ENV) ## Interrupt a small platform by each fault of each resource (an hour)
	@$(BIN)/tpuplane-twin build && $(BIN)/pytest -m matrix tests/standins/matrix

lives: $(ENV) ## Edit, update, interrupt and destroy small platforms in 100 random steps
	@$(BIN)/tpuplane-twin build && $(BIN)/pytest -m matrix tests/standins/matrix/test_life.py

ray: $(ENV) ## Run the tests with real Ray processes
	@$(BIN)/tpuplane-twin build --ray && $(BIN)/pytest -m ray

lint: $(ENV) ## Check style, format and the number of lines
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m scripts.python_lines

types: $(ENV) ## Check types
	@$(BIN)/mypy

stale: $(ENV) ## Check that every generated file is up to date
	@$(BIN)/python -m scripts.generate --check

generate: $(ENV) ## Write the generated files
	@$(BIN)/python -m scripts.generate

hooks: $(ENV) ## Run lint, types and stale before each of your commits
	@$(BIN)/pre-commit install

bench: $(ENV) ## Measure plans, pictures and messages against their bounds
	@$(BIN)/python -m benchmarks

bench-gate: $(ENV) ## Measure the time that the policies add to a preview
	@$(BIN)/python -m benchmarks gate

bench-scale: $(ENV) ## Measure platforms of up to 50,944 chips on a twin (half an hour)
	@$(BIN)/python -m benchmarks scale

bench-raw: $(ENV) ## Measure this program and one without tpuplane on a twin (three quarters of an hour)
	@$(BIN)/python -m benchmarks raw

bench-multislice: $(ENV) ## Measure one job on 12,736 hosts of a twin (three quarters of an hour)
	@$(BIN)/python -m benchmarks multislice

bench-queueing: $(ENV) ## Measure 2,000 jobs in three layouts of queues on a twin (three quarters of an hour)
	@$(BIN)/python -m benchmarks queueing

soak: $(ENV) ## Create and delete a small platform twenty times under load
	@$(BIN)/python -m benchmarks soak

pages: $(ENV) generate ## Write the outputs of all pages of the documentation, from a twin
	@$(BIN)/tpuplane-twin build
	@TPUPLANE_PAGES=write $(BIN)/pytest tests/e2e/local_stack/test_pages.py
	@TPUPLANE_PAGES=write $(BIN)/pytest -m long tests/e2e/programs/test_first_repository.py

docs: export NO_MKDOCS_2_WARNING := 1
docs: $(ENV) ## Build the documentation as a site
	@$(BIN)/mkdocs build --strict
	@echo "the site is in .site/html; to read it: $(BIN)/python -m http.server -b 127.0.0.1 -d .site/html"

wheels: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
wheels: $(ENV) ## Build the wheels in dist
	@$(BIN)/uv build --quiet --wheel --all-packages --out-dir $(DIST) && ls $(DIST)/*.whl

sbom: $(ENV) ## Write the list of the packages' dependencies (CycloneDX) to dist
	@mkdir -p $(DIST)
	@$(BIN)/uv export --quiet --frozen --all-packages --all-extras --no-dev --format cyclonedx1.5 --output-file $(DIST)/tpuplane.cdx.json > /dev/null
	@sed -i -E 's!^( *)"name": "(tpuplane(-policies|-standins|-twin)?)",!&\n\1"version": "$(VERSION)",\n\1"purl": "pkg:pypi/\2@$(VERSION)",!' $(DIST)/tpuplane.cdx.json

audit: $(ENV) ## Look for known vulnerabilities of the Python packages (asks osv.dev)
	@$(BIN)/uv audit --frozen

cloud: $(ENV) ## Check Google Cloud (PROJECT=… ZONE=…; costs money, and asks first)
	@$(BIN)/python -m conformance run --project "$(PROJECT)" --zone "$(ZONE)" --output $(or $(FILE),cloud.json)

cloud-compare: $(ENV) ## Compare its result with one of a twin (FILE=cloud.json TWIN=twin.json)
	@$(BIN)/python -m conformance compare "$(FILE)" "$(TWIN)"

notes: ## Write the changelog of this version to dist
	@mkdir -p $(DIST)
	@sed -n '/^## $(VERSION) /,/^## /{/^## /!p}' CHANGELOG.md > $(DIST)/notes.md && grep -q . $(DIST)/notes.md

outdated: $(ENV) ## List newer versions of what is pinned
	@$(BIN)/python -m scripts.outdated

$(ENV): uv.lock pyproject.toml components/tpuplane/VERSION $(wildcard */pyproject.toml)
	@scripts/bootstrap.sh
