"""The rows of `class_rules.yaml` as descriptions."""

from __future__ import annotations

import copy
from typing import Any

import yaml

from tests.support import TESTS

ROWS: list[dict[str, Any]] = yaml.safe_load((TESTS / "unit/spec/class_rules.yaml").read_text(encoding="utf-8"))
NAMES = [f"{row['rule']}-{row['line'].partition(':')[0]}" for row in ROWS]
BASE: dict[str, Any] = {
    "name": "lab",
    "project": "tpuplane-lab",
    "reservations": {
        "nightly": {"generation": "v6e", "zone": "us-central1-b", "chips": 64},
        "gpus": {"accelerator": "nvidia-h100-mega-80gb", "zone": "us-central1-a", "gpus": 64},
        "far": {"generation": "v6e", "zone": "us-east5-b", "chips": 64},
    },
    "clusters": {
        "main": {
            "location": "us-central1",
            "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}},
        }
    },
}


def described(side: dict[str, Any]) -> dict[str, Any]:
    """The base with a side of a row laid over it."""
    whole = copy.deepcopy(BASE)
    whole.update(side.get("platform", {}))
    whole["classes"] = side["classes"] if "classes" in side else {"main": side["class"]}
    cluster = whole["clusters"]["main"]
    cluster.update(side.get("cluster", {}))
    cluster["pools"]["trainer"].update(side.get("pool", {}))
    if cluster["location"] != "us-central1":
        cluster["pools"] = {}
    return whole
