"""One operator, by its Helm chart: namespace, chart, and the gate that opens when its webhooks answer."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons import gate
from tpuplane.addons.charts import locate
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.plan.addons import NAMESPACE_LABELS, AddonPlan

_CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
_SECRET = "kubernetes:core/v1:Secret"  # noqa: S105
_MARKER = "tpuplane-addon"
# Their keys are names of fields, also of fields that are called "description".
_NAMES = frozenset({"properties", "patternProperties", "definitions"})


class OperatorArgs(TypedDict):
    """Arguments of `Operator`."""

    cluster: AnyCluster
    """The cluster that it runs in. It goes with it."""

    plan: AddonPlan
    """What is installed. A new release or other values change it in place, its CRDs too."""

    adopting: kubernetes.Provider
    """Provider of the cluster that takes over what exists already: CRDs that an earlier installation left."""

    after: NotRequired[Sequence[pulumi.Resource]]
    """What must be there before: nodes, and the `ready` of other operators."""

    chart_mirror: NotRequired[str]
    """Where its chart is taken from. Default: TPUPLANE_CHART_MIRROR of the environment, else where the plan says."""


class Operator(pulumi.ComponentResource):
    """An operator, installed by its Helm chart: one resource for each object, so that policies and previews see them.

    Its CRDs, and with them all objects of its kinds, outlive it: they are never deleted, but taken over by the next
    installation, and changed with the operator's release. Raises `ChartMissing` before anything is registered.
    """

    ready: kubernetes.core.v1.ConfigMap
    """Exists only while the operator's webhooks answer, where it has some: depend on it to come after it, and to be
    deleted before."""

    def __init__(self, name: str, args: OperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        plan = args["plan"]
        source = locate(plan.chart, args.get("chart_mirror"))
        super().__init__("tpuplane:index:Operator", name, {}, opts)
        self._inside = pulumi.ResourceOptions.merge(args["cluster"].in_cluster(), pulumi.ResourceOptions(parent=self))
        self._adopting = args["adopting"]
        after = list(args.get("after", ()))
        if not plan.namespace_by_chart:
            after = [
                kubernetes.core.v1.Namespace(
                    f"{name}-namespace",
                    metadata={"name": plan.namespace, "labels": NAMESPACE_LABELS},
                    opts=self._after(after),
                )
            ]
        chart = kubernetes.helm.v4.Chart(
            name,
            name=plan.chart.name,
            chart=source["chart"],
            version=source.get("version"),
            repository_opts=source.get("repository_opts"),
            namespace=plan.namespace,
            values=plan.values,
            # Pods that wait for what a person makes hold up nothing else.
            skip_await=True if plan.secret else None,
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=self._inside.provider,
                deleted_with=self._inside.deleted_with,
                depends_on=after,
                transforms=[self._child],
            ),
        )
        opens = gate.hook(f"{name}-gate", plan, plan.probe, args["cluster"].kubeconfig) if plan.probe else None
        gated = pulumi.ResourceHookBinding(before_create=[opens], before_update=[opens]) if opens else None
        self.ready = kubernetes.core.v1.ConfigMap(
            f"{name}-ready",
            # Annotations, because other data would replace it, and with it what depends on it.
            metadata={"name": _MARKER, "namespace": plan.namespace, "annotations": _told(plan)},
            opts=pulumi.ResourceOptions.merge(
                self._after([chart]),
                pulumi.ResourceOptions(hooks=gated),
            ),
        )
        self.register_outputs({})

    def _after(self, resources: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(self._inside, pulumi.ResourceOptions(depends_on=list(resources)))

    def _child(self, args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        """Give an object of the chart what a remote component does not hand down."""
        if not args.custom:
            return None
        opts = pulumi.ResourceOptions.merge(
            args.opts,
            pulumi.ResourceOptions(
                deleted_with=self._inside.deleted_with,
                replace_with=self._inside.replace_with,
            ),
        )
        props = args.props
        if args.type_ == _CRD:
            props = without_descriptions(props)
            opts = pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(provider=self._adopting, retain_on_delete=True)
            )
        if args.type_ == _SECRET:
            # The charts make it empty; the operator fills in its certificate, which an upgrade must not take away.
            opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=["data", "stringData"]))
        return pulumi.ResourceTransformResult(props, opts)


def _told(plan: AddonPlan) -> dict[str, str]:
    """Return what the operator was told, so that a change of it passes the gate again."""
    values = hashlib.sha256(json.dumps(plan.values, sort_keys=True).encode()).hexdigest()[:16]
    return {"tpuplane.dev/chart": f"{plan.chart.name}-{plan.chart.version}", "tpuplane.dev/values": values}


def without_descriptions(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CustomResourceDefinition without the descriptions of its schema.

    Kueue's and JobSet's definitions have 1.2 MB of descriptions, which the state would contain several times for each
    cluster. Validation, defaults and pruning by the API server are unchanged.
    """
    return {**definition, "spec": _schema(definition["spec"])}


def _schema(value: Any) -> Any:
    match value:
        case Mapping():
            return {
                key: {name: _schema(field) for name, field in item.items()}
                if key in _NAMES and isinstance(item, Mapping)
                else _schema(item)
                for key, item in value.items()
                if not (key == "description" and isinstance(item, str))
            }
        case list() | tuple():
            return [_schema(item) for item in value]
        case _:
            return value
