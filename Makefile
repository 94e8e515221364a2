# Every target is one line; what it calls is a command that you can type yourself.
BIN := .venv/bin
ENV := .venv/.installed
# Each command imports the SDKs: to compile them every time would double the time of a preview.
export PYTHONDONTWRITEBYTECODE :=
.PHONY: up down test fast ray long browser lint types bench bench-gate soak generate wheels docs pages outdated

up: $(ENV) ; @$(BIN)/tpuplane check stacks/Pulumi.local.yaml && $(BIN)/tpuplane-twin rehearse local
down: $(ENV) ; @$(BIN)/tpuplane-twin down
FAST := tests/unit tests/components tests/policies tests/twin/gcp
test: $(ENV) lint types ; @$(BIN)/tpuplane-twin build && $(BIN)/pytest -n 2 $(FAST) && $(BIN)/pytest -n 2 --no-loadscope-reorder tests/e2e tests/twin tests/standins --ignore tests/twin/gcp
fast: $(ENV) ; @$(BIN)/pytest -n 2 $(FAST) -m "not engine and not ray and not long"
ray: $(ENV) ; @$(BIN)/tpuplane-twin build --ray && $(BIN)/pytest -m ray
long: $(ENV) ; @$(BIN)/tpuplane-twin build && $(BIN)/pytest -m long
browser: $(ENV) ; @$(BIN)/uv run --frozen --all-packages --group browser pytest -m browser tests/browser
lint: $(ENV) ; @$(BIN)/ruff check . && $(BIN)/ruff format --check .
types: $(ENV) ; @$(BIN)/mypy
bench: $(ENV) ; @$(BIN)/python -m benchmarks
bench-gate: $(ENV) ; @$(BIN)/python -m benchmarks gate
soak: $(ENV) ; @$(BIN)/python -m benchmarks soak
generate: $(ENV) ; @$(BIN)/python -m scripts.generate
outdated: $(ENV) ; @$(BIN)/python -m scripts.outdated
pages: $(ENV) generate ; @$(BIN)/tpuplane-twin build && export TPUPLANE_PAGES=write && $(BIN)/pytest tests/e2e/local_stack/test_pages.py && $(BIN)/pytest -m long tests/e2e/programs/test_first_repository.py
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(ENV) ; @$(BIN)/mkdocs build --strict && echo "the site is in .site/html; to read it: $(BIN)/python -m http.server -b 127.0.0.1 -d .site/html"
DIST := dist
wheels: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
wheels: $(ENV) ; @$(BIN)/uv build --quiet --wheel --all-packages --out-dir $(DIST) && ls $(DIST)/*.whl
$(ENV): uv.lock pyproject.toml components/tpuplane/VERSION components/pyproject.toml twin/pyproject.toml standins/pyproject.toml policies/pyproject.toml ; @scripts/bootstrap.sh
