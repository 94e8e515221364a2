"""The policy pack. Nothing else stands here, because `PolicyPack(...)` serves until the engine ends it."""

from __future__ import annotations

from pulumi_policy import PolicyPack
from tpuplane_policies.pack import policies
from tpuplane_policies.stackconfig import initial_config

PolicyPack("tpuplane", policies(), initial_config=initial_config())
