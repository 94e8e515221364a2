"""Dashboards and alert policies of Cloud Monitoring, and the metrics of Cloud Logging."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from tpuplane_twin.providers.contract import Properties, ProviderError
from tpuplane_twin.providers.gcp.api import ApiError, Deadline
from tpuplane_twin.providers.gcp.bodies import expand, flatten
from tpuplane_twin.providers.gcp.resources.base import Resource, Update, known, touched
from tpuplane_twin.providers.values import reveal


class Dashboard(Resource):
    """A dashboard; its id is `projects/NUMBER/dashboards/N`. The state holds it as the API answers it, as JSON."""

    table_name = "dashboard"
    import_formats = (r"projects/(?P<project>[^/]+)/dashboards/(?P<name>[^/]+)", r"(?P<name>[^/]+)")

    def plan(self, inputs: Mapping[str, Any], prior: Properties | None) -> Properties:
        """The JSON is compared and kept without its spaces and with its keys in order."""
        planned = super().plan(inputs, prior)
        if isinstance(planned.get("dashboardJson"), str):
            planned["dashboardJson"] = _normalised(json.loads(planned["dashboardJson"]))
        return planned

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return f"projects/{self.need_project(properties)}/dashboards/{resource_id.rpartition('/')[2]}"

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        url = f"{self.session.monitoring}v1/projects/{self.need_project(planned)}/dashboards"
        try:
            made = self.api.call("POST", url, json.loads(planned["dashboardJson"]))
        except ApiError as error:
            raise ProviderError(f"Error creating Dashboard: {error}") from error
        return made["name"], self.read(made["name"], planned) or known(planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        found = self.api.find(f"{self.session.monitoring}v1/{resource_id}")
        if found is None:
            return None
        return {
            "dashboardJson": _normalised(found),
            "project": self.need_project(prior),
            "deletionPolicy": prior.get("deletionPolicy") or "DELETE",
        }

    def update(self, it: Update) -> Properties:  # noqa: D102
        if touched(it.changed, "dashboardJson"):
            etag = json.loads(reveal(it.prior)["dashboardJson"]).get("etag")
            body = {**json.loads(it.planned["dashboardJson"]), "etag": etag}
            try:
                self.api.call("PATCH", f"{self.session.monitoring}v1/{it.resource_id}", body)
            except ApiError as error:
                raise ProviderError(f'Error updating Dashboard "{it.resource_id}": {error}') from error
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if self.check_deletion(resource_id, state):
            _delete(self, f"{self.session.monitoring}v1/{resource_id}")


class AlertPolicy(Resource):
    """An alert policy; its id is `projects/P/alertPolicies/N`."""

    table_name = "alert_policy"
    import_formats = (r"projects/(?P<project>[^/]+)/alertPolicies/[^/]+",)

    _MASKED: Final = (
        "displayName",
        "combiner",
        "enabled",
        "conditions",
        "notificationChannels",
        "alertStrategy",
        "userLabels",
        "severity",
        "documentation",
    )

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        url = f"{self.session.monitoring}v3/projects/{self.need_project(planned)}/alertPolicies"
        try:
            made = self.api.call("POST", url, expand(self.table.fields, known(planned)))
        except ApiError as error:
            raise ProviderError(f"Error creating AlertPolicy: {error}") from error
        return made["name"], self.read(made["name"], planned) or known(planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        found = self.api.find(f"{self.session.monitoring}v3/{resource_id}")
        if found is None:
            return None
        state = flatten(self.table.fields, found)
        state["project"] = self.need_project(prior)
        state["deletionPolicy"] = prior.get("deletionPolicy") or "DELETE"
        return state

    def update(self, it: Update) -> Properties:  # noqa: D102
        mask = ",".join(name for name in self._MASKED if touched(it.changed, name))
        if mask:
            url = f"{self.session.monitoring}v3/{it.resource_id}?{urlencode({'updateMask': mask})}"
            try:
                self.api.call("PATCH", url, expand(self.table.fields, known(it.planned)))
            except ApiError as error:
                raise ProviderError(f'Error updating AlertPolicy "{it.resource_id}": {error}') from error
        return super().update(it)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if self.check_deletion(resource_id, state):
            _delete(self, f"{self.session.monitoring}v3/{resource_id}")


class LogMetric(Resource):
    """A metric of log entries; its id is its name, which may hold slashes."""

    table_name = "log_metric"
    import_formats = (r"(?P<project>[^ ]+) (?P<name>[^ ]+)", r"(?P<name>[^ ]+)")

    def canonical_id(self, resource_id: str, properties: Properties) -> str:  # noqa: D102
        return str(properties["name"])

    def create(self, planned: Properties, deadline: Deadline) -> tuple[str, Properties]:  # noqa: D102
        url = f"{self.session.logging}projects/{self.need_project(planned)}/metrics"
        try:
            self.api.call("POST", url, expand(self.table.fields, known(planned)))
        except ApiError as error:
            raise ProviderError(f"Error creating Metric: {error}") from error
        return planned["name"], self.read(planned["name"], planned) or known(planned)

    def read(self, resource_id: str, prior: Properties) -> Properties | None:  # noqa: D102
        found = self.api.find(self._url(resource_id, prior))
        if found is None:
            return None
        state = flatten(self.table.fields, found)
        for label in (state.get("metricDescriptor") or {}).get("labels", ()):
            label["valueType"] = label["valueType"] or "STRING"
        state["project"] = self.need_project(prior)
        state["deletionPolicy"] = prior.get("deletionPolicy") or "DELETE"
        return state

    def update(self, it: Update) -> Properties:  # noqa: D102
        if set(it.changed) - {"deletionPolicy"}:
            try:
                self.api.call(
                    "PUT", self._url(it.planned["name"], it.planned), expand(self.table.fields, known(it.planned))
                )
            except ApiError as error:
                raise ProviderError(f'Error updating Metric "{it.resource_id}": {error}') from error
        return self.read(it.planned["name"], it.planned) or known(it.planned)

    def delete(self, resource_id: str, state: Properties, deadline: Deadline) -> None:  # noqa: D102
        if self.check_deletion(resource_id, state):
            _delete(self, self._url(resource_id, state))

    def _url(self, name: str, properties: Mapping[str, Any]) -> str:
        return f"{self.session.logging}projects/{self.need_project(properties)}/metrics/{quote(name, safe='')}"


def _normalised(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _delete(resource: Resource, url: str) -> None:
    try:
        resource.api.call("DELETE", url)
    except ApiError as error:
        if not error.not_found:
            raise
