"""Which distribution imports which: no arrow leads back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "tpuplane": ROOT / "components/tpuplane",
    "tpuplane_policies": ROOT / "policies/tpuplane_policies",
    "tpuplane_twin": ROOT / "twin/tpuplane_twin",
    "tpuplane_standins": ROOT / "standins/tpuplane_standins",
}
MAY_IMPORT = {
    "tpuplane": set(),
    "tpuplane_policies": {"tpuplane"},
    "tpuplane_twin": {"tpuplane"},
    "tpuplane_standins": set(),
}


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports, also inside of functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


@pytest.mark.parametrize("package", PACKAGES)
def test_a_distribution_imports_only_those_below_it(package: str) -> None:
    files = [file for file in PACKAGES[package].rglob("*.py") if "template" not in file.parts]  # of `tpuplane init`
    found = {name.partition(".")[0] for file in files for name in imported(file)}
    assert package in found
    assert (found & PACKAGES.keys()) - {package} == MAY_IMPORT[package]
