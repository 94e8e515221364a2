"""The program in infra/: short, the same for every stack, and rejecting in the words of `tpuplane check`."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path

import pulumi
import pytest
import yaml
from tpuplane.cli import app
from typer.testing import CliRunner

from tests.support.components.deployment import Deployment, Inputs, RecordingMonitor, deploy

pytestmark = pytest.mark.components

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "infra" / "__main__.py"


@pytest.fixture(autouse=True)
def clean_config() -> Iterator[None]:
    yield
    pulumi.runtime.set_all_config({})


def run(description: object, monitor: RecordingMonitor | None = None, **config: str) -> Deployment:
    """Run the program as the language host does, with this stack's config."""
    pulumi.runtime.set_all_config({"tpuplane:platform": json.dumps(description), **config})
    return deploy(lambda: runpy.run_path(str(PROGRAM), run_name="__main__"), monitor=monitor)


def test_the_program_is_read_in_a_minute() -> None:
    assert len(PROGRAM.read_text().splitlines()) < 60


def test_no_line_of_the_program_asks_where_it_runs() -> None:
    files = [PROGRAM, *(ROOT / "components/tpuplane/gke").glob("*.py")]
    asks = ("get_stack", "os.environ", "getenv", "is_dry_run", "twin", "localhost", "127.0.0.1", '"local"', '"prod"')
    found = {(path.name, word) for path in files for word in asks if word in path.read_text().lower()}
    # Missing hosts are an error of a preview and fail an update, unless a variable makes them a warning.
    assert found == {("pool_hosts.py", "os.environ"), ("pool_hosts.py", "is_dry_run")}


@pytest.mark.parametrize("stack", sorted((ROOT / "stacks").glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_every_stack_of_the_project_deploys(stack: Path) -> None:
    config = yaml.safe_load(stack.read_text())["config"]
    description = config.pop("tpuplane:platform")
    made = run(description, **config)
    clusters = made.all("container/cluster:Cluster")
    assert len(clusters) == len(description["clusters"])
    assert {cluster.inputs["project"] for cluster in clusters} == {config["gcp:project"]}


@pytest.mark.parametrize("stack", sorted((ROOT / "stacks").glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_no_stack_is_too_large_for_a_quick_preview(stack: Path) -> None:
    """A thousand resources take minutes. The objects of operators' charts come on top, some dozens in a cluster."""
    config = yaml.safe_load(stack.read_text())["config"]
    made = run(config.pop("tpuplane:platform"), **config)
    assert len(made.registrations) <= 300


def test_the_stack_exports_clusters_pools_and_kubeconfigs(lab: Inputs) -> None:
    assert run(lab).exports.keys() == {"clusters", "nodePools", "gpuNodePools", "kubeconfigs"}


def test_a_mistake_is_rejected_in_the_words_of_the_command_line(lab: Inputs, tmp_path: Path) -> None:
    lab["clusters"]["central1"]["pools"]["trainer"]["topology"] = "4x5"
    lab["clusters"]["central1"]["locaton"] = "here"
    with pytest.raises(pulumi.RunError) as rejection:
        run(lab)
    stack = tmp_path / "Pulumi.lab.yaml"
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": lab}}))
    said = CliRunner().invoke(app, ["check", str(stack)])
    assert said.exit_code != 0
    mistakes = [line.removeprefix("Platform platform: ") for line in str(rejection.value).splitlines()]
    assert len(mistakes) == 2
    assert mistakes[0].startswith("clusters.central1.")
    assert [line for line in mistakes if line not in said.output] == []
    assert rejection.value.__cause__ is None
    assert rejection.value.__suppress_context__


def test_a_mistake_is_rejected_before_anything_is_registered(lab: Inputs) -> None:
    lab["clusters"]["central1"]["pools"]["trainer"]["topology"] = "4x5"
    monitor = RecordingMonitor()
    with pytest.raises(pulumi.RunError):
        run(lab, monitor)
    assert [urn for urn in monitor.registrations if "tpuplane:index" in urn] == []


def test_a_stack_without_a_description_says_what_is_missing() -> None:
    pulumi.runtime.set_all_config({})
    with pytest.raises(pulumi.RunError, match="tpuplane:platform"):
        deploy(lambda: runpy.run_path(str(PROGRAM), run_name="__main__"))
