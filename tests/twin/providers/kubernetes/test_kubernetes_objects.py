"""Create, change and delete objects of a real API server through the provider."""

from __future__ import annotations

import re
from typing import Any

import pytest
from kubernetes_driver import Diff, Driver, Refused

from tpuplane_twin.providers.kubernetes.values import UNKNOWN, Secret

pytestmark = pytest.mark.twin

NAMESPACE = "kubernetes:core/v1:Namespace"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
SECRET = "kubernetes:core/v1:Secret"
CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"


def config_map(namespace: str, **fields: Any) -> dict[str, Any]:
    metadata = {"namespace": namespace, **fields.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def test_namespace_lives_from_create_to_delete(provider: Driver) -> None:
    made = provider.make(NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "whole-life"}})
    assert made.id == "whole-life"
    assert made.state["metadata"]["uid"]
    assert made.state["__inputs"]["metadata"] == {"name": "whole-life"}
    assert made.state["__initialApiVersion"] == "v1"
    assert re.fullmatch(r"pulumi-kubernetes-[0-9a-f]{8}", made.state["__fieldManager"])

    unchanged = provider.diff(made, provider.recheck(made, made.inputs))
    assert not unchanged.detailedDiff and unchanged.changes == unchanged.DIFF_NONE

    provider.delete(made)
    assert provider.read(made).id == ""


def test_unnamed_object_gets_the_same_name_in_preview_and_update(provider: Driver, namespace: str) -> None:
    seed = b"seed of this resource"
    checked = [
        provider.check(CONFIG_MAP, config_map(namespace, data={"a": "1"}), name="settings", randomSeed=seed)
        for _ in range(2)
    ]
    names = {resource.inputs["metadata"]["name"] for resource in checked}
    assert len(names) == 1
    assert re.fullmatch(r"settings-[0-9a-f]{8}", names.pop())
    assert checked[0].inputs["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}

    made = provider.create(checked[0])
    kept = provider.recheck(made, config_map(namespace, data={"a": "1"}))
    assert kept["metadata"]["name"] == checked[0].inputs["metadata"]["name"]
