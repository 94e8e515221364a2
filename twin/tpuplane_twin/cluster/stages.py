"""What simulated nodes and pods do by themselves: kwok's own stages, with the changes of `data/stages.yaml`."""

from pathlib import Path
from typing import Any

import yaml
from tpuplane.data_files import read_data

from tpuplane_twin.cluster.runner.images import selector

_FOLDER = Path("kustomize") / "stage"


def stages(module: Path, *, ray: bool = False) -> list[dict[str, Any]]:
    """The stages for kwok's configuration, read from kwok's own module folder; `ray`: Ray's pods are processes."""
    return [_stage(entry, module / _FOLDER, ray=ray) for entry in read_data("tpuplane_twin.cluster", "stages")]


def _stage(entry: dict[str, Any], folder: Path, *, ray: bool) -> dict[str, Any]:
    stage: dict[str, Any] = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {},
        "spec": {"resourceRef": {"apiGroup": "v1", "kind": "Pod"}, "selector": {"matchExpressions": []}},
    }
    if "file" in entry:
        stage = yaml.safe_load((folder / entry["file"]).read_text())
    if "name" in entry:
        stage["metadata"]["name"] = entry["name"]
    spec = stage["spec"]
    spec["selector"]["matchExpressions"] += entry.get("matches", [])
    if "images" in entry:
        spec["selector"]["matchExpressions"].append({**selector(ray=ray), "operator": entry["images"]})
    if "status" in entry:
        spec["next"] = {"statusTemplate": entry["status"]}
    for jitter in entry.get("without-delays", ()):
        spec["delay"].pop(jitter, None)
    return stage
