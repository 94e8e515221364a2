"""The rows of `rules.yaml`, as descriptions of a platform: its right side, and its wrong one laid over it."""

from __future__ import annotations

import copy
from typing import Any

import yaml

from tests.support import TESTS

ROWS: list[dict[str, Any]] = yaml.safe_load((TESTS / "unit/spec/rules.yaml").read_text(encoding="utf-8"))
BASE: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "reservations": {
        "nightly": {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "maintenanceInterval": "PERIODIC"},
        "tomorrow": {"generation": "v6e", "zone": "us-central1-b", "chips": 64, "active": False},
    },
    "clusters": {"main": {"location": "us-central1", "pools": {"trainer": {}}}},
}


def names(rows: list[dict[str, Any]]) -> list[str]:
    """A name for each row."""
    return [row["rule"] for row in rows]


def described(*sides: dict[str, Any]) -> dict[str, Any]:
    """The base with each side of a row laid over it; null takes a field of a pool away.

    `gpu` is a pool of GPU nodes, in the place of the other one unless the row describes both; `beside` are clusters
    beside the first.
    """
    whole = copy.deepcopy(BASE)
    cluster = whole["clusters"]["main"]
    pool, gpu = cluster["pools"]["trainer"], {}
    for side in sides:
        for part, at in (("platform", whole), ("cluster", cluster), ("pool", pool), ("gpu", gpu)):
            at.update(copy.deepcopy(side.get(part, {})))
        for name, changes in side.get("beside", {}).items():
            whole["clusters"].setdefault(name, {}).update(copy.deepcopy(changes))
    if gpu:
        cluster["gpuPools"] = {"serving": _without_nulls(gpu)}
    cluster["pools"] = {} if gpu and not pool else {"trainer": _without_nulls(pool)}
    return whole


def _without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if value is not None}
