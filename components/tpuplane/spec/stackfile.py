"""Reading a platform's description from a Pulumi stack file, with the line of every mistake."""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any

import yaml
from pydantic.alias_generators import to_snake

from tpuplane.spec.errors import Mistake, Path, SpecError, shown
from tpuplane.spec.platform import PlatformSpec

CONFIG_KEY = "tpuplane:platform"

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class StackFileMissing(SpecError):
    """There is no such file; the message lists the stack files that there are."""


def load_stack(path: str | FilePath) -> PlatformSpec:
    """The platform that a stack file describes under `config: tpuplane:platform`.

    Raises `SpecError`, each mistake with `file:line`; `StackFileMissing` when the file is not there.
    """
    file = FilePath(path)
    node, document = _read(file)

    def refuse(message: str) -> SpecError:
        return SpecError([Mistake((), message, str(path))])

    if not isinstance(document, dict):
        raise refuse(f"a Pulumi stack file is a mapping with config: {CONFIG_KEY}; this one holds {shown(document)}")
    config = document.get("config")
    if not isinstance(config, dict) or CONFIG_KEY not in config:
        keys = [str(key) for key in config] if isinstance(config, dict) else [str(key) for key in document]
        close = difflib.get_close_matches(CONFIG_KEY, keys, n=1)
        hint = f"; did you mean that by {close[0]!r}?" if close else ""
        raise refuse(f"config has no {CONFIG_KEY}, where the platform is described{hint}")
    description = config[CONFIG_KEY]
    if isinstance(description, str):
        # `pulumi config set` without --path stores JSON text; the program reads it like a mapping, so do we.
        with contextlib.suppress(json.JSONDecodeError):
            description = json.loads(description)
    lines = _Lines(node)
    where = lines.within(str(path))
    twice = [Mistake(at, "stands here twice; remove one", f"{path}:{line}") for at, line in lines.duplicates]
    try:
        spec = PlatformSpec.parse(description)
    except SpecError as error:
        raise SpecError([*error.located(where).mistakes, *twice]) from None
    if twice:
        raise SpecError(twice)
    return spec


def lines_of(path: str | FilePath) -> Callable[[Path], str]:
    """Where in a stack file that `load_stack` has read each path of the description stands: `file:line`."""
    return _Lines(_read(FilePath(path))[0]).within(str(path))


def _read(file: FilePath) -> tuple[Any, Any]:
    """The file's YAML nodes, which know their lines, and its values."""
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise StackFileMissing([Mistake((), _missing(file))]) from None
    except IsADirectoryError:
        raise StackFileMissing([Mistake((), f"{file} is a folder; {_stacks_in(file)}")]) from None
    except UnicodeDecodeError as error:
        raise SpecError([Mistake((), f"not UTF-8 text: {error.reason} at byte {error.start}", str(file))]) from None
    except OSError as error:
        raise SpecError([Mistake((), f"cannot be read: {error.strerror}", str(file))]) from None
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        return node, None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        cause = ", ".join(filter(None, (error.context, error.problem)))
        raise SpecError([Mistake((), f"not YAML: {cause}", f"{file}{line}")]) from None
    except yaml.YAMLError as error:
        raise SpecError([Mistake((), f"not YAML: {' '.join(str(error).split())}", str(file))]) from None
    except ValueError as error:
        number, text = _unreadable(loader, node)
        message = f"{shown(text)} looks like another kind of value to YAML, but is none: {error}; put it in quotes"
        raise SpecError([Mistake((), message, f"{file}:{number}")]) from None


def _unreadable(loader: Any, root: Any) -> tuple[int, str]:
    """Line and text of the scalar that is a date or number by its looks alone: 2026-02-30."""
    for node in _scalars(root, set()):
        try:
            loader.construct_document(node)
        except ValueError:
            return node.start_mark.line + 1, node.value
    raise ValueError("every value of the document can be read")


def _scalars(node: Any, seen: set[int]) -> Iterator[Any]:
    if id(node) in seen:
        return  # an alias may contain itself
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        yield node
    for item in node.value if isinstance(node, yaml.CollectionNode) else ():
        for part in item if isinstance(item, tuple) else (item,):
            yield from _scalars(part, seen)


def _missing(file: FilePath) -> str:
    return f"{file} does not exist; {_stacks_in(file.parent)}"


def _stacks_in(folder: FilePath) -> str:
    found = sorted(str(entry) for entry in folder.glob("Pulumi.*.yaml")) if folder.is_dir() else []
    return f"stack files there: {', '.join(found)}" if found else f"there is no stack file in {folder}"


class _Lines:
    """Where each path of a YAML document stands, and which keys stand twice in one mapping."""

    def __init__(self, root: Any) -> None:
        self._lines: dict[Path, int] = {}
        self._walked: set[int] = set()
        self.duplicates: list[tuple[Path, int]] = []
        self._walk(root, (), 1)

    def of(self, path: Path) -> int:
        """The line of the path, or of the nearest thing around it that is in the file."""
        found = 1
        at: Path = ()
        for part in path:
            written = next((name for name in (part, to_snake(str(part))) if (*at, name) in self._lines), None)
            if written is None:
                break
            at = (*at, written)
            found = self._lines[at]
        return found

    def within(self, file: str) -> Callable[[Path], str]:
        """The same as `file:line`, for paths of the platform's description."""
        return lambda at: f"{file}:{self.of(('config', CONFIG_KEY, *at))}"

    def _walk(self, node: Any, path: Path, line: int) -> None:
        self._lines[path] = line
        if id(node) in self._walked:
            return  # an alias: what is inside stands elsewhere, and may contain itself
        self._walked.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                at = (*path, str(key.value))
                if at in self._lines:
                    platform = at[:2] == ("config", CONFIG_KEY) and len(at) > 2
                    self.duplicates.append((at[2:] if platform else at, key.start_mark.line + 1))
                    # YAML keeps the last one, so that is the one whose lines count.
                    self._lines = {seen: line for seen, line in self._lines.items() if seen[: len(at)] != at}
                self._walk(value, at, key.start_mark.line + 1)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._walk(item, (*path, index), item.start_mark.line + 1)
