"""GPU nodes in the picture: each once, in every zone, in the color of how it is bought."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

import pytest
from tpuplane.picture import draw
from tpuplane.plan import plan
from tpuplane.spec import parse_platform

pytestmark = pytest.mark.unit

SVG = "{http://www.w3.org/2000/svg}"


def test_every_gpu_node_is_drawn_once() -> None:
    pools = {
        "l4s": {
            "accelerator": "nvidia-l4",
            "zones": ["us-central1-a", "us-central1-b"],
            "capacity": "spot",
            "autoscaling": {"minNodes": 1, "maxNodes": 3},
        },
        "h100s": {"machineType": "a3-megagpu-8g", "zones": ["us-central1-a"], "nodes": 2},
    }
    clusters = {"main": {"location": "us-central1", "gpuPools": pools}}
    platform = plan(parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": clusters}))
    root = ElementTree.fromstring(draw(platform))
    drawn = Counter((use.attrib["class"], use[0].text) for use in root.iter(f"{SVG}use"))
    assert {key: count for key, count in drawn.items() if key[1] != "system"} == {
        ("spot", "l4s"): 2,
        ("spot later", "l4s"): 4,
        ("on-demand", "h100s"): 2,
    }
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert any("22 GPUs at full scale" in text for text in texts)
