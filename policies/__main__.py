"""The policy pack. `PolicyPack(...)` serves until the engine ends it."""

from tpuplane_policies.pack import PolicyPack, policies

PolicyPack("tpuplane", policies())
