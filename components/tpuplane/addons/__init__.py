"""What runs inside a cluster beside its work: operators and the objects that they act on."""

from tpuplane.addons.queues import Queues, QueuesArgs

__all__ = ["Queues", "QueuesArgs"]
