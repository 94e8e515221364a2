"""What stands in a cluster now: pools and slices, queues, who holds which slice, who waits and why.

Pure functions of objects as an API server gives them; `tpuplane.status.reading` asks the API server of a kubeconfig.
"""

from __future__ import annotations

from tpuplane.status.holders import outside_queues
from tpuplane.status.kueue_messages import in_plain_words
from tpuplane.status.placing import Placing
from tpuplane.status.pools import describe_pools
from tpuplane.status.queues import NO_QUEUE, describe_queues

__all__ = ["NO_QUEUE", "Placing", "describe_pools", "describe_queues", "in_plain_words", "outside_queues"]
