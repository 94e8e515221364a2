"""The operators of a cluster, each with its namespace, its Helm chart, and the gate that opens when it answers."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.addons import gate
from tpuplane.addons.charts import locate
from tpuplane.gke.existing_cluster import AnyCluster
from tpuplane.gke.kubernetes_access import kubernetes_provider
from tpuplane.gke.resource_options import after
from tpuplane.labels import DEFINITION
from tpuplane.plan.addons import NAMESPACE_LABELS, AddonPlan

_CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
_SECRET = "kubernetes:core/v1:Secret"  # noqa: S105
_MARKER = "tpuplane-addon"
# Their keys are names of fields, also of fields that are called "description".
_NAMES = frozenset({"properties", "patternProperties", "definitions"})


class Operator(pulumi.ComponentResource):
    """An operator from its Helm chart, with one resource for each object, so that policies and previews show them.

    Its CRDs, and all objects of its kinds, are kept when it is deleted. The next installation adopts them, and a new
    release changes them. Raises `ChartMissing` before the registration of resources.
    """

    ready: kubernetes.core.v1.ConfigMap
    """Exists only while the webhooks of the operator answer. Resources that depend on it are created after the operator
    and deleted before it."""

    def __init__(
        self,
        name: str,
        cluster: AnyCluster,
        plan: AddonPlan,
        adopting: kubernetes.Provider,
        waits: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Install the add-on, after nodes and other operators (`waits`). `adopting` takes over CRDs that exist."""
        source = locate(plan)
        super().__init__("tpuplane:index:Operator", name, {}, opts)
        self._inside = pulumi.ResourceOptions.merge(cluster.in_cluster(), pulumi.ResourceOptions(parent=self))
        self._adopting = adopting
        if not plan.namespace_by_chart:
            place: Any = {"name": plan.namespace, "labels": NAMESPACE_LABELS}
            waits = [kubernetes.core.v1.Namespace(f"{name}-namespace", metadata=place, opts=after(self._inside, waits))]
        chart = kubernetes.helm.v4.Chart(
            name,
            name=plan.chart.name,
            **source,
            namespace=plan.namespace,
            values=plan.values,
            # Pods that wait for a Secret of the user must not delay other resources.
            skip_await=True if plan.secret else None,
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=self._inside.provider,
                deleted_with=self._inside.deleted_with,
                depends_on=list(waits),
                transforms=[self._child],
            ),
        )
        opens = gate.hook(f"{name}-gate", plan, plan.probe, cluster.kubeconfig) if plan.probe else None
        gated = pulumi.ResourceHookBinding(before_create=[opens], before_update=[opens]) if opens else None
        self.ready = kubernetes.core.v1.ConfigMap(
            f"{name}-ready",
            # Annotations, because a change to data would replace it and the resources that depend on it.
            metadata={"name": _MARKER, "namespace": plan.namespace, "annotations": _annotations(plan)},
            opts=pulumi.ResourceOptions.merge(after(self._inside, [chart]), pulumi.ResourceOptions(hooks=gated)),
        )
        self.register_outputs({})

    def _child(self, args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        """Add resource options to an object of the chart, which does not inherit them from a remote component."""
        if not args.custom:
            return None
        inside, crd = self._inside, args.type_ == _CRD
        own = pulumi.ResourceOptions(
            deleted_with=inside.deleted_with,
            replace_with=inside.replace_with,
            delete_before_replace=True,
            provider=self._adopting if crd else None,
            retain_on_delete=crd or None,
            # The chart creates it empty. The operator adds its certificate, which an upgrade must not remove.
            ignore_changes=["data", "stringData"] if args.type_ == _SECRET else None,
        )
        props = without_descriptions(args.props) if crd else args.props
        return pulumi.ResourceTransformResult(props, pulumi.ResourceOptions.merge(args.opts, own))


def _annotations(plan: AddonPlan) -> dict[str, str]:
    """Return chart and values of the operator, so that the gate runs again after a change."""
    values = hashlib.sha256(json.dumps(plan.values, sort_keys=True).encode()).hexdigest()[:16]
    found = {"tpuplane.dev/chart": f"{plan.chart.name}-{plan.chart.version}", "tpuplane.dev/values": values}
    # `tpuplane diff --deployed` reads it: files and packages can have changed since.
    own = {DEFINITION: json.dumps(plan.definition, sort_keys=True)} if plan.definition is not None else {}
    return {**found, **own}


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


class Addons(pulumi.ComponentResource):
    """The operators that the platform installs in a cluster. They are removed in the reverse of their order."""

    operators: Mapping[str, Operator]
    """Operators by their key in the user's file, and rayTpuWebhook, which is part of ray."""

    def __init__(
        self, name: str, cluster: AnyCluster, plans: Sequence[AddonPlan], nodes: Sequence[pulumi.Resource]
    ) -> None:
        """Install the add-ons in the order of `plans`, on `nodes`."""
        super().__init__("tpuplane:index:Addons", name, {}, pulumi.ResourceOptions(parent=cluster))
        own, operators = pulumi.ResourceOptions(parent=self), dict[str, Operator]()
        adopting = kubernetes_provider(name, cluster.identifier, cluster.kubeconfig, parent=self, adopting=True)
        for plan in plans:
            waits = [*nodes, *(operators[key].ready for key in plan.after)]
            operators[plan.key] = Operator(f"{name}-{plan.key}", cluster, plan, adopting, waits, own)
        self.operators = operators
        self.register_outputs({})
