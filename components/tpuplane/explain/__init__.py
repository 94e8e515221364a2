"""The reason for each planned value, and the source of the rule. Pure: no Pulumi, no network."""

from tpuplane.explain.explanation import Explained, Explanation, explain
from tpuplane.explain.paths import UnknownPath
from tpuplane.explain.reasons import citation

__all__ = ["Explained", "Explanation", "UnknownPath", "citation", "explain"]
