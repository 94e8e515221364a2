"""`tpuplane diff`: files, git revisions and stacks; classes that fail; the three outputs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from tpuplane.diff import classes
from typer.testing import CliRunner

from tests.support.git import git
from tests.support.status.api_server import KUEUE, kubeconfig, serving
from tests.support.status.hosts import node, pod
from tests.support.status.queues import LOCAL_QUEUE, QUEUE, workload

pytestmark = pytest.mark.unit

LAB = Path(__file__).parents[1] / "lab.yaml"


def diff(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["diff", *map(str, arguments)])


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The lab with another topology, and access to its control plane from everywhere."""
    stack = yaml.safe_load(LAB.read_text())
    cluster = stack["config"]["tpuplane:platform"]["clusters"]["central1"]
    cluster["pools"]["trainer"]["topology"] = "2x4"
    cluster["controlPlane"] = {"dnsEndpoint": True}
    file = tmp_path / "Pulumi.lab.yaml"
    file.write_text(yaml.safe_dump(stack))
    return file


def test_each_output_has_every_change(other: Path) -> None:
    text, table, values = diff(LAB, other), diff(LAB, other, "--markdown"), diff(LAB, other, "--json")
    assert (text.exit_code, table.exit_code, values.exit_code) == (0, 0, 0)
    found = json.loads(values.stdout)
    assert [(change["path"], change["class"]) for change in found["changes"]] == [
        ("clusters.central1.pools.trainer.topology", "replaces-pools"),
        ("clusters.central1.controlPlane.dnsEndpoint", "in-place"),
    ]
    assert [opening["path"] for opening in found["opens"]] == ["clusters.central1.controlPlane.dnsEndpoint"]
    assert (found["before"]["chips"], found["after"]["chips"]) == (104, 88)
    assert "Replaced in lab-central1: trainer-0, trainer-1 (8 nodes, 32 chips)." in text.stdout
    for change in found["changes"]:
        assert change["path"] in text.stdout
        assert f"| `{change['path']}` |" in table.stdout
        assert change["source"] in text.stdout


def test_of_a_long_list_only_the_items_of_one_side_are_named(tmp_path: Path) -> None:
    stack = yaml.safe_load(LAB.read_text())
    pool = stack["config"]["tpuplane:platform"]["clusters"]["central1"]["pools"]["trainer"]
    files = tmp_path / "Pulumi.old.yaml", tmp_path / "Pulumi.new.yaml"
    for file, last in zip(files, ("upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable"), strict=True):
        kept = [*(f"nodeConfig.property{number}" for number in range(9)), last]
        pool["adopted"] = {"names": ["trainer-0", "trainer-1"], "ignoreChanges": kept}
        file.write_text(yaml.safe_dump(stack))
    step = "trainer.adopted.ignoreChanges: adds [upgradeSettings.maxUnavailable]; removes [upgradeSettings.maxSurge]"
    assert step in diff(*files).stdout


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("a|b", r"`[{cidr: 203.0.113.0/24, name: a\|b}]`"),
        ("`|", r"`` [{cidr: 203.0.113.0/24, name: `\|}] ``"),
        ('"|', r"`[{cidr: 203.0.113.0/24, name: \\\|}]`"),
        ("\u202e", r"`[{cidr: 203.0.113.0/24, name: \\u202e}]`"),
    ],
)
def test_no_character_of_a_value_ends_its_cell(other: Path, name: str, cell: str) -> None:
    stack = yaml.safe_load(other.read_text())
    cluster = stack["config"]["tpuplane:platform"]["clusters"]["central1"]
    cluster["controlPlane"] = {"authorizedNetworks": [{"cidr": "203.0.113.0/24", "name": name}]}
    other.write_text(yaml.safe_dump(stack))
    path = "clusters.central1.controlPlane.authorizedNetworks"
    table = diff(LAB, other, "--markdown").stdout
    assert f"| `{path}` | {cell} | these address ranges reach the control plane |" in table
    assert "\u202e" not in diff(LAB, other).stdout


def test_two_formats_or_an_empty_name_are_an_error(other: Path) -> None:
    formats, empty = diff(LAB, other, "--json", "--markdown"), diff(LAB, "", "--fail-on", "opens")
    assert (formats.exit_code, "cannot be used with --markdown" in formats.output) == (2, True)
    assert (empty.exit_code, empty.stderr.partition(";")[0]) == (2, ". is a folder")


def test_nothing_changed() -> None:
    assert "No changes." in diff(LAB, LAB).stdout
    assert json.loads(diff(LAB, LAB, "--json").stdout)["changes"] == []
    assert diff(LAB, LAB, "--fail-on", "nothing", "--fail-on", "opens").exit_code == 0


@pytest.mark.parametrize("kind", [*classes(), "opens"])
def test_a_class_or_a_worse_one_fails(other: Path, kind: str) -> None:
    order = [*classes()]
    fails = kind == "opens" or order.index(kind) <= order.index("replaces-pools")
    assert diff(LAB, other, "--fail-on", kind).exit_code == (4 if fails else 0)


def test_an_unknown_class_is_an_error(other: Path) -> None:
    result = diff(LAB, other, "--fail-on", "replace-pools")
    assert result.exit_code == 2
    assert "is not a class" in result.output


def test_a_revision_and_the_last_commit(tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = other.read_text()
    other.write_text(LAB.read_text())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "the lab")
    other.write_text(new)
    monkeypatch.chdir(tmp_path)
    expected = diff(LAB, other).stdout
    assert diff(other.name).stdout == expected
    assert diff(f"HEAD:{other.name}", other.name).stdout == expected
    assert diff(f"HEAD:{other.name}", other.name, "--fail-on", "replaces-pools").exit_code == 4
    monkeypatch.chdir("/")
    assert diff(other).stdout == expected, "the file's own repository"


def test_what_git_does_not_have_is_reported(
    tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    remedy = "; name two stack files, or REVISION:PATH of a git repository as in `git show`\n"
    alone = diff(other.name)
    assert alone.exit_code == 2
    assert alone.stderr.startswith(f"HEAD:{other.name}: not a git repository")
    assert alone.stderr.endswith(remedy)
    assert diff("none.yaml").stderr == f"none.yaml does not exist; stack files there: {other.name}\n"
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-qm", "empty", "--allow-empty")
    for revision in ("HEAD:none.yaml", f"HEAD:{'x' * 300}", "none:none.yaml", "--version:x", other.name):
        missing = diff("--", revision, *([] if revision == other.name else [other.name]))
        assert (missing.exit_code, missing.stderr[-len(remedy) :]) == (2, remedy), missing.output
        assert revision in missing.stderr
        assert "fatal" not in missing.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    assert diff(other.name).stderr == f"HEAD:{other.name}: git is not on PATH{remedy}"
    assert capfd.readouterr().err == ""


def test_a_mistake_names_its_revision(tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other.write_text(other.read_text().replace("2x4", "4x5"))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "wrong")
    monkeypatch.chdir(tmp_path)
    result = diff(f"HEAD:{other.name}", LAB)
    assert result.exit_code == 1
    assert f"HEAD:{other.name}:" in result.output
    assert "'4x5' is not a v6e topology" in result.output


def program(folder: Path, history: str, code: int = 0) -> None:
    """A program called pulumi that prints this history."""
    file = folder / "pulumi"
    file.write_text(f"#!/bin/sh\ncat <<'END'\n{history}\nEND\necho no such stack >&2\nexit {code}\n")
    file.chmod(0o755)


def update(kind: str = "update", result: str = "succeeded") -> dict[str, object]:
    platform = yaml.safe_load(LAB.read_text())["config"]["tpuplane:platform"]
    return {"kind": kind, "result": result, "config": {"tpuplane:platform": {"value": json.dumps(platform)}}}


def test_the_last_update_of_a_stack(tmp_path: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    program(tmp_path, json.dumps([update("refresh"), update(), update(result="failed")]))
    assert diff("--deployed", "lab", other).stdout == diff(LAB, other).stdout
    for history, code, said in (
        ([update(result="failed"), update()], 0, "then run `pulumi up`. `pulumi preview`"),
        ([update("destroy"), update()], 0, "no resources"),
        ([update("destroy", "failed"), update()], 0, "then run `pulumi up` or `pulumi destroy`. "),
        ([], 0, "no resources"),
        ([], 1, "--deployed: no such stack; `pulumi stack ls` lists"),
        ([{**update(), "config": {"tpuplane:platform": {"value": "{"}}}], 0, "cannot read what `pulumi stack` prints"),
        ([{**update(), "config": None}], 0, "cannot read what `pulumi stack` prints"),
        ([{}], 0, "cannot read what `pulumi stack` prints"),
        ([{**update(), "config": {}}], 0, "in plain text in its configuration; run `pulumi preview`, or compare two"),
        ([{**update(), "config": {"tpuplane:platform": {"value": "v1:abc", "secret": True}}}], 0, "in plain text"),
    ):
        program(tmp_path, json.dumps(history), code)
        result = diff("--deployed", "lab", other)
        assert (result.exit_code, said in result.output) == (3, True), result.output
    for printed in ("", "warning: a new version", "[]\\n[]"):
        program(tmp_path, printed)
        result = diff("--deployed", "lab", other)
        assert (result.exit_code, "cannot read what `pulumi stack` prints" in result.stderr) == (3, True), result.output
    assert diff("--deployed", "lab", other, other).exit_code == 2
    empty = diff("--deployed", "", other)
    assert (empty.exit_code, "--deployed: the name of the stack is empty" in empty.stderr) == (3, True)


def test_the_jobs_that_hold_quota_or_hosts_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cluster itself: those that a change interrupts. A cluster that cannot be read is not a free one."""
    stack = yaml.safe_load(LAB.read_text())
    platform = stack["config"]["tpuplane:platform"]
    platform["clusters"]["central1"]["addons"] = {"kueue": {}, "jobset": {}}
    platform["teams"] = {"research": {"clusters": {"central1": {"pools": {"trainer": {"slices": 1}}}}}}
    former = json.dumps([{**update(), "config": {"tpuplane:platform": {"value": json.dumps(platform)}}}])
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    program(tmp_path, former)
    platform["clusters"]["central1"]["pools"]["trainer"]["topology"] = "2x4"
    file = tmp_path / "Pulumi.lab.yaml"
    file.write_text(yaml.safe_dump(stack))
    holds = workload("runs", "research", QuotaReserved=("True", ""))
    flavors = {"google.com/tpu": "v6e-4x4"}
    holds["status"]["admission"] = {"podSetAssignments": [{"name": "main", "count": 1, "flavors": flavors}]}
    busy = pod("research", "runs-0", "host", 4)
    lists = {
        "/api/v1/nodes": [node("host", "trainer-0")],
        "/api/v1/pods": [busy],
        KUEUE + "clusterqueues": [QUEUE],
        KUEUE + "localqueues": [LOCAL_QUEUE],
        KUEUE + "workloads": [holds, workload("waits", "research")],
    }
    with serving(lists) as server:
        config = kubeconfig(tmp_path, server.server_port)
        context = f"gke_{platform['project']}_us-central1_lab-central1"
        for name, code, said in ((context, 4, "Held by: research/runs"), ("other", 4, "")):
            described = yaml.safe_load(config.read_text())
            described["contexts"][0]["name"] = name
            config.write_text(yaml.safe_dump(described))
            result = diff("--deployed", "lab", file, "--kubeconfig", config, "--fail-on", "rejected")
            assert result.exit_code == code, result.output
            assert "holds quota of v6e-4x4" in result.stdout
            assert said in result.stdout
            assert ("Held by" in result.stdout) == bool(said)
            assert ("Jobs there now: research/runs-0." in result.stdout) == bool(said)
            assert ("the jobs in central1 are unknown" in result.stderr) != bool(said)
        described["contexts"][0]["name"] = context
        config.write_text(yaml.safe_dump(described))
        server.lists[KUEUE + "workloads"] = server.lists["/api/v1/pods"] = []
        free = diff("--deployed", "lab", file, "--kubeconfig", config, "--fail-on", "rejected")
        assert "Held by: no job now." in free.stdout
        assert "Jobs there now: none." in free.stdout
        assert free.exit_code == 0


def test_the_jobs_of_deleted_namespaces_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in queues, and those with chips outside of queues, although their node pools remain."""
    stack = yaml.safe_load(LAB.read_text())
    platform = stack["config"]["tpuplane:platform"]
    platform["clusters"]["central1"] |= {"addons": {"kueue": {}, "jobset": {}}, "namespaces": ["tools"]}
    quotas = {"central1": {"pools": {"trainer": {"slices": 1}}}}
    platform["teams"] = {"research": {"namespaces": ["research", "evals"], "clusters": quotas}}
    former = json.dumps([{**update(), "config": {"tpuplane:platform": {"value": json.dumps(platform)}}}])
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    program(tmp_path, former)
    file = tmp_path / "Pulumi.lab.yaml"
    lists = {
        "/api/v1/nodes": [node("host", "trainer-0")],
        "/api/v1/pods": [pod("evals", "alone", "host", 4), pod("tools", "shell", "host", 4)],
        KUEUE + "clusterqueues": [QUEUE],
        KUEUE + "localqueues": [LOCAL_QUEUE],
        KUEUE + "workloads": [workload("waits", "research")],
    }
    moved = {"product": {"namespaces": ["research"], "clusters": quotas}}
    renamed = {"research": {"namespaces": ["research"], "clusters": quotas}}
    with serving(lists) as server:
        config = kubeconfig(tmp_path, server.server_port)
        described = yaml.safe_load(config.read_text())
        described["contexts"][0]["name"] = f"gke_{platform['project']}_us-central1_lab-central1"
        config.write_text(yaml.safe_dump(described))
        for namespaces, teams, places, jobs in (
            (["tools"], {}, "evals, research", "evals/alone, research/waits"),
            (["tools"], renamed, "evals", "evals/alone"),
            (["tools"], moved, "evals", "evals/alone"),
            ([], platform["teams"], "tools", "tools/shell"),
            (["tools", "research", "evals"], {}, "", ""),
        ):
            central1 = {**platform["clusters"]["central1"], "namespaces": namespaces}
            later = {**platform, "teams": teams, "clusters": {**platform["clusters"], "central1": central1}}
            file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": later}}))
            result = diff("--deployed", "lab", file, "--kubeconfig", config)
            said = f"Jobs now in {places}, of queues or with chips or GPUs: {jobs}."
            assert (result.exit_code, said in result.stdout) == (0, bool(jobs)), result.output
        server.lists[KUEUE + "workloads"] = server.lists["/api/v1/pods"] = []
        file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": {**platform, "teams": {}}}}))
        assert (
            "in evals, research, of queues or with chips or GPUs: none."
            in diff("--deployed", "lab", file, "--kubeconfig", config).stdout
        )
        result = diff("--deployed", "lab", file, "--kubeconfig", tmp_path / "none", "--json")
        (unread,) = json.loads(result.stdout)["changes"]
        assert (unread["class"], unread["heldBy"]) == ("deletes-work", None)
