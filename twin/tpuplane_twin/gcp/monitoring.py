"""Cloud Monitoring and Logging: dashboards, alert policies, notification channels, and metrics that count log entries.

The twin measures nothing, and has no log entries. It does not check whether the metrics of filters and queries exist:
only Google knows them.
"""

import re
import uuid

from tpuplane.spec.observability import MOST_CHANNELS

from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.errors import ApiError, already_exists, failed_precondition, invalid
from tpuplane_twin.gcp.handlers import Call, Collection
from tpuplane_twin.gcp.merge import etag_of, mask_paths, masked
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json, seconds, snake

_MOST_CONDITIONS = 6
_LONGEST = 23.5 * 3600  # seconds
_COMPARISONS = ("COMPARISON_GT", "COMPARISON_LT")
_CHANNEL_NAME = re.compile(r"projects/[^/]+/notificationChannels/[^/]+")
# https://cloud.google.com/logging/docs/reference/v2/rest/v2/projects.metrics
_METRIC_NAME = re.compile(r"[A-Za-z0-9_\-.,+!*',()%][A-Za-z0-9_\-.,+!*',()%/]{0,99}")
_TIMED = ("conditionThreshold", "conditionAbsent", "conditionMonitoringQueryLanguage")


class Dashboards(Collection):
    """projects.dashboards. A dashboard's name has the number of its project, as in Google's answers."""

    kind, segment, label = "monitoring.dashboards", "dashboards", "Dashboard"
    prefix, verbs = "monitoring.projects.dashboards", "create get list patch delete"

    def create(self, call: Call) -> Json:
        """Create a dashboard, under the name that the body may give."""
        wanted = str(call.body.get("name") or "").rpartition("/")[2]
        name = f"{self.parent(call)}/{wanted or uuid.uuid4()}"
        self.check_new(name)
        return self._keep(call, name)

    def patch(self, call: Call) -> Json:
        """Replace a whole dashboard. An etag must be the newest."""
        before = self.get(call)
        if call.body.get("etag", before["etag"]) != before["etag"]:
            raise ApiError("ABORTED", f"The etag of dashboard {before['name']} has changed; read the dashboard again.")
        return self._keep(call, before["name"])

    def _keep(self, call: Call, name: str) -> Json:
        """Check and write the dashboard; with `validateOnly` it is not written."""
        _check_dashboard(call.body)
        plain = {**{key: value for key, value in call.body.items() if key != "etag"}, "name": name}
        made = {**plain, "etag": etag_of(plain)}
        return made if call.query.get("validateOnly") == "true" else self.put(name, made)

    def parent(self, call: Call) -> str:
        """The collection; a project may be named by its id or its number."""
        return f"projects/{project_number(call.params['projectsId'])}/dashboards"


class _Numbered(Collection):
    """Objects that have a number as their name, and a record of their creation."""

    verbs = "create get list patch delete"

    def create(self, call: Call) -> Json:
        """Create an object."""
        name = f"{self.parent(call)}/{_number()}"
        return self.keep({"enabled": True, **call.body, "name": name, "creationRecord": _record()})

    def patch(self, call: Call) -> Json:
        """Change what the mask names; without one, everything."""
        before, mask = self.find(call), mask_paths(call.query.get("updateMask", ""))
        changed = masked(before, call.body, mask) if mask else {"enabled": True, **call.body}
        return self.keep({**changed, "name": before["name"], "creationRecord": before["creationRecord"]})

    def keep(self, wanted: Json) -> Json:
        """Check and write an object."""
        raise NotImplementedError


class AlertPolicies(_Numbered):
    """projects.alertPolicies."""

    kind, segment, prefix = "monitoring.alertPolicies", "alertPolicies", "monitoring.projects.alertPolicies"

    def keep(self, policy: Json) -> Json:
        """Check and write a policy, and name its conditions."""
        _check_policy(policy)
        for name in policy.get("notificationChannels", ()):
            if self._store.get(Channels.kind, name) is None:
                assumed = {"type": "email", "displayName": "assumed to exist", "creationRecord": _record()}
                Channels(self._store).keep({**assumed, "name": name})
        conditions = [
            {**item, "name": item.get("name") or f"{policy['name']}/conditions/{_number()}"}
            for item in policy["conditions"]
        ]
        return self.put(policy["name"], {**policy, "conditions": conditions, "mutationRecord": _record()})


class Channels(_Numbered):
    """projects.notificationChannels: those that are created here, and those that only a policy names.

    The latter are assumed to exist. They have no labels, which would contain whom they notify.
    """

    kind, segment = "monitoring.notificationChannels", "notificationChannels"
    prefix = "monitoring.projects.notificationChannels"

    def delete(self, call: Call) -> Json:
        """Delete a channel; with `force`, also from the alert policies that name it."""
        name = self.existing(call)
        for key, policy in self._store.items(AlertPolicies.kind):
            channels = policy.get("notificationChannels", [])
            if name not in channels:
                continue
            if call.query.get("force") != "true":
                raise failed_precondition(f"The notification channel {name} is used by the alert policy {key}.")
            left = [channel for channel in channels if channel != name]
            self._store.put(AlertPolicies.kind, key, {**policy, "notificationChannels": left})
        return super().delete(call)

    def keep(self, channel: Json) -> Json:
        """Check and write a channel."""
        if not channel.get("type"):
            raise invalid("Field notification_channel.type must be set.")
        return self.put(channel["name"], {"enabled": True, **channel})


class LogMetrics(Collection):
    """projects.metrics of Cloud Logging. A metric's `name` is its short name, which may contain slashes."""

    kind, segment = "logging.metrics", "metrics"
    prefix, verbs = "logging.projects.metrics", "create get list update delete"

    def create(self, call: Call) -> Json:
        """Create a metric."""
        key = f"{self.parent(call)}/{call.body.get('name', '')}"
        if self._store.get(self.kind, key) is not None:
            raise already_exists(f"Metric {call.body['name']} already exists")
        return self._keep(call, key, now())

    def update(self, call: Call) -> Json:
        """Replace a whole metric; one that does not exist is created."""
        key = self.name(call)
        before = self._store.get(self.kind, key) or {}
        return self._keep(call, key, before.get("createTime", now()))

    def _keep(self, call: Call, key: str, created: str) -> Json:
        body = call.body
        if not _METRIC_NAME.fullmatch(str(body.get("name", ""))):
            raise invalid(f'Invalid metric name "{body.get("name", "")}": it must match {_METRIC_NAME.pattern}')
        if not body.get("filter"):
            raise invalid("The filter of a logs-based metric must not be empty")
        descriptor = {"metricKind": "DELTA", "valueType": "INT64", "unit": "1", **body.get("metricDescriptor", {})}
        if descriptor["valueType"] == "DISTRIBUTION" and not body.get("valueExtractor"):
            raise invalid("A metric of value type DISTRIBUTION needs a value_extractor")
        kind = f"logging.googleapis.com/user/{body['name']}"
        named = {"name": f"projects/{call.params['projectsId']}/metricDescriptors/{kind}", "type": kind}
        described = {"metricDescriptor": {**descriptor, **named}, "createTime": created, "updateTime": now()}
        return self.put(key, {**body, **described})


def _number() -> int:
    return uuid.uuid4().int % 10**19


def _record() -> Json:
    return {"mutateTime": now(), "mutatedBy": "twin@tpuplane.dev"}


def _one_of(kinds: str, holder: Json, rule: str) -> str:
    """The only field of a list in `kinds.yaml` that an object has."""
    known: list[str] = data("kinds")[kinds]
    found = [name for name in known if name in holder]
    if len(found) != 1:
        raise invalid(f"{rule} of {', '.join(known)}; it has {len(found)}.")
    return found[0]


def _check_dashboard(body: Json) -> None:
    if not body.get("displayName"):
        raise invalid("Field displayName is missing from the Dashboard.")
    _one_of("dashboard_layouts", body, "A Dashboard must have exactly one layout")
    mosaic: Json = body.get("mosaicLayout", {})
    for tile in mosaic.get("tiles", ()):
        if tile.get("xPos", 0) + tile.get("width", 0) > mosaic.get("columns", 0):
            raise invalid(f"A tile of the mosaicLayout ends after its last column, {mosaic.get('columns', 0)}.")


def _check_policy(policy: Json) -> None:
    """What Google asks of a policy: https://cloud.google.com/monitoring/api/ref_v3/rest/v3/projects.alertPolicies."""
    if not policy.get("displayName"):
        raise invalid("Field alert_policy.display_name must be set.")
    conditions = policy.get("conditions", [])
    if len(conditions) > 1 and policy.get("combiner", "COMBINE_UNSPECIFIED") == "COMBINE_UNSPECIFIED":
        raise invalid("Field alert_policy.combiner must be set.")
    if not 1 <= len(conditions) <= _MOST_CONDITIONS:
        raise invalid(f"Field alert_policy.conditions must have between 1 and {_MOST_CONDITIONS} conditions.")
    for at, condition in enumerate(conditions):
        _check_condition(f"alert_policy.conditions[{at}]", condition)
    _check_log_match(policy, [item for item in conditions if "conditionMatchedLog" in item])
    channels = policy.get("notificationChannels", [])
    if len(channels) > MOST_CHANNELS:
        raise invalid(f"Field alert_policy.notification_channels must have at most {MOST_CHANNELS} channels.")
    for at, channel in enumerate(channels):
        if not _CHANNEL_NAME.fullmatch(channel):
            raise invalid(
                f'Field alert_policy.notification_channels[{at}] had an invalid value of "{channel}": '
                "it must be of the form projects/PROJECT/notificationChannels/CHANNEL."
            )


def _check_log_match(policy: Json, matches: list[Json]) -> None:
    """In Cloud Monitoring's words: chainguard-dev/terraform-infra-common#352 and #384."""
    limited = "notificationRateLimit" in policy.get("alertStrategy", {})
    if matches and len(policy["conditions"]) > 1:
        raise invalid("Alert policies with a log matching condition can only have a single condition.")
    if matches and not limited:
        raise invalid("Field alertStrategy.notificationRateLimit must be set for a log matching condition.")
    if limited and not matches:
        why = "metric-based alert policies must not specify a notification rate limit"
        raise invalid(f"Field alertStrategy.notificationRateLimit had an invalid value: {why}")


def _check_condition(where: str, condition: Json) -> None:
    kind = _one_of("alert_conditions", condition, f"Field {where} must have exactly one kind of condition")
    body = condition[kind]
    duration = seconds(str(body.get("duration", "0s")))
    if kind in _TIMED and (duration % 60 or not 0 <= duration <= _LONGEST):
        field = f"{where}.{snake(kind)}.duration"
        raise invalid(f"Field {field} must be a multiple of 60 seconds, from 0 to 23 hours and 30 minutes.")
    if kind == "conditionThreshold" and body.get("comparison") not in _COMPARISONS:
        raise invalid(f"Field {where}.condition_threshold.comparison must be one of {', '.join(_COMPARISONS)}.")
    if kind == "conditionPrometheusQueryLanguage" and not body.get("query"):
        raise invalid(f"Field {where}.condition_prometheus_query_language.query must be set.")
