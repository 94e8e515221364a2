"""GKE's TPU webhook: tells each host of a slice who it is, and keeps a slice's hosts on one node pool."""

from __future__ import annotations

from tpuplane_twin.cluster.tpu_webhook.server import TpuWebhook

__all__ = ["TpuWebhook"]
