"""Labels of a resource: the user's, the provider's defaults, and the attribution that the official plugin adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tpuplane_twin.providers.contract import Properties
from tpuplane_twin.providers.gcp.session import Session
from tpuplane_twin.providers.values import UNKNOWN

_ATTRIBUTION: Final = {"goog-pulumi-provisioned": "true"}


def planned_labels(session: Session, given: Any, prior: Mapping[str, Any] | None) -> Properties:
    """`pulumiLabels` and `effectiveLabels` of a plan, for the labels that the user gives."""
    given = given or {}
    if given is UNKNOWN or UNKNOWN in given.values():
        return {"pulumiLabels": UNKNOWN, "effectiveLabels": UNKNOWN}
    before = dict((prior or {}).get("effectiveLabels") or {})
    managed = (prior or {}).get("pulumiLabels") or {}
    labels = dict(session.default_labels)
    strategy = session.attribution
    if strategy and (prior is None or strategy == "PROACTIVE" or before.keys() & _ATTRIBUTION.keys()):
        labels |= _ATTRIBUTION
    labels |= given
    effective = {key: value for key, value in before.items() if key not in managed or key in labels} | labels
    return {"pulumiLabels": labels, "effectiveLabels": effective}
