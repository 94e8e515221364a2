"""Charts and YAML as the official provider makes them: a component with one resource for each object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient
from kubernetes.client.rest import ApiException
from kubernetes.dynamic import DynamicClient

from tests.support.providers.kubernetes_control_plane import ControlPlane
from tests.support.providers.kubernetes_stack import kubernetes_program
from tests.support.pulumi_program import Program

pytestmark = pytest.mark.e2e

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: flavors\nversion: 1.2.3\n",
    "values.yaml": "chips: 4\nfeatures: {kept: false}\n",
    "crds/flavors.yaml": """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: flavors.chart.example.com}
spec:
  group: chart.example.com
  scope: Namespaced
  names: {plural: flavors, kind: Flavor}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""",
    "templates/all.yaml": """
apiVersion: chart.example.com/v1
kind: Flavor
metadata: {name: v6e}
spec: {chips: {{ .Values.chips }}, at: 12:30:45, day: 2026-11-21}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: seen
  {{- if .Values.features.kept }}
  annotations: {helm.sh/resource-policy: keep}
  {{- end }}
data:
  release: {{ .Release.Name }}
  kubernetes: {{ .Capabilities.KubeVersion.Version }}
  hasJobs: {{ .Capabilities.APIVersions.Has "batch/v1/Job" | quote }}
  team: {{ (lookup "v1" "Namespace" "" "default").metadata.name | default "nobody" }}
---
apiVersion: v1
kind: Secret
metadata: {name: certificate}
stringData: {key: hunter2}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: reader}}
""",
    "templates/hook.yaml": """
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}
""",
}

PROGRAM = """
import os
import pulumi
import pulumi_kubernetes as k8s

step = os.environ["STEP"]
provider = k8s.Provider("cluster", kubeconfig=os.environ["TEST_KUBECONFIG"], cluster_identifier="one")
adopting = k8s.Provider(
    "adopting", kubeconfig=os.environ["TEST_KUBECONFIG"], cluster_identifier="one", upsert_existing_objects=True,
    enable_patch_force=True,
)
space = k8s.core.v1.Namespace("space", metadata={"name": "charts"}, opts=pulumi.ResourceOptions(provider=provider))

def kept(args):
    if not args.custom:
        return None
    opts = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(replace_with=[space]))
    if args.type_.endswith(":CustomResourceDefinition"):
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=adopting, retain_on_delete=True))
    return pulumi.ResourceTransformResult(args.props, opts)

chips = space.id.apply(lambda _: 4 * int(step)) if step != "unknown" else 4
chart = k8s.helm.v4.Chart(
    "flavors", name="release", namespace="charts", chart=os.environ["CHART"],
    values={"chips": chips}, value_yaml_files=[pulumi.StringAsset("features: {kept: true}")],
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[space], transforms=[kept]),
)
group = k8s.yaml.v2.ConfigGroup(
    "group", yaml="{apiVersion: v1, kind: ConfigMap, metadata: {name: from-group, namespace: charts}}",
    objs=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "from-objs", "namespace": "charts"}}],
    resource_prefix="yaml", opts=pulumi.ResourceOptions(provider=provider, depends_on=[chart]),
)
pulumi.export("made", chart.resources.apply(len))
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    for name, text in CHART.items():
        file = tmp_path / "chart" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "chart"


def resources(stack: Program) -> dict[str, dict[str, Any]]:
    return {it["urn"].split("::")[-1]: it for it in stack.resources()}


def test_a_chart_from_preview_to_destroy_and_back(
    control_plane: ControlPlane, api: ApiClient, chart: Path, tmp_path: Path
) -> None:
    stack = kubernetes_program(tmp_path / "project", control_plane, PROGRAM)
    stack.variables["CHART"] = str(chart)

    # What is not known yet is no reason to fail: the chart stands there without its objects.
    first = stack.output("preview")
    assert "Input properties have unknown values. Preview is incomplete." in first
    up = ("up", "--yes", "--skip-preview")
    # Stack, 2 providers, namespace, chart with 5 objects, group with 2.
    assert "13 created" in stack.output(*up)
    assert "5" in stack.output("stack", "output", "made")
    stack.output("preview", "--expect-no-changes")

    made = resources(stack)
    assert "flavors:charts/hook" not in made, "hooks are dropped"
    assert "hunter2" not in stack.output("stack", "export")
    seen = made["flavors:charts/seen"]
    assert seen["outputs"]["data"]["release"] == "release"
    assert seen["outputs"]["data"]["kubernetes"].startswith("v1.")
    assert seen["outputs"]["data"]["hasJobs"] == "true"
    assert seen["outputs"]["data"]["team"] == "default", "charts may look things up"
    assert seen["retainOnDelete"] is True, "helm.sh/resource-policy: keep"
    flavor, crd = made["flavors:charts/v6e"], made["flavors:flavors.chart.example.com"]
    assert flavor["outputs"]["spec"] == {"chips": 4, "at": "12:30:45", "day": "2026-11-21"}
    assert flavor["dependencies"] == [crd["urn"]]
    assert flavor["replaceWith"] == [made["space"]["urn"]], "transforms reach the objects"
    assert crd["retainOnDelete"] is True
    assert "adopting" in crd["provider"]
    assert "adopting" not in flavor["provider"]
    assert {"yaml:charts/from-group", "yaml:charts/from-objs"} < made.keys()

    changed = stack.output(*up, STEP="2")
    assert "1 updated" in changed
    assert "12 unchanged" in changed

    # Complaint 21: CRDs survive their operator, and the next installation takes them over.
    stack.output("destroy", "--yes", "--skip-preview")
    client = DynamicClient(api)
    definitions = client.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
    before = definitions.get(name="flavors.chart.example.com").metadata.uid
    renamed = CHART["crds/flavors.yaml"].replace("plural: flavors", "shortNames: [fl], plural: flavors")
    (chart / "crds/flavors.yaml").write_text(renamed)
    stack.output(*up, STEP="3")
    after = definitions.get(name="flavors.chart.example.com")
    assert (after.metadata.uid, after.spec.names.shortNames) == (before, ["fl"])
    stack.output("destroy", "--yes", "--skip-preview", STEP="3")
    definitions.delete(name="flavors.chart.example.com")
    with pytest.raises(ApiException):
        client.resources.get(api_version="v1", kind="ConfigMap").get(name="from-objs", namespace="charts")


def test_a_chart_that_is_not_there_is_rejected_in_helm_s_words(control_plane: ControlPlane, tmp_path: Path) -> None:
    stack = kubernetes_program(tmp_path / "project", control_plane, PROGRAM)
    stack.variables["CHART"] = str(tmp_path / "nothing")
    output = stack.output("preview", fails=True, STEP="unknown")
    assert f"chart '{tmp_path / 'nothing'}' cannot be rendered" in output
    assert "not found" in output
