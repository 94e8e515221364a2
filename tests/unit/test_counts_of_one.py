"""A number 1 is followed by a singular, in every output about a platform with one of everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from tpuplane.cli import app
from tpuplane.quantities import are, counted
from tpuplane.status.job_text import quota_text, rows
from tpuplane.status.reasons import helps, in_plain_words
from tpuplane.tpu import Slice
from typer.testing import CliRunner

from tests.support.status.api_server import kubeconfig, serving
from tests.support.status.hosts import host, node, pod
from tests.support.status.lists import LISTS

pytestmark = pytest.mark.unit

PLURAL = re.compile(r"\b1 (?:\w+ )?(?:chip|GPU|core|host|slice|node|pool|pod|job|cluster|zone)s\b")
POOL = {"generation": "v6e", "topology": "1x1", "zone": "us-east5-b"}


def stack(folder: Path, name: str, pool: dict[str, object]) -> str:
    """A stack file with one cluster, one pool and one team."""
    platform = {
        "name": "acme",
        "project": "acme-ml-lab",
        "clusters": {"east": {"location": "us-east5", "pools": {"trainer": pool}, "addons": {"kueue": {}}}},
        "teams": {"a": {"clusters": {"east": {"pools": {"trainer": {"slices": 1}}}}}},
    }
    file = folder / f"Pulumi.{name}.yaml"
    file.write_text(yaml.safe_dump({"config": {"tpuplane:platform": platform}}), encoding="utf-8")
    return str(file)


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_of_one_platform(tmp_path: Path) -> None:
    one = stack(tmp_path, "one", POOL)
    more = stack(tmp_path, "more", {**POOL, "diskSizeGb": 200})
    many_hosts = stack(tmp_path, "many-hosts", {**POOL, "topology": "4x4"})
    outputs = {
        "check": output("check", one),
        "plan": output("plan", one),
        "markdown": output("plan", one, "--markdown"),
        "diff": output("diff", one, more),
        "explain": output("explain", "pools.trainer", "--stack", one),
        "explain many hosts": output("explain", "pools.trainer", "--stack", many_hosts),
    }
    assert "1 chip" in outputs["markdown"]
    assert "1 chip," in outputs["diff"]
    assert [(name, found) for name, text in outputs.items() if (found := PLURAL.findall(text))] == []


def test_of_one_cluster(tmp_path: Path) -> None:
    gpu = node("g0", "notebooks", **{"cloud.google.com/gke-accelerator": "nvidia-l4"})
    gpu["status"]["capacity"]["nvidia.com/gpu"] = "1"
    waiting = {**pod("default", "two", "", 1), "status": {}}
    waiting["metadata"]["ownerReferences"] = []
    lists = {
        **LISTS,
        "/api/v1/persistentvolumeclaims": [],
        "/api/v1/resourcequotas": [],
        "/api/v1/nodes": [host("h0", "trainer", Slice.of("v6e", "1x1")), gpu],
        "/api/v1/pods": [pod("default", "one", "h0", 1), waiting],
    }
    with serving(lists) as server:
        file = str(kubeconfig(tmp_path, server.server_port))
        shown = output("status", "--kubeconfig", file)
        why = output("why", "default/two", "--kubeconfig", file)
    assert "1 chip, 1 GPU; 1 of 1 TPU host ready" in shown
    assert PLURAL.findall(shown + why) == []


def test_of_one_quota_and_one_job() -> None:
    quota = {"used": 1, "nominal": 1, "borrowed": 0, "over": 0}
    assert quota_text(quota, "chip", " of v6e-1x1") == "1 of 1 chip of v6e-1x1"
    assert quota_text({**quota, "nominal": 0}, "GPU") == "1 GPU without its own quota"
    empty = dict.fromkeys(("part", "owner", "reasons", "queue", "quotas", "needs", "unread", "problems"), ())
    job = {**empty, "pods": 1, "podsReady": 1, "nodePools": ["trainer"]}
    assert [*rows(job)] == [("pods", "1 of 1 pod is ready, on trainer")]
    assert (counted(1, "pool"), counted(1024, "pool"), counted(1.5, "core")) == ("1 pool", "1,024 pools", "1.5 cores")
    assert (are(1, "pod"), are(0, "pod")) == ("1 pod is", "0 pods are")


@pytest.mark.parametrize(
    ("kueue", "plain", "help_"),
    [
        ("Pending the preemption of 1 workload", "the preemption of 1 job with", "Kueue is ending those jobs"),
        (
            "insufficient unused quota for google.com/tpu in flavor v6e, 1 more needed",
            "needs 1 more free chip of v6e",
            "when other jobs release chips of v6e",
        ),
    ],
)
def test_of_one_in_the_reasons_of_kueue(kueue: str, plain: str, help_: str) -> None:
    said = in_plain_words(kueue)
    assert plain in said
    assert any(help_ in text for text in helps(said, {}, general=True))
