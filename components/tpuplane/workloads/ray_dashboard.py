"""Ray's dashboard: addresses of Grafana and Prometheus for the head, and the logs of libtpu.

Sources: https://docs.ray.io/en/latest/cluster/configure-manage-dashboard.html for the variables; Ray 2.60
(`ray._private.node`) for the logs of libtpu.
"""

from typing import Annotated, Any

from pydantic import Field

from tpuplane.spec.core.fields import Spec, text
from tpuplane.spec.observability import frontend_url
from tpuplane.workloads.names import ObjectName
from tpuplane.workloads.pods import Manifest

LIBTPU_LOGS = "/tmp/tpu_logs"  # noqa: S108
"""Folder of libtpu's logs, unless TPU_LOG_DIR sets another one."""


Url = Annotated[str, *text("url")]


class PrometheusHeadersSpec(Spec):
    """A key of a Secret in the Ray cluster's namespace."""

    secret: ObjectName
    """Name of an existing Secret. Its contents are not part of the program's state."""

    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$")] = "headers"
    """Key with the headers as a JSON object. Default headers."""


class DashboardSpec(Spec):
    """Charts in Ray's dashboard, from an existing Grafana and an existing Prometheus."""

    grafana_host: Url
    """Address of Grafana for the head."""

    grafana_iframe_host: Url | None = None
    """Address of Grafana for browsers. Default: `grafanaHost`."""

    grafana_org_id: Annotated[int, Field(ge=1)] = 1
    """Grafana's organization. Default 1."""

    prometheus_host: Url | None = None
    """Address of Prometheus for the head. Default: the frontend of the add-on `monitoring`."""

    prometheus_name: Annotated[str, Field(min_length=1)] = "Prometheus"
    """Name of Grafana's data source. Default Prometheus."""

    prometheus_headers: PrometheusHeadersSpec | None = None
    """Headers for requests to Prometheus, from a Secret. Default: none."""


def dashboard_environment(dashboard: DashboardSpec) -> list[dict[str, Any]]:
    """Environment of the head. The filter of the charts is the label with the name of the Ray cluster."""
    values = {
        "RAY_GRAFANA_HOST": dashboard.grafana_host,
        "RAY_GRAFANA_IFRAME_HOST": dashboard.grafana_iframe_host or dashboard.grafana_host,
        "RAY_GRAFANA_ORG_ID": str(dashboard.grafana_org_id),
        "RAY_PROMETHEUS_HOST": dashboard.prometheus_host or frontend_url(),
        "RAY_PROMETHEUS_NAME": dashboard.prometheus_name,
    }
    origins = {"RAY_GRAFANA_CLUSTER_FILTER": {"fieldRef": {"fieldPath": "metadata.labels['ray.io/cluster']"}}}
    if headers := dashboard.prometheus_headers:
        origins["RAY_PROMETHEUS_HEADERS"] = {"secretKeyRef": {"name": headers.secret, "key": headers.key}}
    return [
        *({"name": name, "value": value} for name, value in values.items()),
        *({"name": name, "valueFrom": origin} for name, origin in origins.items()),
    ]


def keep_libtpu_logs(pod: Manifest) -> None:
    """Add a volume for the logs of libtpu, because Ray's dashboard shows only folders that exist before Ray starts."""
    pod.setdefault("volumes", []).append({"name": "libtpu-logs", "emptyDir": {}})
    mounts = pod["containers"][0].setdefault("volumeMounts", [])
    mounts.append({"name": "libtpu-logs", "mountPath": LIBTPU_LOGS})
