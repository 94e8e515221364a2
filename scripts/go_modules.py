"""Bring the go.mod of each tool to the version in `tools.yaml`: a part of `make generate`.

Sources that are `alike` then agree on the versions of their libraries, and so share compiled packages.
"""

import re
from collections.abc import Collection, Iterable

from tpuplane_twin.machine.paths import cache_root
from tpuplane_twin.tools.catalogue import Platform, Source, catalogue, run
from tpuplane_twin.tools.golang import Go, find_go

_REQUIREMENT = re.compile(r"^(?:require )?\s*([\w.-]+\.\w+/\S+) (v\S+)", re.MULTILINE)
# A raised library can require newer versions of others.
_ROUNDS = 5


def requirements(source: Source) -> dict[str, str]:
    """The versions of modules in a source's go.mod."""
    return dict(_REQUIREMENT.findall((source.go_mod_folder / "go.mod").read_text(encoding="utf-8")))


def outdated() -> list[Source]:
    """The sources whose go.mod has another version than `tools.yaml`."""
    return [source for source in catalogue().sources if requirements(source).get(source.module) != source.version]


def stale() -> list[Source]:
    """The outdated sources, and those that disagree with others on a library."""
    apart = [source for group in _groups() if differences(*group) for source in group[0]]
    return [source for source in catalogue().sources if source in outdated() or source in apart]


def _groups() -> list[tuple[tuple[Source, ...], tuple[str, ...] | None]]:
    """Sources, and the libraries on which they agree; None: all."""
    return [*((group, None) for group in catalogue().alike), (catalogue().sources, catalogue().shared)]


def differences(group: Iterable[Source], libraries: Collection[str] | None = None) -> dict[str, set[str]]:
    """The libraries (None: all but `unlike`) on whose versions a group of sources disagrees."""
    seen: dict[str, set[str]] = {}
    for source in group:
        for module, version in requirements(source).items():
            if module in libraries if libraries is not None else module not in catalogue().unlike:
                seen.setdefault(module, set()).add(version)
    return {module: versions for module, versions in seen.items() if len(versions) > 1}


def update() -> None:
    """Write the go.mod and go.sum of outdated sources, and of those that disagree. Raises `ToolError` if Go fails."""
    if not stale():
        return
    go = find_go(catalogue().sources, cache_root(), Platform.here())
    for source in outdated():
        _raise_staging(source)
        _get(go, source, f"{source.module}@{source.version}")
    for _ in range(_ROUNDS):
        for group, libraries in _groups():
            found = differences(group, libraries)
            for source in group if found else ():
                own = requirements(source)
                wanted = {module: max(found[module], key=_order) for module in found.keys() & own.keys()}
                if behind := [f"{name}@{version}" for name, version in wanted.items() if own[name] != version]:
                    _get(go, source, *sorted(behind))


def _raise_staging(source: Source) -> None:
    """Kubernetes replaces its own libraries by those of its release: v1.36.3 is their v0.36.3."""
    file = source.go_mod_folder / "go.mod"
    text = file.read_text(encoding="utf-8")
    libraries = source.version.replace("v1.", "v0.", 1)
    file.write_text(re.sub(r"(?m)^(\s*(k8s\.io/\S+) => \2) v\S+$", rf"\1 {libraries}", text), encoding="utf-8")


def _get(go: Go, source: Source, *modules: str) -> None:
    environment = {**go.environment, "GOFLAGS": "-mod=mod"}
    for arguments in (("get", *modules), *([("mod", "tidy")] if source.binaries else ())):
        run([go.command, *arguments], f"{source.name} {source.version}", env=environment, cwd=source.go_mod_folder)


def _order(version: str) -> tuple[object, ...]:
    """Orders the versions of one module; of one commit's time after another's."""
    numbers, _, rest = version.removeprefix("v").partition("-")
    return (*(int(number) for number in numbers.split("+")[0].split(".")), not rest, rest)
