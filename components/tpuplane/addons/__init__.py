"""Operators in a cluster, and the objects for them."""

from tpuplane.addons.charts import ChartMissing
from tpuplane.addons.gate import NotReady
from tpuplane.addons.monitoring import Monitoring, MonitoringArgs
from tpuplane.addons.multi_kueue import MultiKueue, MultiKueueArgs, MultiKueueWorker, MultiKueueWorkerArgs
from tpuplane.addons.observability import Observability, ObservabilityArgs
from tpuplane.addons.operator import Operator, OperatorArgs
from tpuplane.addons.operators import Addons, AddonsArgs
from tpuplane.addons.queues import Queues, QueuesArgs

__all__ = [
    "Addons",
    "AddonsArgs",
    "ChartMissing",
    "Monitoring",
    "MonitoringArgs",
    "MultiKueue",
    "MultiKueueArgs",
    "MultiKueueWorker",
    "MultiKueueWorkerArgs",
    "NotReady",
    "Observability",
    "ObservabilityArgs",
    "Operator",
    "OperatorArgs",
    "Queues",
    "QueuesArgs",
]
