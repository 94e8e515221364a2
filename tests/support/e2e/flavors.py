"""The flavors of a cluster and their nodes."""

from __future__ import annotations

from typing import Any

from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest


def flavors_and_nodes(platform: PlatformUnderTest) -> dict[str, list[dict[str, Any]]]:
    """The nodes of every flavor, held against it. Drift on either side leaves work pending without end (cluster-toolkit
    pull 5965)."""
    nodes = platform.items(CENTRAL1, "nodes")
    topologies = {
        found_object["metadata"]["name"]: {level["nodeLabel"] for level in found_object["spec"]["levels"]}
        for found_object in platform.items(CENTRAL1, "topologies.kueue.x-k8s.io")
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for flavor in platform.items(CENTRAL1, "resourceflavors"):
        wanted = flavor["spec"]["nodeLabels"].items()
        own = [node for node in nodes if wanted <= node["metadata"]["labels"].items()]
        assert own, flavor["metadata"]["name"]
        tolerated = {toleration["key"] for toleration in flavor["spec"].get("tolerations", ())}
        for node in own:
            assert {taint["key"] for taint in node["spec"].get("taints", ())} == tolerated
            assert topologies[flavor["spec"]["topologyName"]] <= node["metadata"]["labels"].keys()
        found[flavor["metadata"]["name"]] = own
    return found
