"""Quota that Google has granted, as the user declares it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tpuplane.spec.core.fields import Spec


class QuotaSpec(Spec):
    """TPU chips of one generation, or GPUs of one model, that the project may use at a time in one region or zone."""

    on_demand: Annotated[int, Field(ge=0)] | None = None
    """Chips or GPUs of on-demand hosts. Default: not declared, not checked."""

    preemptible: Annotated[int, Field(ge=0)] | None = None
    """Chips or GPUs of spot and flex-start hosts: Google's preemptible quota. Default: not declared, not checked."""
