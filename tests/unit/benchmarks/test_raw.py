"""The program that `python -m benchmarks raw` writes from a state, and the tables of its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tpuplane.plan import plan
from tpuplane.spec import load_stack

from benchmarks.raw import STACKS, stack_file
from benchmarks.written_out import program
from scripts.scale_table import program_tables

pytestmark = pytest.mark.unit

STACK = "urn:pulumi:lab::tpuplane::pulumi:pulumi:Stack::tpuplane-lab"
CHART = "urn:pulumi:lab::tpuplane::kubernetes:helm.sh/v4:Chart::kueue"
NAMESPACE = "urn:pulumi:lab::tpuplane::kubernetes:core/v1:Namespace::space"
CLUSTER = "urn:pulumi:lab::tpuplane::gcp:container/cluster:Cluster::main"
PROVIDER = "urn:pulumi:lab::tpuplane::pulumi:providers:kubernetes::main"
SECRET = "4dabf18193072939515e22adb298388d"


def of(urn: str, **fields: Any) -> dict[str, Any]:
    return {"urn": urn, "type": urn.split("::")[2], "custom": True, "parent": STACK, **fields}


RESOURCES = [
    {"urn": STACK, "type": "pulumi:pulumi:Stack"},
    of("urn:pulumi:lab::tpuplane::pulumi:providers:gcp::default_9_0_0", inputs={"version": "9.0.0"}),
    of(
        CLUSTER,
        id="projects/lab/locations/us-central1-a/clusters/main",
        inputs={"name": "main", "enableTpu": True, "project": "lab", "__defaults": ["project"]},
        outputs={"name": "main", "endpoint": "192.0.2.17", "masterAuth": {"clusterCaCertificate": "Y2VydA=="}},
    ),
    of(
        PROVIDER,
        inputs={
            "kubeconfig": {
                SECRET: "1b47061264138c4ac30d75fd1eb44270",
                "plaintext": json.dumps("server: https://192.0.2.17, authority: Y2VydA=="),
            },
            "version": "4.0.0",
            "__internal": {},
        },
        dependencies=[CLUSTER],
    ),
    of(NAMESPACE, inputs={"metadata": {"name": "space"}}, provider=f"{PROVIDER}::0001"),
    {"urn": CHART, "type": "kubernetes:helm.sh/v4:Chart", "parent": STACK, "dependencies": [NAMESPACE]},
    of(
        "urn:pulumi:lab::tpuplane::kubernetes:apps/v1:Deployment::manager",
        inputs={"metadata": {"namespace": "space"}},
        parent=CHART,
        ignoreChanges=["data"],
    ),
    of(
        "urn:pulumi:lab::tpuplane::kubernetes:kueue.x-k8s.io/v1beta2:Topology::slices",
        inputs={"kind": "Topology", "spec": {"levels": []}},
        dependencies=[CHART],
    ),
    of("urn:pulumi:lab::tpuplane::kubernetes:core/v1:Secret::read", external=True),
]


def test_the_program_has_each_resource_that_the_state_has_made() -> None:
    code = program({"deployment": {"resources": RESOURCES}})
    lines = [line for line in code.splitlines() if " = " in line]
    assert [line.partition("(")[0] for line in lines] == [
        "r0 = pulumi_gcp.container.Cluster",
        "r1 = pulumi_kubernetes.Provider",
        "r2 = pulumi_kubernetes.core.v1.Namespace",
        "r3 = pulumi_kubernetes.apps.v1.Deployment",
        "r4 = pulumi.CustomResource",
    ]
    assert lines[0] == "r0 = pulumi_gcp.container.Cluster('main', name='main', enable_tpu=True)"
    kubeconfig = """'server: https://', r0.endpoint, ', authority: ', r0.master_auth["cluster_ca_certificate"]"""
    assert f"kubeconfig=pulumi.Output.secret(pulumi.Output.concat({kubeconfig}))" in lines[1]
    assert "version" not in lines[1]
    assert lines[2].endswith("opts=pulumi.ResourceOptions(provider=r1))")
    assert lines[3].endswith("opts=pulumi.ResourceOptions(depends_on=[r2], ignore_changes=['data']))")
    assert lines[4].endswith("opts=pulumi.ResourceOptions(depends_on=[r3]))")


@pytest.mark.parametrize("name", STACKS)
def test_each_stack_file_is_right(tmp_path: Path, name: str) -> None:
    file = tmp_path / "Pulumi.soak.yaml"
    file.write_text(stack_file(name))
    assert plan(load_stack(file)).clusters


def test_the_page_compares_both_programs() -> None:
    def run(program: str, seconds: float, memory: int) -> dict[str, Any]:
        figures = {"seconds": {"up": seconds}, "MiB": {"up": memory}}
        return {"stack": "local", "program": program, "resources": 1200, **figures}

    page = "\n".join(program_tables([run("tpuplane", 60.0, 900), run("without it", 50.0, 1000)]))
    for row in (
        "| local | tpuplane | 1,200 | 60.0 s |",
        "| local | without it | 1,200 | 1,000 MiB |",
        "| local | 1.2 |",
        "| local | 0.9 |",
    ):
        assert row in page
