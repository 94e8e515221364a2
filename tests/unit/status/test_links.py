"""The addresses of `tpuplane status --links`: one query for each kind, percent-encoded, and none for a twin."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from tpuplane.status.links import Link, addresses, links

pytestmark = pytest.mark.unit

POOLS = [{"name": "", "heldBy": []}, {"name": "trainer-0", "heldBy": ["research/big"]}]


def status(context: str, gke: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"context": context, "gke": gke, "nodePools": POOLS}


def queries(found: list[Link]) -> dict[str, str]:
    paths = {link.about: urlsplit(link.address).path for link in found if link.what == "logs"}
    return {about: unquote(path.removeprefix("/logs/query;query=")) for about, path in paths.items()}


def test_each_query_survives_its_address() -> None:
    found = links(status("gke_lab_us-east5_lab-east5"))
    assert [(link.about, link.what) for link in found] == [
        ("cluster lab-east5", "logs"),
        ("cluster lab-east5", "dashboards"),
        ("pool trainer-0", "logs"),
        ("pool trainer-0", "page"),
        ("job research/big", "logs"),
    ]
    where = 'resource.labels.project_id="lab"\nresource.labels.location="us-east5"\n'
    where += 'resource.labels.cluster_name="lab-east5"'
    assert queries(found) == {
        "cluster lab-east5": f'resource.type="gke_cluster"\n{where}',
        "pool trainer-0": f'resource.type="gke_nodepool"\n{where}\nresource.labels.nodepool_name="trainer-0"',
        "job research/big": f'resource.type="k8s_container"\n{where}\n'
        'resource.labels.namespace_name="research"\nresource.labels.pod_name=~"^big(-|$)"',
    }
    for link in found:
        assert not set(link.address) & set('"\n {}')
        assert urlsplit(link.address).query == "project=lab"


def test_pods_have_only_the_start_of_a_long_name() -> None:
    name = f"{'sweep-' * 8}lr-0-001-seed-7"
    held = {**status("gke_lab_us-east5_lab-east5"), "nodePools": [{"name": "", "heldBy": [f"research/{name}"]}]}
    query = queries(links(held))[f"job research/{name}"]
    pattern = query.rpartition('pod_name=~"')[2].removesuffix('"')
    pods = f"{name[:58]}x7k2p", f"{name[:50]}-workers-worker-x7k2p", "sweep-other-x7k2p"
    assert [bool(re.search(pattern, pod)) for pod in pods] == [True, True, False]


def test_googles_answer_names_the_cluster_of_any_context() -> None:
    gke = {"project": "example.com:lab", "location": "us-east5-b", "name": "own", "console": "https://…"}
    address = links(status("mine", gke))[1].address
    assert address.endswith("?project=example.com%3Alab")


@pytest.mark.parametrize(
    ("context", "gke"), [("mine", None), ("gke_a_b_c", {"project": "a", "location": "b", "name": "c", "console": ""})]
)
def test_a_twin_and_an_unknown_project_have_no_links(context: str, gke: dict[str, Any] | None) -> None:
    assert links(status(context, gke)) == []
    assert addresses(status(context, gke)) == {}
