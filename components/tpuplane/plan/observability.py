"""Dashboards, alerts and collected metrics: from the data and what the user wants to queries and objects."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

import yaml

from tpuplane.plan.observability_model import AlertPlan, LogMetricPlan, ObservabilityPlan, ScrapePlan
from tpuplane.spec import ClusterSpec, PlatformSpec
from tpuplane.spec.names import cluster_name
from tpuplane.spec.observability import IdleChipsSpec, ObservabilitySpec, SliceDownSpec, StarvedQueueSpec

_COLUMNS, _TILE_WIDTH, _TILE_HEIGHT = 48, 24, 16


@functools.cache
def observability_data() -> dict[str, Any]:
    """The metrics, tiles, alerts and scrapes, read once."""
    text = resources.files("tpuplane.spec").joinpath("data/observability.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def observability_plan(spec: PlatformSpec) -> ObservabilityPlan:
    """What the platform shows and tells of itself."""
    wanted = spec.observability
    names = {
        key: it.existing.name if it.existing else cluster_name(spec.name, key) for key, it in spec.clusters.items()
    }
    queued = [names[key] for key, it in spec.clusters.items() if it.addons.monitoring and it.addons.kueue]
    selector = _Selector(names.values(), queued)
    metrics = _log_metrics(wanted, selector) if wanted else ()
    return ObservabilityPlan(
        dashboard=_dashboard(spec.name, wanted, selector, metrics) if wanted and wanted.dashboard else None,
        alerts=tuple(_alerts(wanted, selector)) if wanted else (),
        log_metrics=metrics,
        notification_channels=wanted.notification_channels if wanted else (),
        labels=spec.labels,
        scrapes={key: found for key, it in spec.clusters.items() if (found := _scrapes(it))},
    )


class _Selector:
    """Queries over the platform's clusters."""

    def __init__(self, clusters: Iterable[str], queued: Iterable[str]) -> None:
        self.clusters, self.queued = tuple(clusters), tuple(queued)

    def fill(self, query: str, **numbers: int) -> str:
        """The query with metrics and numbers filled in."""
        metrics = {name: self._series(it) for name, it in observability_data()["metrics"].items()}
        return query.format(**metrics, **numbers)

    def serves(self, entry: Mapping[str, Any]) -> bool:
        """Whether a cluster has what a tile or an alert needs."""
        return "needs" not in entry or bool(self.queued)

    def _series(self, metric: Mapping[str, Any]) -> str:
        if "resource" not in metric:
            return f'{metric["metric"]}{{cluster=~"{"|".join(self.queued)}"}}'
        resource, clusters = metric["resource"], "|".join(self.clusters)
        return f'{promql(metric["metric"])}{{monitored_resource="{resource}",cluster_name=~"{clusters}"}}'


def promql(metric: str) -> str:
    """A metric of Cloud Monitoring by its name in PromQL: https://docs.cloud.google.com/monitoring/promql/promql-mapping."""
    domain, _, path = metric.partition("/")
    return f"{re.sub(r'[^A-Za-z0-9]', '_', domain)}:{re.sub(r'[^A-Za-z0-9]', '_', path)}"


def _dashboard(
    name: str, wanted: ObservabilitySpec, selector: _Selector, metrics: tuple[LogMetricPlan, ...]
) -> dict[str, Any]:
    data = observability_data()
    widgets = [_chart(it["title"], selector.fill(it["query"])) for it in data["tiles"] if selector.serves(it)]
    if wanted.libtpu_errors:
        libtpu = data["libtpu"]
        widgets.append(_chart(libtpu["title"], selector.fill(libtpu["query"])))
        widgets.append({"title": libtpu["logs"], "logsPanel": {"filter": metrics[0].filter}})
    tiles = []
    for at, widget in enumerate(widgets):
        row, column = divmod(at, _COLUMNS // _TILE_WIDTH)
        # Without zeros, which the API leaves out of its answers.
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
    chosen = wanted.alerts
    specs: dict[str, SliceDownSpec | IdleChipsSpec | StarvedQueueSpec]
    specs = {"sliceDown": chosen.slice_down, "idleChips": chosen.idle_chips, "starvedQueue": chosen.starved_queue}
    for key, spec in specs.items():
        entry = observability_data()["alerts"][key]
        if not (spec.enabled and selector.serves(entry)):
            continue
        numbers = {"minutes": spec.after_minutes}
        if isinstance(spec, IdleChipsSpec):
            numbers["percent"] = spec.duty_cycle_percent
        name = re.sub(r"[A-Z]", lambda found: f"-{found[0].lower()}", key)
        query = selector.fill(entry["query"], **numbers)
        yield AlertPlan(name, entry["title"], entry["severity"], query, entry["text"].format(**numbers))


def _log_metrics(wanted: ObservabilitySpec, selector: _Selector) -> tuple[LogMetricPlan, ...]:
    if not wanted.libtpu_errors:
        return ()
    libtpu = observability_data()["libtpu"]
    clusters = " OR ".join(f'"{name}"' for name in selector.clusters)
    where = f'resource.type="k8s_container" AND resource.labels.cluster_name=({clusters})'
    return (LogMetricPlan(libtpu["metric"], f"{where} AND severity>=ERROR AND {libtpu['filter']}"),)


def _scrapes(cluster: ClusterSpec) -> tuple[ScrapePlan, ...]:
    """What is collected in a cluster; each only where its pods can be."""
    monitoring = cluster.addons.monitoring
    if monitoring is None:
        return ()
    present = {"ray": cluster.addons.ray.mode == "operator", "kueue": cluster.addons.kueue is not None}
    return tuple(
        _scrape(name, entry, f"{monitoring.interval_seconds}s", name if name in present else None)
        for name, entry in observability_data()["scrapes"].items()
        if present.get(name, True)
    )


def _scrape(name: str, entry: Mapping[str, Any], interval: str, addon: str | None) -> ScrapePlan:
    endpoint = {"interval": interval, **entry["endpoint"]}
    if reader := entry.get("reader"):
        endpoint["authorization"] = {"type": "Bearer", "credentials": {"secret": {"name": reader, "key": "token"}}}
    spec: dict[str, Any] = {"selector": entry["selector"], "endpoints": [endpoint]}
    if labels := entry.get("targetLabels"):
        spec["targetLabels"] = labels
    return ScrapePlan(name, entry.get("namespace"), spec, reader, addon)
