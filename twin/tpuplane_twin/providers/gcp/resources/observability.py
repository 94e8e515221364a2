"""Dashboards and alert policies of Cloud Monitoring, and the metrics of Cloud Logging."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from tpuplane_twin.providers.contract import Properties
from tpuplane_twin.providers.gcp.api import ApiError, Deadline, explaining
from tpuplane_twin.providers.gcp.bodies import expand, flatten
from tpuplane_twin.providers.gcp.resources.base import Resource, Update, known, touched
from tpuplane_twin.providers.values import reveal


class _Direct(Resource):
    """What one request makes, changes or deletes at once: no operation to wait for."""

    kind: ClassVar[str]
    """As errors name it."""

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:
        made = self._send(f"creating {self.kind}", "POST", self._collection(planned), self._body(planned))
        return made["name"], self.read(made["name"], planned) or known(planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:
        found = self.api.find(self._url(resource_id, prior))
        if found is None:
            return None
        own = {"project": self.need_project(prior), "deletionPolicy": prior.get("deletionPolicy") or "DELETE"}
        return {**self._state(found), **own}

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:
        try:
            self.api.call("DELETE", self._url(resource_id, state))
        except ApiError as error:
            if not error.not_found:
                raise

    @abstractmethod
    def _collection(self, properties: Mapping[str, Any]) -> str:
        """Where it is made."""

    @abstractmethod
    def _url(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        """Where it is."""

    def _body(self, planned: Properties) -> Any:
        return expand(self.table.fields, known(planned))

    def _state(self, found: Mapping[str, Any]) -> Properties:
        return flatten(self.table.fields, found)

    def _change(self, it: Update, method: str, url: str, body: Any) -> None:
        self._send(f'updating {self.kind} "{it.resource_id}"', method, url, body)

    def _send(self, doing: str, method: str, url: str, body: Any) -> Any:
        with explaining(doing):
            return self.api.call(method, url, body)


class Dashboard(_Direct):
    """A dashboard; its id is `projects/NUMBER/dashboards/N`. The state holds it as the API answers it, as JSON."""

    table_name = "dashboard"
    kind = "Dashboard"

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """The JSON is compared and kept without its spaces and with its keys in order."""
        planned = super().plan(inputs, prior)
        if isinstance(planned.get("dashboardJson"), str):
            planned["dashboardJson"] = _normalised(json.loads(planned["dashboardJson"]))
        return planned

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"projects/{self.need_project(properties)}/dashboards/{resource_id.rpartition('/')[2]}"

    def update(self, it: Update) -> Properties:  # noqa: D102
        if touched(it.changed, "dashboardJson"):
            etag = json.loads(reveal(it.prior)["dashboardJson"]).get("etag")
            url = self._url(it.resource_id, it.planned)
            self._change(it, "PATCH", url, {**self._body(it.planned), "etag": etag})
        return super().update(it)

    def _collection(self, properties: Mapping[str, Any]) -> str:
        return f"{self.session.monitoring}v1/projects/{self.need_project(properties)}/dashboards"

    def _url(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        return f"{self.session.monitoring}v1/{resource_id}"

    def _body(self, planned: Properties) -> Any:
        return json.loads(planned["dashboardJson"])

    def _state(self, found: Mapping[str, Any]) -> Properties:
        return {"dashboardJson": _normalised(found)}


class AlertPolicy(_Direct):
    """An alert policy; its id is `projects/P/alertPolicies/N`."""

    table_name = "alert_policy"
    kind = "AlertPolicy"

    def update(self, it: Update) -> Properties:  # noqa: D102
        mask = self.update_mask(it.changed)
        if mask:
            url = f"{self._url(it.resource_id, it.planned)}?{urlencode({'updateMask': mask})}"
            self._change(it, "PATCH", url, self._body(it.planned))
        return super().update(it)

    def _collection(self, properties: Mapping[str, Any]) -> str:
        return f"{self.session.monitoring}v3/projects/{self.need_project(properties)}/alertPolicies"

    def _url(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        return f"{self.session.monitoring}v3/{resource_id}"


class LogMetric(_Direct):
    """A metric of log entries; its id is its name, which may hold slashes."""

    table_name = "log_metric"
    kind = "Metric"

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return str(properties["name"])

    def update(self, it: Update) -> Properties:  # noqa: D102
        if set(it.changed) - {"deletionPolicy"}:
            self._change(it, "PUT", self._url(it.planned["name"], it.planned), self._body(it.planned))
        return self.read(it.planned["name"], it.planned) or known(it.planned)

    def _collection(self, properties: Mapping[str, Any]) -> str:
        return f"{self.session.logging}projects/{self.need_project(properties)}/metrics"

    def _url(self, resource_id: str, properties: Mapping[str, Any]) -> str:
        return f"{self._collection(properties)}/{quote(resource_id, safe='')}"

    def _state(self, found: Mapping[str, Any]) -> Properties:
        state = super()._state(found)
        for label in (state.get("metricDescriptor") or {}).get("labels", ()):
            label["valueType"] = label["valueType"] or "STRING"
        return state


def _normalised(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
