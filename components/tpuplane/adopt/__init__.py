"""Adoption of existing clusters: a stack file that describes them, and Pulumi's import file.

`describe` and `resources` are pure functions of the answers of Google's API and of `pulumi preview`. `google` and
`trial` get the answers.
"""

from tpuplane.adopt.describe import Adopted, describe
from tpuplane.adopt.facts import Facts, NotAdopted

__all__ = ["Adopted", "Facts", "NotAdopted", "describe"]
