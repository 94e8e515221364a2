"""Fields of a stack file from Google's answers, by `data/fields.yaml`."""

import functools
from collections.abc import Mapping
from typing import Any

from tpuplane.adopt.facts import Json, dig
from tpuplane.data_files import read_data
from tpuplane.spec.core.fields import text_problem

Described = dict[str, Any]


@functools.cache
def _data() -> Any:
    return read_data("tpuplane.adopt", "fields")


def fields(section: str, found: Json) -> Described:
    """The fields of a section, nested as in a stack file."""
    described: Described = {}
    for field, (path, *omitted) in _data()[section].items():
        value = dig(found, path, *omitted)
        if value in (None, "") or str(value).endswith("_UNSPECIFIED"):
            continue
        *above, last = field.split(".")
        holder = described
        for part in above:
            holder = holder.setdefault(part, {})
        holder[last] = _own_labels(value, "label") if last == "labels" else value
    if "nodeLabels" in described:
        described["nodeLabels"] = _own_labels(described["nodeLabels"], "nodeLabel")
    return described


def _own_labels(labels: Mapping[str, str], kind: str) -> dict[str, str]:
    """Labels that a stack file may have; Google and tpuplane reserve the others."""
    return {
        key: value
        for key, value in labels.items()
        if not text_problem(f"{kind}Key", key) and not text_problem(f"{kind}Value", value)
    }


def always_kept(path: str) -> bool:
    """Whether a property of a cluster stays as it is in any case."""
    return path.partition(".")[0] in _data()["always_kept"]


def outside(kind: str, found: Json) -> str | None:
    """Why a cluster or node pool cannot be adopted; None if it can."""
    status = found.get("status", "RUNNING")
    if status != "RUNNING":
        return f"its status is {status}; adopt it when it is RUNNING"
    for row in _data()["outside"][kind]:
        if bool(dig(found, row["path"])) != row.get("missing", False):
            return str(row["why"])
    return None
