"""The remote components of the Kubernetes provider: charts and YAML that become one resource for each object."""

from __future__ import annotations

from tpuplane_twin.providers.kubernetes.construct.components import construct

__all__ = ["construct"]
