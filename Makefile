# Every target is one line; what it calls is a command that you can type yourself.
BIN := .venv/bin
.PHONY: up down test unit lint types bench clean-cache

up: .venv ; @$(BIN)/tpuplane check stacks/Pulumi.local.yaml && $(BIN)/tpuplane-twin rehearse local
down: .venv ; @$(BIN)/tpuplane-twin down
test: .venv lint types ; @$(BIN)/pytest
unit: .venv ; @$(BIN)/pytest -m "unit or components or policies"
lint: .venv ; @$(BIN)/ruff check . && $(BIN)/ruff format --check .
types: .venv ; @$(BIN)/mypy
bench: .venv ; @$(BIN)/python -m benchmarks
.venv: uv.lock pyproject.toml components/pyproject.toml twin/pyproject.toml policies/pyproject.toml ; @scripts/bootstrap.sh
