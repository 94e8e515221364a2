"""The policy pack. `PolicyPack(...)` serves until the engine ends it."""

from __future__ import annotations

from tpuplane_policies.pack import PolicyPack, policies

PolicyPack("tpuplane", policies())
