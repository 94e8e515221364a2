"""The program that a benchmark writes from a state registers what the program of that state has registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.written_out import program
from tests.support.components.deployment import Deployment, Inputs, deploy, deploy_platform, shipped

pytestmark = pytest.mark.components

LOCAL = Path(__file__).parents[2] / "stacks" / "Pulumi.local.yaml"


def state(deployed: Deployment) -> Inputs:
    """What `pulumi stack export` has of the resources, as far as programs decide it."""
    resources = [
        {
            "urn": registration.urn,
            "type": registration.type,
            "custom": registration.custom,
            "parent": registration.request.parent if deployed.parent(registration) else "",
            "inputs": registration.inputs,
            "dependencies": list(registration.request.dependencies),
            "provider": registration.request.provider,
            "ignoreChanges": list(registration.request.ignoreChanges),
        }
        for registration in deployed.registrations.values()
    ]
    return {"deployment": {"resources": resources}}


def test_a_program_from_a_state_registers_the_same_resources() -> None:
    ours = deploy_platform(shipped(LOCAL))
    code = compile(program(state(ours)), "resources.py", "exec")
    theirs = deploy(lambda: exec(code, {}))
    made = {(resource.type, resource.name): resource.inputs for resource in theirs.registrations.values()}
    assert made == {
        (resource.type, resource.name): resource.inputs for resource in ours.registrations.values() if resource.custom
    }
