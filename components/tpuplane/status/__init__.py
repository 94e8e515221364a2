"""The state of a cluster: pools and slices, queues, the slices of jobs, and why jobs wait.

Pure functions of Kubernetes objects. `tpuplane.status.reading` reads the objects from an API server.
"""

from tpuplane.status.holders import outside_queues
from tpuplane.status.pools import describe_pools
from tpuplane.status.queues import NO_QUEUE, describe_queues
from tpuplane.status.waiting import Placing, in_plain_words

__all__ = ["NO_QUEUE", "Placing", "describe_pools", "describe_queues", "in_plain_words", "outside_queues"]
