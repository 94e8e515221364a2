"""Dashboard, alerts and metrics in the description, and the data for them."""

from typing import Annotated

from pydantic import Field

from tpuplane.spec.core.changes import Change, InPlace, T
from tpuplane.spec.core.fields import Spec, text
from tpuplane.spec.core.rules import spec_data


def frontend_url() -> str:
    """The address of the add-on `monitoring` for PromQL queries, inside its cluster."""
    frontend = spec_data("observability")["frontend"]
    return f"http://frontend.{frontend['namespace']}.svc:{frontend['port']}"


Channel = Annotated[str, *text("notificationChannel")]
# "Notification channels per alerting policy" of https://docs.cloud.google.com/monitoring/quotas
MOST_CHANNELS = 16
# Cloud Monitoring looks back a day at most.
Minutes = Annotated[int, Field(ge=1, le=1380)]


_OnOff = Annotated[T, Change(on="creates", off="deletes", source="observability")]


class SliceDownSpec(Spec):
    """An alert: a multi-host slice is unavailable, and its work waits."""

    enabled: _OnOff[bool] = True
    """Create this alert. Default true."""

    after_minutes: InPlace[Minutes] = 5
    """Time in minutes for which the slice must be unavailable. Default 5."""


class IdleChipsSpec(Spec):
    """An alert: running chips are idle."""

    enabled: _OnOff[bool] = True
    """Create this alert. Default true."""

    after_minutes: InPlace[Minutes] = 60
    """Time in minutes for which the chips must be idle. Default 60."""

    duty_cycle_percent: InPlace[Annotated[int, Field(ge=1, le=100)]] = 5
    """A chip with a duty cycle below this percentage is idle. Default 5."""


class StarvedQueueSpec(Spec):
    """An alert: a queue has pending work and admits none. It needs Kueue and `addons.monitoring` in the cluster."""

    enabled: _OnOff[bool] = True
    """Create this alert. Default true."""

    after_minutes: InPlace[Minutes] = 120
    """Time in minutes in which the queue must admit no work. Default 120."""


class AlertsSpec(Spec):
    """Alert policies of Cloud Monitoring for all clusters."""

    slice_down: SliceDownSpec = SliceDownSpec()
    """A slice is unavailable."""

    idle_chips: IdleChipsSpec = IdleChipsSpec()
    """Running chips or GPUs are idle."""

    starved_queue: StarvedQueueSpec = StarvedQueueSpec()
    """Work is pending and none is admitted."""


class ObservabilitySpec(Spec):
    """A dashboard, alert policies and a log metric in the platform's project."""

    dashboard: _OnOff[bool] = True
    """Create a Cloud Monitoring dashboard: TensorCore utilization and HBM bandwidth by slice type, duty cycle and HBM
    usage by model, slices and interruptions by node pool, queues, and libtpu's messages. Default true."""

    alerts: AlertsSpec = AlertsSpec()
    """Alert policies."""

    notification_channels: InPlace[Annotated[tuple[Channel, ...], Field(max_length=MOST_CHANNELS)]] = ()
    """Existing notification channels for the alerts, by name, at most 16. Default: none, and only Cloud Monitoring
    shows incidents."""

    libtpu_errors: _OnOff[bool] = True
    """Count libtpu's error messages in container logs with the log metric `tpuplane/PLATFORM/libtpu_errors`. Default
    true."""
