"""A stack that the last release made previews as unchanged: every resource keeps its URN, its aliases and its inputs.

`python tests/components/test_landed_state.py` writes `landed_state.json` again. Do so only where a change of what
stacks hold is meant, and say in the CHANGELOG what an update does to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tpuplane import ComputeClass, GpuNodePool, TpuNodePool
from tpuplane.args import ClassPriorityArgs

from tests.support.components.deployment import Deployment, Registration, deploy, deploy_platform, shipped
from tests.support.components.every_part import REF, everything

pytestmark = pytest.mark.components

GOLDEN = Path(__file__).with_name("landed_state.json")
LOCAL = Path(__file__).parents[2] / "stacks" / "Pulumi.local.yaml"


def state(deployed: Deployment) -> dict[str, str]:
    """Each resource as the state has it: the types of its parents, its type and its name; a hash of the rest."""
    return dict(
        sorted(
            (_name(deployed, registration), _digest(registration)) for registration in deployed.registrations.values()
        )
    )


def _name(deployed: Deployment, resource: Registration) -> str:
    line = [resource]
    while parent := deployed.parent(line[-1]):
        line.append(parent)
    return f"{'$'.join(ancestor.type for ancestor in reversed(line))}::{resource.name}"


def _digest(resource: Registration) -> str:
    aliases = [str(alias) for alias in resource.request.aliases]
    text = json.dumps([resource.inputs, aliases], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def components() -> None:
    """Every component that programs import."""
    everything()
    GpuNodePool("inference", {"cluster": REF, "accelerator": "nvidia-l4", "zones": ["us-central1-a"]})
    TpuNodePool("cubes", {"cluster": REF, "generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"})
    priority: ClassPriorityArgs = {"tpu": {"type": "v6e", "topology": "4x4", "count": 4}, "spot": False}
    ComputeClass("steady", {"cluster": REF, "priorities": [priority], "node_pool_auto_creation": {"enabled": True}})


PROGRAMS: dict[str, Callable[[], Deployment]] = {
    "platform": lambda: deploy_platform(shipped(LOCAL)),
    "components": lambda: deploy(components),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_stack_of_the_last_release_is_unchanged(program: str) -> None:
    assert state(PROGRAMS[program]()) == json.loads(GOLDEN.read_text())[program]


def test_other_inputs_and_other_parents_are_other_states() -> None:
    description = shipped(LOCAL)
    before = state(deploy_platform(description))
    key = next(iter(description["clusters"]))
    description["clusters"][key]["deletionProtection"] = not description["clusters"][key].get(
        "deletionProtection", True
    )
    after = state(deploy_platform(description))
    changed = {name.rpartition("$")[2] for name in before if before[name] != after[name]}
    assert changed == {f"gcp:container/cluster:Cluster::platform-{key}"}
    assert any(name.startswith("tpuplane:index:Platform$tpuplane:index:Cluster$") for name in before)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: state(made()) for name, made in PROGRAMS.items()}, indent=1) + "\n")
