"""What a program passes for a platform's dashboard and alerts: the fields of `tpuplane.spec.observability`."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class SliceDownArgs(TypedDict):
    """An alert: a multi-host slice is not available, so that what runs on it stands still."""

    enabled: NotRequired[bool]
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: NotRequired[int]
    """How long the slice must be down. Default 5. Changed in place."""


class IdleChipsArgs(TypedDict):
    """An alert: chips are paid for and do nothing."""

    enabled: NotRequired[bool]
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: NotRequired[int]
    """How long the chips must be idle. Default 60. Changed in place."""

    duty_cycle_percent: NotRequired[int]
    """A chip that is busy for less of its time is idle. Default 5. Changed in place."""


class StarvedQueueArgs(TypedDict):
    """An alert: work waits in a queue and none is admitted. Of clusters with Kueue and `addons.monitoring`."""

    enabled: NotRequired[bool]
    """Whether there is such an alert. Default true. Changed in place."""

    after_minutes: NotRequired[int]
    """How long the queue must stand still. Default 120. Changed in place."""


class AlertsArgs(TypedDict):
    """Alert policies of Cloud Monitoring, over all clusters."""

    slice_down: NotRequired[SliceDownArgs]
    """A slice is not available."""

    idle_chips: NotRequired[IdleChipsArgs]
    """Chips are paid for and do nothing."""

    starved_queue: NotRequired[StarvedQueueArgs]
    """Work waits and none is admitted."""


class ObservabilityArgs(TypedDict):
    """A dashboard, alert policies and a metric of log entries in the platform's project."""

    dashboard: NotRequired[bool]
    """A Cloud Monitoring dashboard of chips, slices and queues. Default true. Changed in place."""

    alerts: NotRequired[AlertsArgs]
    """Alert policies."""

    notification_channels: NotRequired[Sequence[str]]
    """Channels that the alerts notify, by their names; they exist already. Default: none, and incidents are seen in
    Cloud Monitoring only. Changed in place."""

    libtpu_errors: NotRequired[bool]
    """Count libtpu's error messages in the containers' logs. Default true. Changed in place."""
