"""Fields of a stack file from Google's answers. `data/fields.yaml` maps them."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from tpuplane.adopt.facts import Json, dig
from tpuplane.data_files import read_data
from tpuplane.spec.core.texts import text_problem

Described = dict[str, Any]
_data = cache(partial(read_data, "tpuplane.adopt", "fields"))


def fields(section: str, found: Json) -> Described:
    """The fields of a section, nested as in a stack file. Labels that Google and tpuplane reserve are omitted."""
    described: Described = {}
    for field, (path, *omitted) in _data()[section].items():
        value = dig(found, path, *omitted)
        if value in (None, "") or str(value).endswith("_UNSPECIFIED"):
            continue
        if field in ("labels", "nodeLabels"):
            kind = field.removesuffix("s")
            value = {
                key: text
                for key, text in value.items()
                if not text_problem(f"{kind}Key", key) and not text_problem(f"{kind}Value", text)
            }
        *above, last = field.split(".")
        holder = described
        for part in above:
            holder = holder.setdefault(part, {})
        holder[last] = value
    return described


def undeclared(kind: str, found: Json, inherited: Json | None = None) -> Iterator[str]:
    """The settings of a kind of cluster or node pool that differ from GKE's own, and that a stack file does not have.

    New node pools get those in `inherited` from their cluster.
    """
    for path, own in _data()["undeclared"].get(kind, {}).items():
        value, setting = dig(found, path), path.removeprefix("config.")
        usual = value in (None, "", *own) if own else not value
        if not usual and not str(value).endswith("_UNSPECIFIED") and value != dig(inherited, setting):
            yield setting


def outside(kind: str, found: Json) -> str | None:
    """Why a cluster or node pool cannot be adopted; None if it can."""
    status = found.get("status", "RUNNING")
    if status != "RUNNING":
        return f"its status is {status}; adopt it when it is RUNNING"
    rows = (row for row in _data()["outside"][kind] if bool(dig(found, row["path"])) != row.get("missing", False))
    return next((str(row["why"]) for row in rows), None)
