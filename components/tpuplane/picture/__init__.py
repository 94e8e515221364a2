"""A picture of a platform as an SVG file: clusters, pools, slices, hosts and chips to scale. Pure, deterministic."""

from tpuplane.picture.drawing import draw

__all__ = ["draw"]
