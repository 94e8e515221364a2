"""Every field of a cluster or pool has a row that says where Google's API has its value, or a reason for none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from tpuplane.data_files import read_data
from tpuplane.spec import ClusterSpec, PoolSpec, SystemPoolSpec
from tpuplane.spec.core.fields import unwrap
from tpuplane.spec.pools.gpu import GpuPoolSpec

from tests.support import TESTS

pytestmark = pytest.mark.unit

ROWS: dict[str, Any] = read_data("tpuplane.adopt", "fields")
UNREAD: dict[str, dict[str, list[str]]] = yaml.safe_load((TESTS / "unit/adopt/unread.yaml").read_text())
SECTIONS = {
    ClusterSpec: ("cluster",),
    SystemPoolSpec: ("systemPool",),
    PoolSpec: ("pool", "tpu"),
    GpuPoolSpec: ("pool", "gpu"),
}


def paths(model: type[BaseModel], known: set[str], above: str = "") -> Iterator[str]:
    """Each field, also of parts, but of none in `known`."""
    for name, field in model.model_fields.items():
        path = f"{above}{field.alias or name}"
        part, _ = unwrap(field.annotation)
        if path in known or not (isinstance(part, type) and issubclass(part, BaseModel)):
            yield path
        else:
            yield from paths(part, known, f"{path}.")


@pytest.mark.parametrize("model", SECTIONS)
def test_every_field_is_read_or_has_a_reason(model: type[BaseModel]) -> None:
    reasons = {path for section in SECTIONS[model] for listed in UNREAD.get(section, {}).values() for path in listed}
    rows = {path for section in SECTIONS[model] for path in ROWS.get(section, {})}
    found = set(paths(model, reasons))
    missing = sorted(found - rows - reasons)
    assert missing == [], (
        f"`tpuplane import` loses {', '.join(missing)}: write where Google's API has the value into the section "
        f"{SECTIONS[model][0]} of components/tpuplane/adopt/data/fields.yaml"
    )
    assert (rows | reasons) - found == set(), "rows and reasons for fields that no longer exist"
    assert rows & reasons == set(), "these fields are read"
