"""A `pulumi` on PATH that knows the last update of a stack with operators of the user, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.spec import load_stack

from tests.support import REPOSITORY

STACK, DEFINITION = "stacks/Pulumi.lab.yaml", Path("addons/trainer.yaml")
"""The stack of the example with an own operator, and its definition: places below its folder."""

Metadata = dict[str, Any]


def updated_example(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Copy the example, which is then the current folder, and put a `pulumi` on PATH after its first update."""
    shutil.copytree(REPOSITORY / "examples" / "kubeflow-trainer", folder / "project")
    pulumi = folder / "bin" / "pulumi"
    pulumi.parent.mkdir()
    page = f'file="{folder}/$2"; [ ! -e "$file-${{10}}" ] || file=$file-${{10}}'  # of the history
    pulumi.write_text(f'#!/bin/sh\necho $2 >> {folder}/calls\n{page}\nexec cat "$file"\n')
    pulumi.chmod(0o755)
    patch.setenv("PATH", str(pulumi.parent), prepend=os.pathsep)
    patch.chdir(folder / "project")
    update(folder)
    return folder


def configuration() -> dict[str, str]:
    """The configuration of the stack file as text, as Pulumi has it."""
    config = yaml.safe_load(Path(STACK).read_text())["config"]
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}


def update(folder: Path, change: Callable[[Metadata], object] = lambda metadata: None) -> None:
    """Write history and state as `pulumi up` leaves them, with a change to the metadata of each operator's marker."""
    config = {key: {"value": text} for key, text in configuration().items()}
    (folder / "history").write_text(json.dumps([{"kind": "update", "result": "succeeded", "config": config}]))
    urn = "urn:pulumi:lab::kubeflow-trainer::tpuplane:index:Platform"
    resources: list[dict[str, Any]] = [{"urn": f"{urn}::lab", "type": "tpuplane:index:Platform"}]
    for addon in filter(lambda addon: addon.definition, plan(load_stack(STACK)).clusters[0].addons):
        metadata: Metadata = {"annotations": {"tpuplane.dev/definition": json.dumps(addon.definition)}}
        change(metadata)
        marker = f"{urn}$kubernetes:core/v1:ConfigMap::lab-main-addons-{addon.key}-ready"
        resources.append({"urn": marker, "type": "kubernetes:core/v1:ConfigMap", "inputs": {"metadata": metadata}})
    (folder / "export").write_text(json.dumps({"deployment": {"resources": resources}}))
