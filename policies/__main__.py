"""The policy pack. Nothing else stands here, because `PolicyPack(...)` serves until the engine ends it."""

from __future__ import annotations

from pulumi_policy import PolicyPack
from tpuplane_policies.pack import policies

PolicyPack("tpuplane", policies())
