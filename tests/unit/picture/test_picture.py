"""The picture shows what the plan says: every slice, host and chip, once; and it is an SVG whatever the names are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tpuplane.picture import draw
from tpuplane.picture.shapes import slice_shape
from tpuplane.plan import PlatformPlan, plan
from tpuplane.plan.summary import PoolSummary, system_nodes
from tpuplane.spec import load_stack
from tpuplane.tpu import Slice, catalogue

pytestmark = pytest.mark.unit

ACME = Path(__file__).parents[1] / "acme.yaml"
SVG = "{http://www.w3.org/2000/svg}"
SLICES = [
    Slice.of(generation.name, topology, machine.name)
    for generation in catalogue().generations
    for topology in generation.topologies
    for machine in generation.machines_for(topology)
]


@pytest.fixture(scope="module")
def acme() -> PlatformPlan:
    return plan(load_stack(ACME))


@pytest.mark.parametrize("shape", SLICES, ids=lambda shape: f"{shape}-{shape.machine.name}")
def test_a_slice_is_drawn_with_all_its_hosts_and_chips_inside_its_frame(shape: Slice) -> None:
    drawn = slice_shape(shape)
    frame, hosts, chips = (ElementTree.fromstring(line) for line in drawn.lines)
    assert hosts.attrib["d"].count("M") == shape.hosts
    assert chips.attrib["d"].count("M") == shape.chips
    assert (float(frame.attrib["width"]), float(frame.attrib["height"])) == (drawn.width, drawn.height)
    for path in (hosts, chips):
        for rectangle in path.attrib["d"].rstrip("z").split("z"):
            corner, rest = rectangle.removeprefix("M").split("h", 1)
            x, y = map(float, corner.split())
            width, height = map(float, rest.split("h")[0].split("v"))
            assert 0 < x < x + width < drawn.width
            assert 0 < y < y + height < drawn.height


def test_one_slice_is_counted_as_one(tmp_path: Path) -> None:
    stack = tmp_path / "Pulumi.one.yaml"
    stack.write_text(
        "config: {'gcp:project': tpu-lab, 'tpuplane:platform': {name: lab, clusters: {main: {location: us-central1,"
        " pools: {trainer: {generation: v6e, topology: 4x4}}}}}}"
    )
    assert "· 1 slice · 4 TPU hosts and 16 chips" in draw(plan(load_stack(stack)))


def test_every_slice_and_every_cpu_node_is_drawn_once(acme: PlatformPlan) -> None:
    drawn = Counter((use.attrib["class"], use[0].text) for use in ElementTree.fromstring(draw(acme)).iter(f"{SVG}use"))
    wanted: Counter[tuple[str, str]] = Counter()
    for cluster in acme.clusters:
        low, high = system_nodes(cluster)
        wanted.update({("cpu", "system"): low, ("cpu later", "system"): high - low})
        for pool in PoolSummary.of(cluster.tpu_pools):
            names = pool.node_pools if pool.hardware.hosts > 1 else pool.node_pools * pool.max_slices
            for index, name in enumerate(names):
                wanted[pool.capacity if index < pool.min_slices else f"{pool.capacity} later", name] += 1
    assert drawn == wanted


def test_every_shape_that_is_used_is_defined_once(acme: PlatformPlan) -> None:
    root = ElementTree.fromstring(draw(acme))
    defined = [shape.attrib["id"] for shape in root.find(f"{SVG}defs") or []]
    used = {use.attrib["href"].removeprefix("#") for use in root.iter(f"{SVG}use")}
    assert sorted(defined) == sorted(used)


def test_names_cannot_break_out_of_the_picture(acme: PlatformPlan) -> None:
    name = "<script>&'\"</script>"
    cluster = replace(acme.clusters[0], name=name)
    pools = tuple(replace(pool, name=name, pool=name, zones=(name,)) for pool in cluster.tpu_pools[:1])
    root = ElementTree.fromstring(draw(replace(acme, name=name, clusters=(replace(cluster, pools=pools),))))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts.count(name) == 4
    assert [element.tag for element in root.iter() if "script" in element.tag] == []


def test_it_is_readable_on_light_and_on_dark(acme: PlatformPlan) -> None:
    style = ElementTree.fromstring(draw(acme)).find(f"{SVG}style")
    assert style is not None
    assert style.text is not None
    light, dark = style.text.split("@media (prefers-color-scheme: dark)")
    for color in ("page", "card", "on-demand", "spot", "reservation", "flex-start", "cpu"):
        assert f".{color} {{" in light
        assert f".{color} {{" in dark


def test_an_empty_platform_is_a_picture_too(acme: PlatformPlan) -> None:
    empty = replace(acme, clusters=tuple(replace(cluster, pools=()) for cluster in acme.clusters))
    assert ElementTree.fromstring(draw(empty)).tag == f"{SVG}svg"


def test_the_same_plan_is_the_same_picture_in_every_process(acme: PlatformPlan) -> None:
    code = (
        "import sys; from tpuplane.picture import draw; from tpuplane.plan import plan; "
        "from tpuplane.spec import load_stack; sys.stdout.write(draw(plan(load_stack(sys.argv[1]))))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    line = [sys.executable, "-c", code, str(ACME)]
    done = subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == draw(acme)
