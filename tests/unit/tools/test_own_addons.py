"""Operators of the user: what the twin builds of them, and what it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tpuplane.spec.addons.catalogue import AddonDefinition
from tpuplane_twin.pods.images import Images, images_of_addons
from tpuplane_twin.tools import ToolError, build_addon, ensure, ensure_everything
from tpuplane_twin.tools.addons import own_addons

pytestmark = pytest.mark.unit

DEFINITION = {
    "title": "Trainer",
    "chart": {"name": "trainer", "version": "2.2.1", "repository": "oci://charts.example.com"},
    "image": {"repository": "example.com/acme/trainer", "tag": "v2.2.1"},
    "namespace": "trainer",
    "goModule": {
        "path": "example.com/trainer",
        "version": "v2.2.1",
        "package": "cmd/manager",
        "chart": "charts/trainer",
    },
    "values": {"jobset": {"install": False}},
}
DEPENDENCIES = [
    {"name": "jobset", "condition": "jobset.install"},
    {"name": "lws", "condition": "dataCache.enabled,dataCache.lws.install"},
]


@pytest.fixture
def module(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The chart in the module, which a `go` that only says so has downloaded."""
    monkeypatch.setenv("TPUPLANE_CACHE", str(tmp_path / "cache"))
    chart = tmp_path / "module" / "charts" / "trainer"
    (chart / "templates").mkdir(parents=True)
    (chart / "templates" / "manager.yaml").write_text("kind: Deployment\n")
    (chart / "values.yaml").write_text("dataCache: {enabled: false, lws: {install: true}}\n")
    (chart / "Chart.yaml").write_text(
        yaml.safe_dump({"name": "trainer", "version": "2.2.1", "dependencies": DEPENDENCIES})
    )
    return chart


def build(**changes: object) -> None:
    build_addon("trainer", AddonDefinition.model_validate(DEFINITION | changes), lambda status: None)


def test_its_program_its_image_and_its_chart_are_kept(module: Path, tmp_path: Path) -> None:
    assert (own_addons(), images_of_addons()) == ([], [])
    build()
    (addon,) = own_addons()
    chart = addon.folder / addon.chart
    assert yaml.safe_load((chart / "Chart.yaml").read_text()) == {"name": "trainer", "version": "2.2.1"}
    assert (chart / "templates" / "manager.yaml").is_file()
    assert "get -tool example.com/trainer/cmd/manager@v2.2.1 GOFLAGS=-mod=mod" in (tmp_path / "calls.log").read_text()
    (image,) = images_of_addons()
    found = Images([image]).named("mirror.example/example.com/acme/trainer:v2.2.1@sha256:0")
    assert found is not None
    assert found.rejection("example.com/acme/trainer:v2.2.1") is None
    assert "use the tag v2.2.1" in str(found.rejection("example.com/acme/trainer:v2.2.0"))


def test_a_twin_that_starts_has_it(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build()
    monkeypatch.setattr("tpuplane_twin.tools.addons.ensure", lambda progress, more: [source.tools for source in more])
    assert ensure_everything() == [("addon-trainer",)]


def test_what_was_built_is_found_again(module: Path, tmp_path: Path) -> None:
    build()
    before = (tmp_path / "calls.log").read_text()
    (addon,) = own_addons()
    ensure([addon.tool], more=[addon.source])
    assert (tmp_path / "calls.log").read_text() == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"goModule": None}, "trainer: the twin builds an operator with goModule and image; .* has no goModule"),
        ({"image": None}, "the definition has no image"),
        ({"values": {}}, "the chart trainer needs the charts jobset, which its module does not contain; switch"),
        ({"values": {"jobset": {"install": False}, "dataCache": {"enabled": True}}}, "needs the charts lws"),
        ({"goModule": {**DEFINITION["goModule"], "chart": "charts"}}, "has no chart in charts; set goModule.chart"),  # type: ignore[dict-item]
    ],
)
def test_what_cannot_be_built_is_an_error_and_leaves_nothing(
    changes: dict[str, object], message: str, module: Path
) -> None:
    with pytest.raises(ToolError, match=message):
        build(**changes)
    assert own_addons() == []


def test_a_chart_keeps_the_dependencies_that_it_contains(module: Path) -> None:
    (module / "charts" / "jobset").mkdir(parents=True)
    build(values={})
    (addon,) = own_addons()
    chart = yaml.safe_load((addon.folder / addon.chart / "Chart.yaml").read_text())
    assert chart["dependencies"] == DEPENDENCIES[:1]
