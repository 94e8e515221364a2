"""A platform as a picture: clusters, pools, slices, hosts and chips to scale, as one SVG file. Pure, deterministic."""

from __future__ import annotations

from tpuplane.picture.drawing import draw

__all__ = ["draw"]
