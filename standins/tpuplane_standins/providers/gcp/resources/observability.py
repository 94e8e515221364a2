# ruff: noqa: D102 - the methods are described by `Resource` and `Rest`
"""Dashboards of Cloud Monitoring, and the metrics of Cloud Logging."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from tpuplane_standins.providers.contract import Properties
from tpuplane_standins.providers.gcp.resources.base import Update, touched
from tpuplane_standins.providers.gcp.resources.rest import Call, Rest


class Dashboard(Rest):
    """A dashboard; its id is `projects/NUMBER/dashboards/N`. The state holds it as the API answers it, as JSON."""

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """The JSON is compared and kept without its spaces and with its keys in order."""
        planned = super().plan(inputs, prior)
        if isinstance(planned.get("dashboardJson"), str):
            planned["dashboardJson"] = _normalised(json.loads(planned["dashboardJson"]))
        return planned

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return f"{self.collection(properties)}/{resource_id.rpartition('/')[2]}"

    def calls(self, update: Update) -> Iterator[Call]:
        if touched(update.changed, "dashboardJson"):
            etag = json.loads(update.prior["dashboardJson"]).get("etag")
            yield "PATCH", "", {**self.body(update.planned), "etag": etag}

    def body(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        return dict(json.loads(properties["dashboardJson"]))

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        return {**super().state({}, prior), "dashboardJson": _normalised(found)}


class LogMetric(Rest):
    """A metric of log entries; its id is its name, which may hold slashes."""

    def canonical_id(self, resource_id: str, properties: Properties) -> str:
        return str(properties["name"])

    def path(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        return f"{self.collection(properties)}/{quote(resource_id, safe='')}"

    def calls(self, update: Update) -> Iterator[Call]:
        if set(update.changed) - {"deletionPolicy"}:
            yield "PUT", "", self.body(update.planned)

    def state(self, found: Mapping[str, Any], prior: Properties) -> Properties:
        state = super().state(found, prior)
        for label in (state.get("metricDescriptor") or {}).get("labels", ()):
            label["valueType"] = label["valueType"] or "STRING"
        return state


def _normalised(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
