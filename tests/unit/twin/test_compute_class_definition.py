"""The twin's definition of ComputeClass: every field of it compared with a GKE cluster's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane_twin.cluster.compute_class import definition

pytestmark = pytest.mark.unit

# The output of `kubectl get crd computeclasses.cloud.google.com -o yaml` with a GKE cluster.
ORACLE = os.environ.get("TPUPLANE_GKE_COMPUTE_CLASS_CRD", "")
CONTAINERS = ("properties", "items", "additionalProperties")


def fields(schema: dict[str, Any], at: str = "") -> dict[str, dict[str, Any]]:
    """Every field by its path, with all that is said of it except prose; of its rules, what they answer."""
    said = {key: value for key, value in schema.items() if key not in (*CONTAINERS, "description")}
    said |= {key: sorted(said[key]) for key in ("required", "enum") if key in said}
    answers = sorted(rule["message"] for rule in said.pop("x-kubernetes-validations", []))
    found = {at: {**said, "answers": answers}}
    for name, field in schema.get("properties", {}).items():
        found |= fields(field, f"{at}.{name}")
    if "items" in schema:
        found |= fields(schema["items"], f"{at}[]")
    if "additionalProperties" in schema:
        found |= fields(schema["additionalProperties"], f"{at}{{}}")
    return found


@pytest.mark.skipif(not ORACLE, reason="TPUPLANE_GKE_COMPUTE_CLASS_CRD names no file")
def test_every_field_is_as_gke_has_it() -> None:
    real, own = yaml.safe_load(Path(ORACLE).read_text(encoding="utf-8"))["spec"], definition()["spec"]
    assert {key: own[key] for key in ("group", "names", "scope")} == {
        key: real[key] for key in ("group", "names", "scope")
    }
    theirs, ours = (fields(spec["versions"][0]["schema"]["openAPIV3Schema"]) for spec in (real, own))
    assert len(theirs) > 500
    assert ours == theirs
