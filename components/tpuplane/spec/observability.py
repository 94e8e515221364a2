"""Dashboard, alerts and metrics: as the user writes them, and the data that they are made from."""

from typing import Annotated, Any

from pydantic import Field

from tpuplane.spec.core.fields import Spec, text
from tpuplane.spec.core.rules import spec_data


def observability_data() -> dict[str, Any]:
    """The metrics, tiles, alerts, scrapes and the query frontend."""
    found: dict[str, Any] = spec_data("observability")
    return found


def frontend_url() -> str:
    """Where the add-on `monitoring` answers PromQL queries, inside its cluster."""
    frontend = observability_data()["frontend"]
    return f"http://frontend.{frontend['namespace']}.svc:{frontend['port']}"


Channel = Annotated[str, *text("notificationChannel")]
# Cloud Monitoring looks back a day at most.
Minutes = Annotated[int, Field(ge=1, le=1380)]


class SliceDownSpec(Spec):
    """An alert: a multi-host slice is unavailable, and its work waits."""

    enabled: bool = True
    """Create this alert. Default true. A change creates or deletes it."""

    after_minutes: Minutes = 5
    """Time in minutes for which the slice must be unavailable. Default 5. Changed in place."""


class IdleChipsSpec(Spec):
    """An alert: running chips are idle."""

    enabled: bool = True
    """Create this alert. Default true. A change creates or deletes it."""

    after_minutes: Minutes = 60
    """Time in minutes for which the chips must be idle. Default 60. Changed in place."""

    duty_cycle_percent: Annotated[int, Field(ge=1, le=100)] = 5
    """A chip with a duty cycle below this percentage is idle. Default 5. Changed in place."""


class StarvedQueueSpec(Spec):
    """An alert: a queue has pending work and admits none. It needs Kueue and `addons.monitoring` in the cluster."""

    enabled: bool = True
    """Create this alert. Default true. A change creates or deletes it."""

    after_minutes: Minutes = 120
    """Time in minutes in which the queue must admit no work. Default 120. Changed in place."""


class AlertsSpec(Spec):
    """Alert policies of Cloud Monitoring for all clusters."""

    slice_down: SliceDownSpec = SliceDownSpec()
    """A slice is unavailable."""

    idle_chips: IdleChipsSpec = IdleChipsSpec()
    """Running chips are idle."""

    starved_queue: StarvedQueueSpec = StarvedQueueSpec()
    """Work is pending and none is admitted."""


class ObservabilitySpec(Spec):
    """A dashboard, alert policies and a log metric in the platform's project."""

    dashboard: bool = True
    """Create a Cloud Monitoring dashboard: TensorCore utilization, duty cycle, HBM usage and bandwidth by slice type,
    slices and interruptions by node pool, queues, and libtpu's messages. Default true. A change creates or deletes
    it."""

    alerts: AlertsSpec = AlertsSpec()
    """Alert policies."""

    notification_channels: tuple[Channel, ...] = ()
    """Existing notification channels for the alerts, by name. Default: none, and only Cloud Monitoring shows incidents.
    Changed in place."""

    libtpu_errors: bool = True
    """Count libtpu's error messages in container logs with the log metric `tpuplane/PLATFORM/libtpu_errors`. Default
    true. A change creates or deletes it."""
