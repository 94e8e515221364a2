"""A rehearsal shows one stack of several on a twin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from tpuplane_twin.cli import rehearse, scenarios, show
from tpuplane_twin.cli.scenarios import _twin_for
from tpuplane_twin.daemon.client import TwinClient, TwinError
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.rehearsal.records import Timeline

from tests.support.twin_status import cluster, pool, status

pytestmark = pytest.mark.unit


def named(name: str) -> dict[str, Any]:
    pools = [pool(name="trainer-0", status="RUNNING", nodesReady=4)]
    return cluster(name=name, context=f"gke_p_l_{name}", project="p", location="l", nodePools=pools)


CLUSTERS = [named(name) for name in ("lab", "lab-two", "mine")]


@pytest.mark.parametrize(
    ("ids", "clusters"),
    [
        (["projects/p/locations/l/clusters/mine", "projects/p/global/networks/mine"], ["gke_p_l_mine"]),
        (["projects/p/locations/l/clusters/lab/nodePools/added"], ["gke_p_l_lab"]),
        ([None], []),
    ],
)
def test_a_stack_has_the_clusters_that_it_makes_or_adds_to(ids: list[str | None], clusters: list[str]) -> None:
    resources = [{"id": identity} if identity else {} for identity in ids]
    assert [found["context"] for found in CLUSTERS if rehearse._is_used(found, resources)] == clusters


def test_the_samples_workers_are_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    sample = {"context": "gke_p_l_mine", "workersByNodePool": {"trainer-0": 4}, "manifest": "ray.yaml", "headOn": "-"}
    contexts = ["gke_p_l_lab", "gke_p_l_mine"]
    result = {"status": status(clusters=CLUSTERS), "contexts": contexts, "sample": sample, "seconds": 1.0}
    show.print_rehearsal("local", "mine", result)
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines() if line.startswith("trainer-0")]
    assert [row[-1] for row in rows] == ["RUNNING", "4"], "of two clusters of the stack with such a pool"
    assert "lab-two" not in shown, "of another stack"
    assert "kubectl --context gke_p_l_mine get nodes" in shown


@pytest.mark.parametrize("error", [TwinError("`pulumi up` fails"), KeyboardInterrupt()])
def test_an_error_of_the_second_stack_comes_after_the_result_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    monkeypatch.setattr(scenarios, "require_stack_file", lambda *_: None)
    monkeypatch.setattr(TwinClient, "remove", lambda _: None)

    def on_stack(twin: TwinPaths, *given: Any, quiet: bool) -> Timeline:
        if given[1] == "two":
            raise error
        return Timeline(given[1], 0, (), ())

    monkeypatch.setattr(scenarios, "_on_stack", on_stack)
    file = tmp_path / "jobs.csv"
    file.write_text("team,shape,slices,minutes,priority,at\na,v6e 4x4,1,10,,0\n", encoding="utf-8")
    picture = tmp_path / "chips.svg"
    with pytest.raises(type(error)):
        scenarios.rehearse_files(TwinPaths.of("local"), [file], ["one", "two"], tmp_path, picture, as_json=True)
    assert list(json.loads(capsys.readouterr().out)["stacks"]) == ["one"]
    assert picture.exists()


@pytest.mark.parametrize("stack", ["Prod_1", "prod.eu", "org/dev", "a-stack-with-a-name-of-its-own"])
def test_a_stack_of_any_name_is_compared_on_a_twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: str) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    twin = _twin_for(TwinPaths.of("local"), stack)
    assert twin.name.startswith("local-against-")
    assert twin.name != _twin_for(TwinPaths.of("local"), f"{stack}x").name
    assert _twin_for(TwinPaths.of("local"), "prod").name == "local-against-prod"


def test_a_second_rehearsal_changes_nothing_on_the_twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    monkeypatch.setattr(scenarios, "bring_up", lambda paths: paths.make())
    monkeypatch.setattr(scenarios, "rehearse", lambda *_, **__: pytest.fail("`pulumi up` runs"))
    paths = TwinPaths.of("local").make()
    with TwinClient(paths).for_rehearsal() as free, pytest.raises(TwinError, match="another rehearsal runs"):
        assert free
        scenarios._on_stack(paths, cast(Any, None), "prod", tmp_path, {}, quiet=True)


def test_a_stack_that_is_named_twice_is_played_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path))
    monkeypatch.setattr(scenarios, "require_stack_file", lambda *_: None)
    played: list[str] = []

    def on_stack(twin: TwinPaths, *given: Any, quiet: bool) -> Timeline:
        played.append(twin.name)
        return Timeline(given[1], 0, (), ())

    monkeypatch.setattr(scenarios, "_on_stack", on_stack)
    file = tmp_path / "jobs.csv"
    file.write_text("team,shape,slices,minutes,priority,at\na,v6e 4x4,1,10,,0\n", encoding="utf-8")
    scenarios.rehearse_files(TwinPaths.of("local"), [file], ["prod", "prod"], tmp_path, None, as_json=True)
    assert played == ["local"]
    assert list(json.loads(capsys.readouterr().out)["stacks"]) == ["prod"]
