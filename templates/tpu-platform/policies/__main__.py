"""The policy pack. Add policies of your own to the list."""

from tpuplane_policies.pack import PolicyPack, policies

PolicyPack("${PROJECT}", policies())
