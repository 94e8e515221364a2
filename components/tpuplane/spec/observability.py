"""Dashboard, alerts and metrics: as the user writes them, and the data that they are made from."""

from __future__ import annotations

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


Channel = Annotated[
    str,
    *text(
        r"projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/notificationChannels/[0-9]+",
        "projects/PROJECT/notificationChannels/NUMBER, as `gcloud beta monitoring channels list` prints it",
        "the name of a notification channel",
    ),
]
# Cloud Monitoring looks back a day at most.
Minutes = Annotated[int, Field(ge=1, le=1380)]


class SliceDownSpec(Spec):
    """An alert: a multi-host slice is not available, so that what runs on it waits."""

    enabled: bool = True
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: Minutes = 5
    """How long the slice must be down. Default 5. Changed in place."""


class IdleChipsSpec(Spec):
    """An alert: chips are paid for and do nothing."""

    enabled: bool = True
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: Minutes = 60
    """How long the chips must be idle. Default 60. Changed in place."""

    duty_cycle_percent: Annotated[int, Field(ge=1, le=100)] = 5
    """A chip that is busy for less of its time is idle. Default 5. Changed in place."""


class StarvedQueueSpec(Spec):
    """An alert: work waits in a queue and none is admitted. Of clusters with Kueue and `addons.monitoring`."""

    enabled: bool = True
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: Minutes = 120
    """How long the queue must admit nothing. Default 120. Changed in place."""


class AlertsSpec(Spec):
    """Alert policies of Cloud Monitoring, over all clusters."""

    slice_down: SliceDownSpec = SliceDownSpec()
    """A slice is not available."""

    idle_chips: IdleChipsSpec = IdleChipsSpec()
    """Chips are paid for and do nothing."""

    starved_queue: StarvedQueueSpec = StarvedQueueSpec()
    """Work waits and none is admitted."""


class ObservabilitySpec(Spec):
    """A dashboard, alert policies and a metric of log entries in the platform's project."""

    dashboard: bool = True
    """A Cloud Monitoring dashboard: TensorCore utilisation, duty cycle, HBM and its bandwidth by kind of slice; slices
    and interruptions by node pool; queues; libtpu's messages. Default true. Changed in place."""

    alerts: AlertsSpec = AlertsSpec()
    """Alert policies."""

    notification_channels: tuple[Channel, ...] = ()
    """Channels that the alerts notify, by their names; they exist already. Default: none, and incidents are seen in
    Cloud Monitoring only. Changed in place."""

    libtpu_errors: bool = True
    """Count libtpu's error messages in the containers' logs, as the log metric `tpuplane/PLATFORM/libtpu_errors`.
    Default true. Changed in place."""
