"""Ray's dashboard: where the head finds Grafana and Prometheus, and libtpu's logs of a worker.

Sources: https://docs.ray.io/en/latest/cluster/configure-manage-dashboard.html for the variables; Ray 2.60 itself
(`ray._private.node`) for libtpu's logs.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.fields import Spec, refuse
from tpuplane.spec.observability import frontend_url
from tpuplane.workloads.names import ObjectName
from tpuplane.workloads.pods import Manifest

_URL = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*[^\s/?#])?")

LIBTPU_LOGS = "/tmp/tpu_logs"  # noqa: S108
"""Where libtpu writes, unless TPU_LOG_DIR says otherwise."""


def _url(value: str) -> str:
    if not _URL.fullmatch(value):
        raise refuse(f"{shown(value)} is not an address; allowed: http://HOST[:PORT][/PATH], no slash at the end")
    return value


Url = Annotated[str, AfterValidator(_url)]


class PrometheusHeadersSpec(Spec):
    """A key of a Secret in the Ray cluster's namespace."""

    secret: ObjectName
    """The Secret's name. It exists already: what it holds never comes into a program's state."""

    key: Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$")] = "headers"
    """Its key, which holds the headers as a JSON object. Default headers."""


class DashboardSpec(Spec):
    """Charts in Ray's dashboard: Grafana draws them, of what a Prometheus answers. Both exist already."""

    grafana_host: Url
    """Grafana's address, as the head reaches it."""

    grafana_iframe_host: Url | None = None
    """Grafana's address, as the browsers reach it that show the dashboard. Default: `grafanaHost`."""

    grafana_org_id: Annotated[int, Field(ge=1)] = 1
    """Grafana's organization. Default 1."""

    prometheus_host: Url | None = None
    """The Prometheus that the head asks. Default: the frontend of the add-on `monitoring`."""

    prometheus_name: Annotated[str, Field(min_length=1)] = "Prometheus"
    """Name of Grafana's data source. Default Prometheus."""

    prometheus_headers: PrometheusHeadersSpec | None = None
    """Headers that the Prometheus wants, from a Secret. Default: none."""


def dashboard_environment(dashboard: DashboardSpec) -> list[dict[str, Any]]:
    """Environment of the head. The charts are those of its own Ray cluster, whatever KubeRay calls it."""
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
    """Make the folder of libtpu's logs before Ray starts: Ray shows it in its dashboard only if it is there by then."""
    pod.setdefault("volumes", []).append({"name": "libtpu-logs", "emptyDir": {}})
    mounts = pod["containers"][0].setdefault("volumeMounts", [])
    mounts.append({"name": "libtpu-logs", "mountPath": LIBTPU_LOGS})
