"""Which code imports which: no arrow between distributions, folders or modules leads back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "tpuplane": ROOT / "components/tpuplane",
    "tpuplane_policies": ROOT / "policies/tpuplane_policies",
    "tpuplane_twin": ROOT / "twin/tpuplane_twin",
    "tpuplane_twin_ray": ROOT / "twin/tpuplane_twin_ray",
    "tpuplane_standins": ROOT / "standins/tpuplane_standins",
}
MAY_IMPORT = {
    "tpuplane": set(),
    "tpuplane_policies": {"tpuplane"},
    "tpuplane_twin": {"tpuplane"},
    "tpuplane_twin_ray": {"tpuplane", "tpuplane_twin"},
    "tpuplane_standins": set(),
}


@cache
def imports(package: str) -> dict[str, set[str]]:
    """Each module of a package, and the dotted names that it imports, also inside of functions."""
    root = PACKAGES[package]
    files = [file for file in root.rglob("*.py") if "template" not in file.parts]  # of `tpuplane init`
    names = {file: ".".join(file.relative_to(root.parent).with_suffix("").parts) for file in files}
    return {name.removesuffix(".__init__"): set(imported(file)) for file, name in names.items()}


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_distribution_imports_only_those_below_it(package: str) -> None:
    found = {name.partition(".")[0] for names in imports(package).values() for name in names}
    assert package in found
    assert (found & PACKAGES.keys()) - {package} == MAY_IMPORT[package]


@pytest.mark.parametrize("package", PACKAGES)
def test_neither_modules_nor_folders_import_each_other_in_a_circle(package: str) -> None:
    modules = imports(package)
    # `from a.b import c` imports the module a.b.c if there is one, else a.b.
    uses = {
        module: {name if name in modules else name.rpartition(".")[0] for name in names} & modules.keys() - {module}
        for module, names in modules.items()
    }
    TopologicalSorter(uses).prepare()
    folders: dict[str, set[str]] = {}
    for module, used in uses.items():
        if folder := ".".join(module.split(".")[1:2]):
            folders.setdefault(folder, set()).update(name.split(".")[1] for name in used if "." in name)
    TopologicalSorter({folder: used - {folder} for folder, used in folders.items()}).prepare()


def test_resources_are_made_of_a_plan() -> None:
    """They import no model of a description, only the errors that its mistakes raise."""
    rooms = ("tpuplane.gke", "tpuplane.addons", "tpuplane.platform")
    modules = {module: names for module, names in imports("tpuplane").items() if module.startswith(rooms)}
    assert len(modules) > 25
    of_spec = {name.rpartition(".")[0] for names in modules.values() for name in names if "tpuplane.spec" in name}
    assert of_spec == {"tpuplane.spec.core.errors"}
