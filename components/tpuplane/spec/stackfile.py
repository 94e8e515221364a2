"""A platform's description from plain values, and from a Pulumi stack file with the line of every mistake."""

import difflib
import json
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from tpuplane.spec.addons.definitions import Described, Read, in_project, with_definitions
from tpuplane.spec.checks import check
from tpuplane.spec.core.errors import Mistake, Path, SpecError, repeated, shown
from tpuplane.spec.core.mistakes import judged
from tpuplane.spec.core.yaml_reader import Lines, read_yaml
from tpuplane.spec.platform import PROJECT_KEY, PlatformSpec


def parse_platform(value: object, *, project: object = None, read: Read | None = None) -> PlatformSpec:
    """Read the description from plain values, as a stack file or `pulumi.Config` gives them.

    `project` is the stack's `gcp:project`: that of the platform if the description names none. `read` finds the
    definitions of add-ons that the description names; without it, the description has them in the place of their names.
    Raises `SpecError` with every mistake.
    """
    if not isinstance(value, Mapping):
        raise _rejected(f"a description is a mapping with name, project and clusters, not {shown(value)}")
    described = Described(value)
    try:
        described = with_definitions(value, read) if read is not None else described
        # The description's own project wins.
        return judged({**({} if project is None else {"project": project}), **described.value}, PlatformSpec, check)
    except RecursionError:
        raise _rejected("nested too deeply for a description") from None
    except SpecError as error:
        raise described.explained(error) from None


CONFIG_KEY = "tpuplane:platform"
_AT = ("config", CONFIG_KEY)


class StackFileMissing(SpecError):
    """The file does not exist; the message lists the existing stack files."""


def load_stack(path: str | FilePath, read: Read | None = None) -> PlatformSpec:
    """The platform that a stack file describes under `config: tpuplane:platform`.

    `read` finds the definitions of add-ons; by default in the project of the file.
    Raises `SpecError`, each mistake with `file:line`; `StackFileMissing` if the file does not exist.
    """
    document, lines = _read(FilePath(path))
    twice = [
        Mistake(at[2:] if at[:2] == _AT and len(at) > 2 else at, "is given twice; remove one", f"{path}:{line}")
        for (line, _), at in lines.duplicates.items()
    ]
    read = read or in_project(FilePath(path).parent)
    try:
        spec = parse_platform(_description(document), project=document["config"].get(PROJECT_KEY), read=read)
    except SpecError as error:
        located = error.located(_within(lines, str(path)))
        if twice:  # a mistake of one of two values disappears only if the other one is kept
            kept = _mistakes_with_first_values(FilePath(path), read)
            both = [mistake for mistake in located.mistakes if (mistake.path, mistake.message) in kept]
            located = SpecError(both or twice, located.unexplained if both else 0)
        # The value of an alias is written once, and a definition too, so their mistakes are reported once.
        elsewhere = {mistake.where for mistake in error.mistakes}
        once = {}
        for mistake in reversed(located.mistakes):
            mark = mistake.where if mistake.where in elsewhere else lines.mark((*_AT, *mistake.path))
            once[mark, mistake.path[-1:], mistake.message] = mistake
        raise SpecError(list(dict.fromkeys([*once.values(), *twice])), located.unexplained) from None
    if twice:
        raise SpecError(twice)
    return spec


def _mistakes_with_first_values(path: FilePath, read: Read) -> set[tuple[Path, str]]:
    """The mistakes of a stack file when the first values of its repeated keys count."""
    document, _ = read_yaml(path, first=True)
    try:
        parse_platform(_description(document), project=document["config"].get(PROJECT_KEY), read=read)
    except SpecError as error:
        return {(mistake.path, mistake.message) for mistake in error.mistakes}
    return set()


def lines_of(path: str | FilePath) -> Callable[[Path], str]:
    """Where in a stack file that `load_stack` has read each path of the description is: `file:line`."""
    return _within(_read(FilePath(path))[1], str(path))


def _within(lines: Lines, file: str) -> Callable[[Path], str]:
    def where(at: Path) -> str:
        written = (*_AT, *at)
        of_stack = ("config", PROJECT_KEY)
        if at == ("project",) and written not in lines and of_stack in lines:
            written = of_stack
        if _AT not in lines and (CONFIG_KEY,) in lines:
            written = (CONFIG_KEY,)
        return f"{file}:{lines.mark(written)[0]}"

    return where


def _description(document: object) -> Any:
    if not isinstance(document, dict):
        raise _rejected(f"a Pulumi stack file is a mapping with config: {CONFIG_KEY}; this one holds {shown(document)}")
    config = document.get("config")
    if not isinstance(config, dict) or CONFIG_KEY not in config:
        if CONFIG_KEY in document:
            raise _rejected(f"{CONFIG_KEY} is at the top of the file; move it below config:")
        close = difflib.get_close_matches(CONFIG_KEY, config if isinstance(config, dict) else document, n=1)
        hint = f"; is the description under {close[0]!r}?" if close else ""
        raise _rejected(f"config has no {CONFIG_KEY}, where the platform is described{hint}")
    description = config[CONFIG_KEY]
    if isinstance(description, dict) and list(description) == ["secure"]:
        raise _rejected(f"{CONFIG_KEY} is encrypted, and the plan must be readable; set it without --secret")
    if not isinstance(description, str):
        return description
    # `pulumi config set` without --path stores JSON text; the program reads it like a mapping, so do we.
    try:
        return json.loads(description, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise _rejected(f"{CONFIG_KEY} is text, but not JSON: {error}; write a mapping below it") from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Raises `ValueError` where a key is given twice."""
    if (twice := repeated(key for key, _ in pairs)) is not None:
        raise ValueError(f"{twice!r} is given twice")
    return dict(pairs)


def _rejected(message: str) -> SpecError:
    return SpecError([Mistake((), message)])


def _read(file: FilePath) -> tuple[Any, Lines]:
    try:
        return read_yaml(file)
    except (FileNotFoundError, NotADirectoryError):
        raise StackFileMissing([Mistake((), f"{file} does not exist; {_stacks_in(file.parent)}")]) from None
    except IsADirectoryError:
        raise StackFileMissing([Mistake((), f"{file} is a folder; {_stacks_in(file)}")]) from None
    except OSError as error:
        raise SpecError([Mistake((), f"cannot be read: {error.strerror}", str(file))]) from None


def _stacks_in(folder: FilePath) -> str:
    # A call with the name of a stack, or in the project's folder, means a file of `stacks`.
    found = sorted(str(entry) for place in (folder, folder / "stacks") for entry in place.glob("Pulumi.*.yaml"))
    return f"stack files there: {', '.join(found)}" if found else f"there is no stack file in {folder}"
