"""Cloud Monitoring: dashboards (v1), alert policies and the channels they notify (v3). Nothing is ever measured.

Whether a metric of a filter or a query exists is Google's to know, and not looked at here.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable

from tpuplane_twin.gcp.call import Call, Handler
from tpuplane_twin.gcp.collection import Collection
from tpuplane_twin.gcp.container.merge import mask_paths, masked
from tpuplane_twin.gcp.errors import ApiError, already_exists, invalid, not_found
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json, seconds
from tpuplane_twin.gcp.store import Store

_DASHBOARD = "monitoring.dashboards"
_POLICY = "monitoring.alertPolicies"
_CHANNEL = "monitoring.notificationChannels"
_LAYOUTS = ("gridLayout", "mosaicLayout", "rowLayout", "columnLayout")
_CONDITIONS = (
    "conditionThreshold",
    "conditionAbsent",
    "conditionMatchedLog",
    "conditionMonitoringQueryLanguage",
    "conditionPrometheusQueryLanguage",
    "conditionSql",
)
_MOST_CONDITIONS = 6
_LONGEST = 23.5 * 3600  # seconds
_COMPARISONS = ("COMPARISON_GT", "COMPARISON_LT")
_CHANNEL_NAME = re.compile(r"projects/[^/]+/notificationChannels/[^/]+")
_TIMED = ("conditionThreshold", "conditionAbsent", "conditionMonitoringQueryLanguage")


def monitoring_handlers(store: Store) -> dict[str, Handler]:
    """Handlers by method id."""
    dashboards, policies, channels = Dashboards(store), AlertPolicies(store), Channels(store)
    return {
        "monitoring.projects.dashboards.create": dashboards.create,
        "monitoring.projects.dashboards.get": dashboards.get,
        "monitoring.projects.dashboards.list": dashboards.list,
        "monitoring.projects.dashboards.patch": dashboards.patch,
        "monitoring.projects.dashboards.delete": dashboards.delete,
        "monitoring.projects.alertPolicies.create": policies.create,
        "monitoring.projects.alertPolicies.get": policies.get,
        "monitoring.projects.alertPolicies.list": policies.list,
        "monitoring.projects.alertPolicies.patch": policies.patch,
        "monitoring.projects.alertPolicies.delete": policies.delete,
        "monitoring.projects.notificationChannels.create": channels.create,
        "monitoring.projects.notificationChannels.get": channels.get,
        "monitoring.projects.notificationChannels.list": channels.list,
        "monitoring.projects.notificationChannels.delete": channels.delete,
    }


class Dashboards(Collection):
    """projects.dashboards. A dashboard's name is the project's number, as Google writes it."""

    kind, segment = _DASHBOARD, "dashboards"

    def create(self, call: Call) -> Json:
        """Make a dashboard, under the name that the body may give."""
        _check_dashboard(call.body)
        wanted = str(call.body.get("name") or "").rpartition("/")[2]
        name = f"{self._parent(call)}/{wanted or uuid.uuid4()}"
        if self._store.get(self.kind, name) is not None:
            raise already_exists(f"Dashboard {name} already exists.")
        return self._keep(call, {**call.body, "name": name})

    def patch(self, call: Call) -> Json:
        """Replace a dashboard as a whole. An etag that is not the newest is refused."""
        before = self.get(call)
        _check_dashboard(call.body)
        if call.body.get("etag", before["etag"]) != before["etag"]:
            raise ApiError("ABORTED", f"Dashboard {before['name']} was changed by somebody else; its etag is another.")
        return self._keep(call, {**call.body, "name": before["name"]})

    def _keep(self, call: Call, dashboard: Json) -> Json:
        """Write the dashboard, and answer it; with `validateOnly` it is answered only."""
        plain = {key: value for key, value in dashboard.items() if key != "etag"}
        made = {**plain, "etag": hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:32]}
        if call.query.get("validateOnly") != "true":
            self._store.put(self.kind, made["name"], made)
        return made

    def _parent(self, call: Call) -> str:
        # Project id and number mean the same project.
        project = call.params["projectsId"]
        return f"projects/{project if project.isdecimal() else project_number(project)}/dashboards"


class AlertPolicies(Collection):
    """projects.alertPolicies."""

    kind, segment = _POLICY, "alertPolicies"

    def create(self, call: Call) -> Json:
        """Make a policy and name it and its conditions."""
        name = f"{self._parent(call)}/{uuid.uuid4().int % 10**19}"
        made = {"enabled": True, **call.body, "name": name, "creationRecord": _record()}
        return self._keep(made)

    def patch(self, call: Call) -> Json:
        """Change what the mask names; without one, everything."""
        before = self.get(call)
        mask = mask_paths(call.query.get("updateMask", ""))
        changed = masked(before, call.body, mask) if mask else {"enabled": True, **call.body}
        return self._keep({**changed, "name": before["name"], "creationRecord": before["creationRecord"]})

    def _keep(self, policy: Json) -> Json:
        _check_policy(policy, lambda name: self._store.get(_CHANNEL, name) is not None)
        conditions = [
            {**item, "name": item.get("name") or f"{policy['name']}/conditions/{uuid.uuid4().int % 10**19}"}
            for item in policy["conditions"]
        ]
        made = {**policy, "conditions": conditions, "mutationRecord": _record()}
        self._store.put(self.kind, made["name"], made)
        return made


class Channels(Collection):
    """projects.notificationChannels: the twin keeps them and notifies nobody."""

    kind, segment = _CHANNEL, "notificationChannels"

    def create(self, call: Call) -> Json:
        """Make a channel."""
        if not call.body.get("type"):
            raise invalid("Field notification_channel.type must be set.")
        return _put_channel(self._store, f"{self._parent(call)}/{uuid.uuid4().int % 10**19}", call.body)


def give_channel(store: Store, name: str) -> bool:
    """See that there is a channel of that name, as if somebody had made it before; False where there was one.

    The twin does not know whom it notifies, and the API tells nobody either: its labels are left out.
    """
    if store.get(_CHANNEL, name) is not None:
        return False
    _put_channel(store, name, {"type": "email", "displayName": "given"})
    return True


def _put_channel(store: Store, name: str, body: Json) -> Json:
    made = {"enabled": True, **body, "name": name, "creationRecord": _record()}
    store.put(_CHANNEL, name, made)
    return made


def _record() -> Json:
    return {"mutateTime": now(), "mutatedBy": "twin@tpuplane.dev"}


def _check_dashboard(body: Json) -> None:
    if not body.get("displayName"):
        raise invalid("Field displayName is missing from the Dashboard.")
    layouts = [name for name in _LAYOUTS if name in body]
    if len(layouts) != 1:
        raise invalid(f"A Dashboard must have exactly one layout of {', '.join(_LAYOUTS)}; it has {len(layouts)}.")
    mosaic: Json = body.get("mosaicLayout", {})
    for tile in mosaic.get("tiles", ()):
        if tile.get("xPos", 0) + tile.get("width", 0) > mosaic.get("columns", 0):
            raise invalid(f"A tile of the mosaicLayout is wider than its {mosaic.get('columns', 0)} columns.")


def _check_policy(policy: Json, exists: Callable[[str], bool]) -> None:
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
    for at, channel in enumerate(policy.get("notificationChannels", ())):
        where = f'Field alert_policy.notification_channels[{at}] had an invalid value of "{channel}"'
        if not _CHANNEL_NAME.fullmatch(channel):
            raise invalid(f"{where}: it must be of the form projects/PROJECT/notificationChannels/CHANNEL.")
        if not exists(channel):
            raise not_found(f"{where}: the notification channel was not found.")


def _check_condition(where: str, condition: Json) -> None:
    kinds = [name for name in _CONDITIONS if name in condition]
    if len(kinds) != 1:
        raise invalid(f"Field {where} must have exactly one kind of condition; it has {len(kinds)}.")
    body = condition[kinds[0]]
    duration = seconds(str(body.get("duration", "0s")))
    if kinds[0] in _TIMED and (duration % 60 or not 0 <= duration <= _LONGEST):
        raise invalid(f"Field {where}.duration must be a multiple of 60 seconds, and at most 23 hours and 30 minutes.")
    if kinds[0] == "conditionThreshold" and body.get("comparison") not in _COMPARISONS:
        raise invalid(f"Field {where}.condition_threshold.comparison must be one of {', '.join(_COMPARISONS)}.")
    if kinds[0] == "conditionPrometheusQueryLanguage" and not body.get("query"):
        raise invalid(f"Field {where}.condition_prometheus_query_language.query must be set.")
