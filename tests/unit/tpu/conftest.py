"""Hypothesis as this repository runs it: no deadline (machines differ), no example database left on disk."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tpuplane", deadline=None, database=None)
settings.load_profile("tpuplane")
