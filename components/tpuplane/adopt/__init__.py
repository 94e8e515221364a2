"""Adoption of existing clusters: a stack file that describes them, and Pulumi's import file.

`describe` and `resources` are pure functions of what Google's API and `pulumi preview` answer. `google` and `trial`
ask.
"""

from tpuplane.adopt.describe import Adopted, describe
from tpuplane.adopt.facts import Facts, NotAdopted

__all__ = ["Adopted", "Facts", "NotAdopted", "describe"]
