"""Operators as the product installs them: by their charts, with the values that the plan of a platform holds."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import yaml
from tpuplane.addons.charts import PACKAGED
from tpuplane.plan import plan
from tpuplane.plan.addons import AddonPlan
from tpuplane.spec import parse_platform
from tpuplane_twin.cluster.api import Api, ClusterError, Object
from tpuplane_twin.cluster.install import established
from tpuplane_twin.tools import Tools

from tests.support.eventually import eventually

TOOLS = ("helm", "jobset", "kueue")
_PLATFORM: Object = {
    "name": "lab",
    "project": "acme-lab",
    "teams": {"research": {"clusters": {"main": {"pools": {"trainer": {"slices": 1}}}}}},
    "clusters": {
        "main": {
            "location": "us-east5-a",
            "addons": {"kueue": {}, "jobset": {}},
            "pools": {"trainer": {"generation": "v6e", "topology": "4x4", "slices": 1}},
        }
    },
}
_POD: Object = {"spec": {"restartPolicy": "Never", "containers": [{"name": "first", "image": "first"}]}}
_JOBSET: Object = {"replicatedJobs": [{"name": "first", "replicas": 1, "template": {"spec": {"template": _POD}}}]}


async def install(api: Api, tools: Tools, folder: Path, platform: Object = _PLATFORM) -> None:
    """Install those of the platform, Kueue and JobSet; returns when their pods are ready, in the node pool "system"."""
    for addon in plan(parse_platform(platform)).clusters[0].addons:
        await _install(api, addon, await _render(addon, tools, folder / f"{addon.key}-values.json"))


async def _install(api: Api, addon: AddonPlan, items: list[Object]) -> None:
    await api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": addon.namespace}})
    crds = [item for item in items if item["kind"] == "CustomResourceDefinition"]
    for item in crds:
        await api.apply(item)
        await established(api, item["metadata"]["name"])
    for item in items:
        if item not in crds:
            await api.apply(item)
    await eventually(lambda: _available(api, addon.namespace))


async def takes_work(api: Api, namespace: str) -> bool:
    """Whether pods and JobSets can be created: their webhooks answer, and the namespace has its service account."""
    named = {"metadata": {"name": "first"}}
    try:
        for url, item in (
            (f"/api/v1/namespaces/{namespace}/pods", {**named, **_POD}),
            (
                f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets",
                {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", **named, "spec": _JOBSET},
            ),
        ):
            await api.request("POST", url, body=item, params={"dryRun": "All"})
    except ClusterError:
        return False
    return True


async def _render(addon: AddonPlan, tools: Tools, values: Path) -> list[Object]:
    await asyncio.to_thread(values.write_text, json.dumps(addon.values))
    packaged = PACKAGED / addon.chart.name
    chart = packaged if packaged.is_dir() else tools.module(addon.key) / "charts" / addon.chart.name
    helm = await asyncio.create_subprocess_exec(
        *(str(tools.binary("helm")), "template", addon.chart.name, str(chart)),
        *("--namespace", addon.namespace, "--include-crds", "--no-hooks", f"--values={values}"),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await helm.communicate()
    assert helm.returncode == 0
    return [item for item in yaml.load_all(output, yaml.CSafeLoader) if item]


async def _available(api: Api, namespace: str) -> bool:
    deployments = await api.list("Deployment", namespace)
    return all(
        any(
            condition["type"] == "Available" and condition["status"] == "True"
            for condition in item.get("status", {}).get("conditions", ())
        )
        for item in deployments
    )
