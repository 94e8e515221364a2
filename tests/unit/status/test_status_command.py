"""`tpuplane status` asks the API server of a kubeconfig, and says in one line why it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.cli import app
from typer.testing import CliRunner, Result

from tests.support.status.api_server import KUEUE, ApiServer, group, kubeconfig, serving
from tests.support.status.lists import JOB, LISTS
from tests.support.status.queues import WORDS

pytestmark = pytest.mark.unit


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(LISTS) as made:
        yield made


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["status", *map(str, arguments)])


def lines(result: Result) -> list[str]:
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


def test_it_shows_slices_queues_holders_and_who_waits_why(server: ApiServer, tmp_path: Path) -> None:
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port))
    assert result.exit_code == 0, result.stderr
    shown = lines(result)
    assert "trainer-0 v6e 4x4 16 4/4 reservation research/runs" in shown
    assert "16 chips; 4 of 4 TPU hosts ready" in shown
    assert "research v6e-4x4 24 of 16, 8 borrowed, g2-standard-12 0 of 4 GPUs, cpu 1.5 of 24 cores" in shown
    assert "research/runs 500 8 chips on trainer-0" in shown
    assert f"research/waits 500 8 chips waits: {WORDS[0]['plain']}" in shown


def test_a_job_that_kueue_makes_nothing_of_is_shown_too(server: ApiServer, tmp_path: Path) -> None:
    """One whose priority class is not there, say; those that Kueue knows, that run or are part of another are not."""
    server.groups += [group("batch", "v1"), group("jobset.x-k8s.io", "v1alpha2")]
    queued = {"namespace": "research", "labels": {"kueue.x-k8s.io/queue-name": "default"}}

    def job(name: str, *, suspend: bool = True, **metadata: Any) -> dict[str, Any]:
        made = {**queued, "name": name, "uid": name, "creationTimestamp": "2026-11-21T10:00:00Z", **metadata}
        return {"metadata": made, "spec": {"suspend": suspend}}

    part = [{"kind": "JobSet", "name": "typo", "uid": "typo"}]
    server.lists["/apis/batch/v1/jobs"] = [job("typo-0", ownerReferences=part), job("going", suspend=False)]
    server.lists["/apis/jobset.x-k8s.io/v1alpha2/jobsets"] = [job("typo"), job("waits")]
    shown = run("--kubeconfig", kubeconfig(tmp_path, server.server_port))
    assert shown.exit_code == 0, shown.stderr
    assert [line.split()[0] for line in lines(shown) if line.startswith("research/")] == [
        "research/runs",
        "research/waits",
        "research/typo",
    ]
    assert any(line.startswith("research/typo 0 waits: Kueue has created no workload for it") for line in lines(shown))


def test_pods_without_a_node_say_why_inside_and_outside_of_queues(server: ApiServer, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, server.server_port)
    waiting = {
        "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/4 nodes are available: 4 full. x"}]
    }
    alone = {"metadata": {"name": "alone", "namespace": "default", "uid": "1"}, "spec": {"containers": []}}
    held = {"metadata": {**JOB["metadata"], "uid": "2"}, "spec": {"containers": JOB["spec"]["containers"]}}
    server.lists["/api/v1/pods"] = [{**pod, "status": waiting} for pod in (alone, held)]
    server.lists["/api/v1/events"] = [
        {
            "metadata": {"name": "e", "resourceVersion": "1"},
            "involvedObject": {"kind": "Pod", "uid": "2"},
            "reason": "NotTriggerScaleUp",
            "message": "pod didn't trigger scale-up: 1 max node group size reached",
        }
    ]
    shown = lines(run("--kubeconfig", file))
    why = "waits: its pod has no node: 0/4 nodes are available: 4 full"
    assert f"default/alone {why}" in shown
    assert f"research/runs 500 8 chips {why}; pod didn't trigger scale-up: 1 max node group size reached" in " ".join(
        shown
    )


def test_json_says_the_same(server: ApiServer, tmp_path: Path) -> None:
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port), "--context", "lab", "--json")
    (cluster,) = json.loads(result.stdout)["clusters"]
    assert cluster["context"] == "lab"
    assert [pool["heldBy"] for pool in cluster["nodePools"]] == [["research/runs"]]
    assert [job["state"] for job in cluster["queues"][0]["workloads"]] == ["admitted", "waiting"]


def test_kubectls_own_variable_names_the_kubeconfig(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:{kubeconfig(tmp_path, server.server_port)}")
    assert "trainer-0" in run().stdout


@pytest.mark.parametrize("command", [["status"], ["why", "train"]])
def test_an_api_server_that_does_not_list_its_kinds_yet(server: ApiServer, tmp_path: Path, command: list[str]) -> None:
    server.groups = []
    result = CliRunner().invoke(app, [*command, "--kubeconfig", str(kubeconfig(tmp_path, server.server_port))])
    assert result.exit_code == 3
    assert "(context lab) has just started, and does not list its kinds of objects yet; repeat" in result.stderr


def test_a_cluster_without_kueue_has_no_queues(server: ApiServer, tmp_path: Path) -> None:
    server.groups = server.groups[:1]
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port))
    assert result.exit_code == 0, result.stderr
    assert "no queues: Kueue is not installed in this cluster" in result.stdout
    assert not any("kueue" in path for path in server.asked)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "rejects the credentials of context lab: nodes is forbidden; on GKE: gcloud auth login"),
        (403, "rejects the request: nodes is forbidden. "),
        (500, "answers 500: nodes is forbidden"),
    ],
)
def test_a_rejection_names_its_cause_and_remedy(server: ApiServer, tmp_path: Path, status: int, said: str) -> None:
    server.rejection = status
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port))
    assert result.exit_code == 3
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_server_that_is_not_an_api_server_is_reported(server: ApiServer, tmp_path: Path) -> None:
    server.page = b"<html>Sign in</html>"
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port))
    assert result.exit_code == 3
    assert "answers 200: without a message of Kubernetes" in result.stderr


def test_no_cluster_answers(server: ApiServer, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, server.server_port)
    server.server_close()
    result = run("--kubeconfig", file)
    assert result.exit_code == 3
    assert f"no cluster answers at http://127.0.0.1:{server.server_port} (context lab)" in result.stderr
    assert result.stderr.endswith("or, on a twin, run `tpuplane-twin up`\n")


def test_an_error_of_tls_is_one_line(server: ApiServer, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, server.server_port)
    file.write_text(file.read_text().replace("http://", "https://"))
    result = run("--kubeconfig", file)
    assert result.exit_code == 3
    assert result.stderr.startswith(
        f"error: no cluster answers at https://127.0.0.1:{server.server_port} (context lab): "
    )
    assert "SSL" in result.stderr


def test_a_kind_that_its_group_lacks_is_empty(server: ApiServer, tmp_path: Path) -> None:
    """As with an older Kueue, or while the definitions of an operator are installed."""
    del server.lists[f"{KUEUE}cohorts"]
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port))
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_credential_plugin_that_fails_is_the_cause(server: ApiServer, tmp_path: Path) -> None:
    """The client would go on without credentials, and the rejection would hide why."""
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": str(tmp_path / "plugin")}
    result = run("--kubeconfig", kubeconfig(tmp_path, server.server_port, {"exec": plugin}))
    assert result.exit_code == 3
    assert "no credentials for context lab: " in result.stderr
    assert str(tmp_path / "plugin") in result.stderr
    assert result.stderr.endswith("; on GKE: install gke-gcloud-auth-plugin, and run gcloud auth login\n")
    assert server.asked == []


@pytest.mark.parametrize(
    ("arguments", "current", "said"),
    [
        (("--context", "prod"), "lab", "has no context 'prod'; allowed: lab"),
        ((), "", "has no current context; name one with --context; allowed: lab"),
    ],
)
def test_an_unknown_context_is_a_usage_error(
    tmp_path: Path, arguments: tuple[str, ...], current: str, said: str
) -> None:
    result = run("--kubeconfig", kubeconfig(tmp_path, 9, current=current), *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("text", [None, "", "no mapping", "a: [", "{kind: Config}"])
def test_a_file_that_is_no_kubeconfig_is_a_usage_error(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "kubeconfig"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    result = run("--kubeconfig", file)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {file}")


def two_contexts(folder: Path, port: int) -> Path:
    file = kubeconfig(folder, port)
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    config["contexts"].append({"name": "other", "context": {"cluster": "other", "user": "me"}})
    config["clusters"].append({"name": "other", "cluster": {"server": "http://127.0.0.1:9"}})
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return file


def test_the_other_contexts_are_named(server: ApiServer, tmp_path: Path) -> None:
    file = two_contexts(tmp_path, server.server_port)
    assert run("--kubeconfig", file).stdout.startswith("lab, 1 of 2 contexts; --all shows all\n")
    assert run("--kubeconfig", file, "--context", "lab").stdout.startswith("lab\n")


def test_a_cluster_that_does_not_answer_does_not_hide_the_others(server: ApiServer, tmp_path: Path) -> None:
    result = run("--kubeconfig", two_contexts(tmp_path, server.server_port), "--all")
    assert result.exit_code == 3
    assert "trainer-0" in result.stdout
    assert result.stderr.startswith("error: no cluster answers at http://127.0.0.1:9 (context other)")


def test_a_stack_file_with_mistakes_or_without_the_cluster_is_named(server: ApiServer, tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, server.server_port)
    missing = run("--kubeconfig", file, "--stack", tmp_path / "Pulumi.none.yaml")
    assert missing.exit_code == 2
    stack = tmp_path / "Pulumi.lab.yaml"
    platform = {"name": "lab", "clusters": {"main": {"location": "us-central1"}}}
    stack.write_text(yaml.safe_dump({"config": {"tpuplane:platform": platform}}), encoding="utf-8")
    assert run("--kubeconfig", file, "--stack", stack).exit_code == 1
    stack.write_text(
        yaml.safe_dump({"config": {"gcp:project": "tpuplane-lab", "tpuplane:platform": platform}}), encoding="utf-8"
    )
    found = run("--kubeconfig", file, "--stack", stack)
    assert found.exit_code == 0
    assert f"{stack} has no cluster lab; it has: lab-main in us-central1" in found.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("status --kubeconfig {config} --context ", ["lab", "other"]),
        ("ui --kubeconfig {config} --context o", ["other"]),
        ("why --kubeconfig {config} --context lab res", ["research/waits"]),
        ("why --kubeconfig {config} --context lab -n research ", ["waits"]),
        ("why --kubeconfig {folder}/none --context lab ", []),
        ("diff --fail-on replaces-p", ["replaces-pools"]),
        ("diff --fail-on op", ["opens"]),
        ("why --kind Ray", ["RayCluster", "RayJob", "RayService"]),
        ("check {folder}/sta", ["{folder}/stacks/"]),
        ("plan {folder}/stacks/", ["{folder}/stacks/Pulumi.a.yaml"]),
        ("status --kubeconfig {folder}/kube", ["{folder}/kubeconfig"]),
    ],
)
def test_the_shell_completes(server: ApiServer, tmp_path: Path, words: str, offered: list[str]) -> None:
    server.groups.append(group("jobset.x-k8s.io", "v1alpha2"))
    server.lists["/apis/jobset.x-k8s.io/v1alpha2/jobsets"] = [
        {"metadata": {"name": "waits", "namespace": "research", "uid": "w"}},
        {"metadata": {"name": "part", "namespace": "research", "uid": "p", "ownerReferences": [{"kind": "RayJob"}]}},
    ]
    (tmp_path / "stacks").mkdir()
    for name in ("Pulumi.a.yaml", "README.md", ".hidden.yaml"):
        (tmp_path / "stacks" / name).touch()
    places = {"config": two_contexts(tmp_path, server.server_port), "folder": tmp_path}
    typed = f"tpuplane {words.format(**places)}"
    variables = {"_TPUPLANE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    result = CliRunner().invoke(app, [], prog_name="tpuplane", env=variables)
    assert result.stdout.split() == [choice.format(**places) for choice in offered]
