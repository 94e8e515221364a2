"""Dashboards, alerts and collected metrics: from the description and the data to queries and objects."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from tpuplane.data_files import filled
from tpuplane.labels import GKE_POOL_LABEL
from tpuplane.plan.pools import NodePoolPlan
from tpuplane.spec import ClusterSpec, PlatformSpec
from tpuplane.spec.core.rules import spec_data
from tpuplane.spec.observability import IdleChipsSpec, ObservabilitySpec


@dataclass(frozen=True, slots=True)
class ScrapePlan:
    """Pods whose Prometheus metrics Google's Managed Service for Prometheus collects."""

    name: str
    namespace: str | None  # None: pods of every namespace
    spec: Mapping[str, Any]  # of the PodMonitoring or ClusterPodMonitoring
    reader: str | None = None  # account in the namespace that can read /metrics; None: everyone can
    addon: str | None = None  # key of the add-on with the pods; None: pods of GKE


@dataclass(frozen=True, slots=True)
class FrontendPlan:
    """Google's frontend, which answers PromQL queries of the project's metrics inside a cluster."""

    namespace: str
    account: str  # Kubernetes service account
    deployment: Any  # `spec` of its Deployment
    service: Any  # `spec` of its Service
    budget: Any  # `spec` of its PodDisruptionBudget; None for one replica


@dataclass(frozen=True, slots=True)
class AlertPlan:
    """An alert policy of one PromQL condition."""

    key: str  # "slice-down"
    title: str
    severity: str
    query: str
    text: str  # Markdown


@dataclass(frozen=True, slots=True)
class ObservabilityPlan:
    """The objects in Cloud Monitoring and Cloud Logging."""

    dashboard: Mapping[str, Any] | None  # in the form of the API
    alerts: tuple[AlertPlan, ...]
    log_metrics: Mapping[str, str]  # filters of the counted log entries, by the name of the metric
    notification_channels: tuple[str, ...]
    labels: Mapping[str, str]
    # One for all frontends: a namespace's account is the same identity in all clusters of a project.
    frontend_grant: tuple[str, str] | None  # the role of the project, and its member

    @property
    def wanted(self) -> bool:
        """Whether there is any object."""
        return bool(self.dashboard or self.alerts or self.log_metrics or self.frontend_grant)


_COLUMNS, _TILE_WIDTH, _TILE_HEIGHT = 48, 24, 16


def observability_plan(spec: PlatformSpec, frontends: Iterable[FrontendPlan]) -> ObservabilityPlan:
    """The objects of the platform in Cloud Monitoring. `frontends` are those of its clusters."""
    wanted = spec.observability
    names = {key: cluster.gke_name(spec.name, key) for key, cluster in spec.clusters.items()}
    queued = [names[key] for key, cluster in spec.clusters.items() if cluster.collects_queues]
    selector, libtpu = _Selector(spec.name, names.values(), queued), spec_data("observability")["libtpu"]
    errors = {selector.metric(libtpu["metric"]): selector.logs(libtpu["errors"])}
    return ObservabilityPlan(
        dashboard=_dashboard(spec.name, wanted, selector) if wanted and wanted.dashboard else None,
        alerts=tuple(_alerts(wanted, selector)) if wanted else (),
        log_metrics=errors if wanted and wanted.libtpu_errors else {},
        notification_channels=wanted.notification_channels if wanted else (),
        labels=spec.labels,
        frontend_grant=_frontend_grant(spec.project, next(iter(frontends), None)),
    )


class _Selector:
    """Queries and filters over the platform's clusters."""

    def __init__(self, platform: str, clusters: Iterable[str], queued: Iterable[str]) -> None:
        self.platform, self.clusters, self.queued = platform, tuple(clusters), tuple(queued)

    def metric(self, template: str) -> str:
        """The name of a metric. The platform's own metrics contain its name."""
        return template.format(platform=self.platform)

    def fill(self, query: str, **numbers: int) -> str:
        metrics = {name: self._series(metric) for name, metric in spec_data("observability")["metrics"].items()}
        return query.format(**metrics, **numbers)

    def serves(self, entry: Mapping[str, Any]) -> bool:
        """Whether a cluster has the add-ons of a tile or an alert."""
        return "needs" not in entry or bool(self.queued)

    def logs(self, lines: str) -> str:
        """A filter of Cloud Logging: such lines of the clusters' containers."""
        clusters = " OR ".join(f'"{name}"' for name in self.clusters)
        return f'resource.type="k8s_container" AND resource.labels.cluster_name=({clusters}) AND ({lines})'

    def _series(self, metric: Mapping[str, Any]) -> str:
        if "resource" in metric:
            name, clusters = promql(self.metric(metric["metric"])), "|".join(self.clusters)
            labels = [f'monitored_resource="{metric["resource"]}"', f'cluster_name=~"{clusters}"']
        else:
            name, labels = metric["metric"], [f'cluster=~"{"|".join(self.queued)}"']
        return f"{name}{{{','.join([*labels, *([metric['where']] if 'where' in metric else [])])}}}"


def promql(metric: str) -> str:
    """A metric of Cloud Monitoring by its name in PromQL: https://docs.cloud.google.com/monitoring/promql/promql-mapping."""
    domain, _, path = metric.partition("/")
    return f"{re.sub(r'[^A-Za-z0-9]', '_', domain)}:{re.sub(r'[^A-Za-z0-9]', '_', path)}"


def _dashboard(name: str, wanted: ObservabilitySpec, selector: _Selector) -> dict[str, Any]:
    data = spec_data("observability")
    widgets = [_chart(tile["title"], selector.fill(tile["query"])) for tile in data["tiles"] if selector.serves(tile)]
    if wanted.libtpu_errors:
        libtpu = data["libtpu"]
        widgets.append(_chart(libtpu["title"], selector.fill(libtpu["query"])))
        widgets.append({"title": libtpu["logs"], "logsPanel": {"filter": selector.logs(libtpu["messages"])}})
    tiles = []
    for at, widget in enumerate(widgets):
        row, column = divmod(at, _COLUMNS // _TILE_WIDTH)
        # Without zeros, which the API omits in its answers.
        place = {"xPos": column * _TILE_WIDTH, "yPos": row * _TILE_HEIGHT}
        size = {"width": _TILE_WIDTH, "height": _TILE_HEIGHT}
        tiles.append({**{key: value for key, value in place.items() if value}, **size, "widget": widget})
    return {"displayName": f"TPUs of {name}", "mosaicLayout": {"columns": _COLUMNS, "tiles": tiles}}


def _chart(title: str, query: str) -> dict[str, Any]:
    return {
        "title": title,
        "xyChart": {"dataSets": [{"plotType": "LINE", "timeSeriesQuery": {"prometheusQuery": query}}]},
    }


def _alerts(wanted: ObservabilitySpec, selector: _Selector) -> Iterable[AlertPlan]:
    for name, spec in wanted.alerts:
        entry = spec_data("observability")["alerts"][to_camel(name)]
        if spec.enabled and selector.serves(entry):
            numbers = {"minutes": spec.after_minutes}
            if isinstance(spec, IdleChipsSpec):
                numbers["percent"] = spec.duty_cycle_percent
            query, text = selector.fill(entry["query"], **numbers), entry["text"].format(**numbers)
            yield AlertPlan(name.replace("_", "-"), entry["title"], entry["severity"], query, text)


def scrape_plans(cluster: ClusterSpec) -> tuple[ScrapePlan, ...]:
    """The collected metrics of a cluster, if it has their pods."""
    if (monitoring := cluster.addons.monitoring) is None:
        return ()
    present = {"ray": cluster.addons.ray.mode == "operator", "kueue": cluster.addons.kueue is not None}
    return tuple(
        _scrape(name, entry, f"{monitoring.interval_seconds}s", name if name in present else None)
        for name, entry in spec_data("observability")["scrapes"].items()
        if present.get(name, True)
    )


def _scrape(name: str, entry: Mapping[str, Any], interval: str, addon: str | None) -> ScrapePlan:
    reader = entry.get("reader")
    token = {"type": "Bearer", "credentials": {"secret": {"name": reader, "key": "token"}}}
    common = {"interval": interval, **({"authorization": token} if reader else {})}
    spec: dict[str, Any] = {
        "selector": entry["selector"],
        "endpoints": [{**common, **endpoint} for endpoint in entry["endpoints"]],
    }
    if labels := entry.get("targetLabels"):
        spec["targetLabels"] = labels
    return ScrapePlan(name, entry.get("namespace"), spec, reader, addon)


def frontend_plan(spec: PlatformSpec, cluster: ClusterSpec, system_pool: NodePoolPlan | None) -> FrontendPlan | None:
    """A cluster's frontend, on the nodes of `system_pool`; None if the description has none."""
    wanted = cluster.addons.monitoring.frontend if cluster.addons.monitoring else None
    if wanted is None:
        return None
    data = spec_data("observability")["frontend"]
    # With the platform's name, so that platforms of one project do not revoke each other's roles.
    account = f"{spec.name}-frontend"
    values = {
        "$account": account,
        "$image": wanted.image or data["image"],
        "$nodeSelector": {GKE_POOL_LABEL: system_pool.name} if system_pool is not None else {},
        "$replicas": wanted.replicas,
        "$project": f"--query.project-id={spec.project}",
    }
    budget = data["budget"] if wanted.replicas > 1 else None
    return FrontendPlan(data["namespace"], account, filled(data["deployment"], values), data["service"], budget)


def _frontend_grant(project: str, frontend: FrontendPlan | None) -> tuple[str, str] | None:
    """The role of the frontends' account, by Workload Identity: without a key, and only for the frontends' pods."""
    if frontend is None:
        return None
    member = f"serviceAccount:{project}.svc.id.goog[{frontend.namespace}/{frontend.account}]"
    return spec_data("observability")["frontend"]["role"], member
