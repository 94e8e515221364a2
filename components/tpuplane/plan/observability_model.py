"""What people will be shown and told, as plain frozen values: see `model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ScrapePlan:
    """Pods whose Prometheus metrics Google's Managed Service for Prometheus collects."""

    name: str
    namespace: str | None  # None: pods of every namespace
    spec: Mapping[str, Any]  # of the PodMonitoring or ClusterPodMonitoring
    reader: str | None = None  # account that may read /metrics, in the namespace; None: everybody may
    addon: str | None = None  # key of the add-on that brings the pods; None: GKE does


@dataclass(frozen=True, slots=True)
class FrontendPlan:
    """Google's frontend, which answers PromQL queries of the project's metrics inside a cluster."""

    project: str
    namespace: str
    account: str  # Kubernetes service account
    image: str
    port: int
    replicas: int
    node_selector: Mapping[str, str]
    requests: Mapping[str, str]
    limits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GrantPlan:
    """A role of the project, and who has it."""

    role: str
    member: str


@dataclass(frozen=True, slots=True)
class AlertPlan:
    """An alert policy of one PromQL condition."""

    key: str  # "slice-down"
    title: str
    severity: str
    query: str
    text: str  # Markdown


@dataclass(frozen=True, slots=True)
class LogMetricPlan:
    """A metric that counts log entries."""

    name: str
    filter: str


@dataclass(frozen=True, slots=True)
class ObservabilityPlan:
    """What Cloud Monitoring and Cloud Logging get, and what is collected in each cluster."""

    dashboard: Mapping[str, Any] | None  # as the API has it; None: there is none
    alerts: tuple[AlertPlan, ...]
    log_metrics: tuple[LogMetricPlan, ...]
    notification_channels: tuple[str, ...]
    labels: Mapping[str, str]
    scrapes: Mapping[str, tuple[ScrapePlan, ...]]  # by cluster; only clusters that have some
    frontends: Mapping[str, FrontendPlan]  # by cluster; only clusters that have one
    # One for all frontends: a namespace's account is the same identity in all clusters of a project.
    frontend_grant: GrantPlan | None

    @property
    def wanted(self) -> bool:
        """Whether the project gets anything."""
        return bool(self.dashboard or self.alerts or self.log_metrics or self.frontend_grant)
