"""Users' own operators, built from the Go modules that their definitions name.

Each one has a folder in the user's cache: its go.mod, its chart, and `addon.json`. A twin that starts uses all of them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.machine.paths import cache_root
from tpuplane_twin.tools.catalogue import Platform, Source, ToolError, run
from tpuplane_twin.tools.golang import find_go
from tpuplane_twin.tools.install import Tools, ensure
from tpuplane_twin.tools.progress import ProgressCallback

if TYPE_CHECKING:  # the models take half a second to import
    from tpuplane.spec.addons.catalogue import AddonDefinition, GoModule, Image

_RECORD = "addon.json"
_SECONDS = 60  # an estimate for the progress of the build


@dataclass(frozen=True, slots=True)
class OwnAddon:
    """An operator that the twin can run."""

    tool: str
    """Its program, by the name of a tool."""
    folder: Path
    chart: str
    """Name of its chart, which is in `folder`."""
    image: Image
    module: GoModule

    @property
    def source(self) -> Source:
        """What is built."""
        package = "/".join(filter(None, (self.module.path, self.module.package)))
        why, binaries = "an operator of the user", {self.tool: package}
        folders = (self.module.chart,)
        return Source(
            self.tool, self.module.path, self.module.version, _SECONDS, why, binaries, folders, own=self.folder
        )


def own_addons() -> list[OwnAddon]:
    """Those that were built."""
    return [_read(file.parent) for file in sorted(_root().glob(f"*/{_RECORD}"))]


def ensure_everything(progress: ProgressCallback = lambda status: None) -> Tools:
    """The tools of the twin, and the operators of the user. Raises `ToolError`."""
    return ensure(progress=progress, more=[addon.source for addon in own_addons()])


def build_addon(name: str, definition: AddonDefinition, progress: ProgressCallback) -> None:
    """Build the program of a definition, and keep its chart. Raises `ToolError`."""
    module, image = definition.go_module, definition.image
    if module is None or image is None:
        missing = "goModule" if module is None else "image"
        raise ToolError(f"{name}: the twin builds an operator with goModule and image; the definition has no {missing}")
    folder = _root() / name
    scratch = folder.with_name(f".{name}")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        addon = OwnAddon(f"addon-{name}", scratch, definition.chart.name, image, module)
        _require(addon.source)
        found = ensure([addon.tool], progress, more=[addon.source])
        origin = found.module(addon.tool) / module.chart
        _keep_chart(origin, scratch / addon.chart, definition.chart.version, definition.values)
        kept = {"tool": addon.tool, "chart": addon.chart, **definition.model_dump(include={"image", "go_module"})}
        write_atomic(scratch / _RECORD, json.dumps(kept))
        shutil.rmtree(folder, ignore_errors=True)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _root() -> Path:
    return cache_root() / "addons"


def _read(folder: Path) -> OwnAddon:
    from tpuplane.spec.addons.catalogue import GoModule, Image  # noqa: PLC0415

    kept = json.loads((folder / _RECORD).read_text())
    return OwnAddon(kept["tool"], folder, kept["chart"], Image(**kept["image"]), GoModule(**kept["go_module"]))


def _require(source: Source) -> None:
    """Write go.mod and go.sum. The module's own go.mod determines the versions of its libraries."""
    write_atomic(source.go_mod_folder / "go.mod", f"module tpuplane.dev/tools/{source.name}\n")
    go = find_go((source,), cache_root(), Platform.here())
    environment = {**go.environment, "GOFLAGS": "-mod=mod"}
    (package,) = source.packages
    command: list[str | Path] = [go.command, "get", "-tool", f"{package}@{source.version}"]
    run(command, f"{source.module} {source.version} is not available", env=environment, cwd=source.go_mod_folder)


def _keep_chart(origin: Path, target: Path, version: str, values: Mapping[str, Any]) -> None:
    """Copy the chart without dependencies that are switched off, because modules lack the charts of dependencies. Some
    projects set the version only when they package a release."""
    description = origin / "Chart.yaml"
    if not description.is_file():
        raise ToolError(f"the module has no chart in {origin.name}; set goModule.chart to its folder")
    chart = yaml.safe_load(description.read_text(encoding="utf-8")) | {"version": version}
    defaults = yaml.safe_load((origin / "values.yaml").read_text(encoding="utf-8")) or {}
    kept = [part for part in chart.pop("dependencies", ()) if _switched_on(part.get("condition", ""), values, defaults)]
    absent = [part["name"] for part in kept if not list((origin / "charts").glob(f"{part['name']}*"))]
    if absent:
        raise ToolError(
            f"the chart {chart['name']} needs the charts {', '.join(absent)}, which its module does not contain; "
            "switch them off in values of the definition, and name their operators in needs"
        )
    shutil.copytree(origin, target)
    write_atomic(target / "Chart.yaml", yaml.safe_dump({**chart, **({"dependencies": kept} if kept else {})}))


def _switched_on(condition: str, *values: Mapping[str, Any]) -> bool:
    """Whether Helm renders a dependency: the first value that a path of the condition finds counts; without any, it
    does."""
    for path in filter(None, (part.strip() for part in condition.split(","))):
        for known in values:
            found: Any = known
            for key in path.split("."):
                found = found.get(key) if isinstance(found, dict) else None
            if isinstance(found, bool):
                return found
    return True
