"""Definitions of operators that a description names: files of the project, or of installed packages.

They are read before the description is checked. The description then has each definition in the place of its name.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from tpuplane.spec.addons.addons import NamedDefinition
from tpuplane.spec.addons.catalogue import AddonDefinition, addon_catalogue
from tpuplane.spec.core.errors import Mistake, Path, SpecError, choice, shown
from tpuplane.spec.core.fields import STRICT
from tpuplane.spec.core.mistakes import mistakes_of
from tpuplane.spec.core.yaml_reader import Lines, read_yaml

ENTRY_POINTS = "tpuplane.addons"
_PLACE = ("clusters", "*", "addons", "custom", "*", "definition")
_FILES = (".yaml", ".yml")

Read = Callable[[str, Path], tuple[Any, Lines]]
"""Reads the definition with a name that the description has at a path. Raises `SpecError`."""


@dataclass(frozen=True, slots=True)
class Described:
    """A description with the definitions that it names."""

    value: Any
    read: Mapping[Path, tuple[str, Lines]] = field(default_factory=dict)
    """Name and lines of each definition, by its place in the description."""
    unread: Mapping[Path, tuple[Mistake, ...]] = field(default_factory=dict)
    """Why other definitions cannot be read."""

    def explained(self, error: SpecError) -> SpecError:
        """The mistakes, those of definitions with their files and lines."""
        found: dict[Mistake, None] = {}
        for mistake in error.mistakes:
            place = mistake.path[: len(_PLACE)]
            if place in self.unread:
                found |= dict.fromkeys(self.unread[place])
            elif place in self.read:
                name, lines = self.read[place]
                found[replace(mistake, where=f"{name}:{lines.mark(mistake.path[len(_PLACE) :])[0]}")] = None
            else:
                found[mistake] = None
        return SpecError(found, error.unexplained)


def with_definitions(description: Any, read: Read) -> Described:
    """The description, with each definition in the place of its name."""
    known: dict[Path, tuple[str, Lines]] = {}
    unread: dict[Path, tuple[Mistake, ...]] = {}

    def replaced(value: Any, at: Path) -> Any:
        if len(at) < len(_PLACE):
            if not isinstance(value, Mapping):
                return value
            return {
                key: replaced(item, (*at, key)) if _PLACE[len(at)] in ("*", key) else item
                for key, item in value.items()
            }
        if not isinstance(value, str):
            return value
        try:
            content, lines = read(value, at)
            known[at] = (value, lines)
            # A date is text, as in Pulumi's configuration.
            return json.loads(json.dumps(content, default=str))
        except SpecError as error:
            unread[at] = tuple(replace(mistake, path=(*at, *mistake.path)) for mistake in error.mistakes)
            return value

    return Described(replaced(description, ()), known, unread)


def in_project(start: FilePath | None = None) -> Read:
    """Read files of the project around `start` (default: the current folder), and definitions of packages."""
    folder = project_folder(start or FilePath())

    def locate(path: str) -> FilePath:
        if FilePath(path).is_absolute():  # it has no earlier revision, and other machines do not have it
            remedy = "name a file of the project by its path from the folder of Pulumi.yaml"
            raise SpecError([Mistake((), f"{shown(path)} is an absolute path; {remedy}")])
        return folder / path

    return lambda name, _: read_definition(name, locate)


def project_folder(start: FilePath) -> FilePath:
    """The nearest folder with a Pulumi.yaml, from `start` upwards; `start` if none has it."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / "Pulumi.yaml").is_file()), start)


def read_definition(name: str, locate: Callable[[str], FilePath]) -> tuple[Any, Lines]:
    """The values of a definition, with their lines. `locate` finds a file of the project. Raises `SpecError`."""
    file = FilePath(name)
    try:
        file = locate(name) if name.endswith(_FILES) else _of_package(name)
        values, lines = read_yaml(file)
    except SpecError as error:
        named = (replace(mistake, where=mistake.where.replace(str(file), name)) for mistake in error.mistakes)
        raise SpecError(named) from None
    except (OSError, ValueError) as error:  # ValueError: a null character
        path, package = "correct the path, which begins in the folder of Pulumi.yaml", "install a package that has it"
        remedy = f"restore the file, or {path if name.endswith(_FILES) else package}"
        cause = f"{file}: {error.strerror}" if isinstance(error, OSError) else error
        raise SpecError([Mistake((), f"{shown(name)} cannot be read: {cause}; {remedy}")]) from None
    if lines.duplicates:
        raise SpecError(
            Mistake(at, "is given twice; remove one", f"{name}:{line}") for (line, _), at in lines.duplicates.items()
        )
    return values, lines


def load_definition(name: str) -> AddonDefinition:
    """A definition alone: a file by its path, that of an installed package, or of an add-on that tpuplane ships. Raises
    `SpecError`."""
    if name in addon_catalogue().addons:
        return addon_catalogue().addons[name]
    values, lines = read_definition(name, FilePath)
    try:
        return NamedDefinition.model_validate(values, context=STRICT)
    except ValidationError as error:
        found = mistakes_of(error, NamedDefinition)
        raise SpecError(replace(mistake, where=f"{name}:{lines.mark(mistake.path)[0]}") for mistake in found) from None


def _of_package(name: str) -> FilePath:
    """The file of an entry point `NAME = "package"`: NAME.yaml in the package, which is not imported."""
    if not (found := tuple(entry_points(group=ENTRY_POINTS, name=name))):
        line = choice(name, "an add-on of an installed package", sorted(entry_points(group=ENTRY_POINTS).names))
        remedy = f"install its package, or name a file of the project, which ends with {' or '.join(_FILES)}"
        raise SpecError([Mistake((), f"{line}; {remedy}")])
    if len(found) > 1:
        packages = ", ".join(sorted(point.dist.name for point in found if point.dist))
        raise SpecError([Mistake((), f"{shown(name)} is in several packages: {packages}; uninstall all except one")])
    package = found[0].value
    try:
        folders = getattr(find_spec(package), "submodule_search_locations", None)
    except Exception:  # the package around it is imported, which runs its code
        folders = None
    if not folders:
        raise SpecError([Mistake((), f"{shown(name)}: {shown(package)} is not a package; correct the entry point")])
    return FilePath(folders[0], f"{name}.yaml")
