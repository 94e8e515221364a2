"""docs/twin-api.md lists all served methods and rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tpuplane_twin.gcp.compute.instances import instance_handlers
from tpuplane_twin.gcp.compute.service import compute_handlers
from tpuplane_twin.gcp.container.service import container_handlers
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.identity import ServiceAccounts, identity_handlers
from tpuplane_twin.gcp.projects import project_handlers
from tpuplane_twin.gcp.service_usage import service_usage_handlers

pytestmark = pytest.mark.twin

PAGE = (Path(__file__).parents[3] / "docs" / "twin-api.md").read_text(encoding="utf-8")


def test_every_rule_has_its_line_and_no_other() -> None:
    rules = data("pool_rules")
    assert rows("## Rules for node pools") == [rule["id"] for rule in (*rules["rules"], *rules["late_rules"])]


def test_every_kind_of_fault_has_its_line() -> None:
    kinds = data("faults")["kinds"]
    assert rows("## Faults") == list(kinds)
    assert [name for name, kind in kinds.items() if f"| `{name}` | {kind['means']} |" not in PAGE] == []


def rows(heading: str) -> list[str]:
    """The first cells of the table in a section."""
    section = PAGE[PAGE.index(heading) + len(heading) :].partition("\n## ")[0]
    return re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)


def test_every_served_method_is_named() -> None:
    nothing: object = object()
    served = [
        *container_handlers(nothing, nothing),  # type: ignore[arg-type]
        *compute_handlers(nothing),  # type: ignore[arg-type]
        *identity_handlers(nothing),  # type: ignore[arg-type]
        *ServiceAccounts(nothing).handlers(),  # type: ignore[arg-type]
        *instance_handlers(nothing, nothing),  # type: ignore[arg-type]
        *project_handlers(nothing),  # type: ignore[arg-type]
        *service_usage_handlers(nothing, []),  # type: ignore[arg-type]
    ]
    text = PAGE[PAGE.index("## What is served") : PAGE.index("## Operations")]
    for method in served:
        collection, name = method.split(".")[-2:]
        assert collection in text, method
        assert f"`{name}`" in text or f"`{collection}.{name}`" in text, method
