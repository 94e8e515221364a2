"""Ray's pods as real processes: an extra of the twin, which finds it by its entry point."""

from tpuplane_twin_ray.environment import build, wanted
from tpuplane_twin_ray.image import RayImage

__all__ = ["build", "images"]


def images() -> list[RayImage]:
    """Ray's image; none if Ray's pods are simulated. Raises `ToolError`."""
    folder = wanted()
    return [RayImage(folder=folder)] if folder else []
