"""Cloud Logging: metrics that count log entries. The twin has no log entries, so every count stays 0."""

import re

from tpuplane_twin.gcp.errors import already_exists, invalid
from tpuplane_twin.gcp.handlers import Call, Collection
from tpuplane_twin.gcp.operations import now
from tpuplane_twin.gcp.schema import Json

# https://cloud.google.com/logging/docs/reference/v2/rest/v2/projects.metrics
_NAME = re.compile(r"[A-Za-z0-9_\-.,+!*',()%][A-Za-z0-9_\-.,+!*',()%/]{0,99}")


class LogMetrics(Collection):
    """projects.metrics. A metric's `name` is its short name, which may contain slashes."""

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
        if not _NAME.fullmatch(str(body.get("name", ""))):
            raise invalid(f'Invalid metric name "{body.get("name", "")}": it must match {_NAME.pattern}')
        if not body.get("filter"):
            raise invalid("The filter of a logs-based metric must not be empty")
        descriptor = {"metricKind": "DELTA", "valueType": "INT64", "unit": "1", **body.get("metricDescriptor", {})}
        if descriptor["valueType"] == "DISTRIBUTION" and not body.get("valueExtractor"):
            raise invalid("A metric of value type DISTRIBUTION needs a value_extractor")
        kind = f"logging.googleapis.com/user/{body['name']}"
        named = {"name": f"projects/{call.params['projectsId']}/metricDescriptors/{kind}", "type": kind}
        described = {"metricDescriptor": {**descriptor, **named}, "createTime": created, "updateTime": now()}
        return self.put(key, {**body, **described})
