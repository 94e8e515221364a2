"""Reading a YAML file of the user: bounded in size, depth and expansion, with values as Pulumi's own loader reads them.

Pulumi reads stack files with gopkg.in/yaml.v3: every key is text, an own key wins over a merged one,
`yes`, `12:00` and `2026-02-30` are text.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, cast

import yaml
from pydantic.alias_generators import to_snake

from tpuplane.spec.core.errors import Mistake, Path, SpecError, shown

# Far above any stack file. Without bounds a few lines of aliases fill the memory.
_MOST_BYTES = 2**20
_MOST_LEVELS = 64
_MOST_VALUES = 50_000

_TAG = "tag:yaml.org,2002:"
# The plain scalars that yaml.v3 reads as more than text, in the order in which it tries, by their first characters.
_PLAIN = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)", "-+0123456789"),
    "float": (r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
}


class _Decimal(float):
    """A number that is shown as the file has it: 1.30, not 1.3."""

    text: str

    def __repr__(self) -> str:
        return self.text


_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """A safe loader that resolves as yaml.v3 does, with the line of a value that it cannot read."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, TypeError):
            kind = node.tag.removeprefix(_TAG)
            raise _rejected(node, f"{shown(node.value)} cannot be read as {kind}") from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise _rejected(node, "expected a mapping, but found a scalar or a list")
        self.flatten_mapping(node)
        return {_key(key): self.construct_object(value, deep) for key, value in node.value}

    def construct_undefined(self, node: yaml.Node) -> Any:
        raise _rejected(node, f"the tag {node.tag.replace(_TAG, '!!')} is not supported; remove it")

    def construct_decimal(self, node: yaml.ScalarNode) -> _Decimal:
        number = _Decimal(self.construct_yaml_float(node))
        number.text = node.value
        return number

    def construct_date(self, node: yaml.ScalarNode) -> Any:
        try:
            return self.construct_yaml_timestamp(node)
        except ValueError:
            return node.value


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag.removeprefix(_TAG) not in _PLAIN]
    for first, resolvers in _Base.yaml_implicit_resolvers.items()
}
for _name, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"^(?:{_pattern})$"), list(_first))
_Loader.add_constructor(None, _Loader.construct_undefined)
_Loader.add_constructor(f"{_TAG}float", _Loader.construct_decimal)
_Loader.add_constructor(f"{_TAG}timestamp", _Loader.construct_date)


def read_yaml(file: FilePath, *, first: bool = False) -> tuple[Any, Lines]:
    """The values of a file, and the lines that they are on. Of a repeated key the last value counts, or the first one.

    Raises `SpecError` with one line for a file that is not YAML text or exceeds a limit; `OSError`.
    """
    text = _text(file)
    try:
        _check_bounds(text)
        loader = _Loader(text)
        node = loader.get_single_node()
        lines = Lines(node)
        if first:
            _keep_first(node)
        return None if node is None else loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if error.context == "while scanning a quoted scalar":
            mark = error.context_mark  # the quote; the problem is at the end of the file
        line = f":{mark.line + 1}" if mark else ""
        cause = ", ".join(filter(None, (error.context, error.problem)))
        if mark and re.match(r" *\t", "".join(text.splitlines()[mark.line : mark.line + 1])):
            cause = "the line begins with a tab; indent YAML with spaces"
        raise SpecError([Mistake((), f"not YAML: {cause}", f"{file}{line}")]) from None
    except yaml.reader.ReaderError as error:
        before = text.partition(chr(error.character))[0]
        remedy = "remove it" if error.character else "save it as UTF-8"
        cause = f"not YAML: the character #x{error.character:04x} is not allowed; {remedy}"
        raise SpecError([Mistake((), cause, f"{file}:{len(f'{before}.'.splitlines())}")]) from None


def _text(file: FilePath) -> str:
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        # A pipe or a device may never end, or never begin.
        raise SpecError([Mistake((), "not a regular file; copy its content into a regular file", str(file))])
    with file.open("rb") as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise SpecError([Mistake((), f"larger than {_MOST_BYTES:,} bytes, the limit of a stack file", str(file))])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cause = f"not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8"
        raise SpecError([Mistake((), cause, str(file))]) from None


def _check_bounds(text: str) -> None:
    """Reject a file that is too deep or too large before it is read, because PyYAML recurses and expands aliases."""
    sizes: dict[str, int] = {}  # values that each anchor represents
    open_: list[tuple[str | None, int]] = [(None, 0)]  # the collections around: anchor, values so far
    for event in yaml.parse(text, _Loader):
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((anchor, 1))
            if len(open_) > _MOST_LEVELS:
                raise _rejected(event, f"nested more than {_MOST_LEVELS} levels deep")
            continue
        if isinstance(event, yaml.AliasEvent):
            if any(around == anchor for around, _ in open_):
                raise _rejected(event, f"alias *{anchor} is inside its own anchor")
            size = sizes.get(anchor or "", 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_.pop()
        elif isinstance(event, yaml.ScalarEvent):
            size = 1
        else:
            continue
        if anchor is not None:
            sizes[anchor] = size
        around, before = open_.pop()
        if before + size > _MOST_VALUES:
            raise _rejected(event, f"more than {_MOST_VALUES:,} values, with the values of its aliases")
        open_.append((around, before + size))


def _rejected(part: yaml.Node | yaml.Event, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=cast(yaml.Mark, part.start_mark))


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _rejected(node, "a list or a mapping cannot be a key")
    return str(node.value)


def _keep_first(node: yaml.Node | None) -> None:
    """Remove the later ones of repeated keys."""
    if isinstance(node, yaml.CollectionNode):
        if isinstance(node, yaml.MappingNode):
            pairs = {(key.tag, str(key.value)): (key, value) for key, value in reversed(node.value)}
            node.value = list(reversed(pairs.values()))
        for item in node.value:
            for part in item if isinstance(item, tuple) else (item,):
                _keep_first(part)


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Keys and values, with merged ones (`<<`) first, so that an own key overrides them."""
    for key, value in node.value:
        if key.tag == f"{_TAG}merge":
            merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for other in reversed(merged):
                yield from _pairs(other) if isinstance(other, yaml.MappingNode) else ()
    yield from ((key, value) for key, value in node.value if key.tag != f"{_TAG}merge")


class Lines:
    """The place of each path of a YAML document, and the keys that a mapping repeats."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._marks: dict[Path, tuple[int, int]] = {}
        self.duplicates: dict[tuple[int, int], Path] = {}
        if root is not None:
            self._walk(root, (), root)

    def __contains__(self, path: Path) -> bool:
        return path in self._marks

    def mark(self, path: Path) -> tuple[int, int]:
        """Line and column of the path, or of the nearest part around it in the file."""
        at: Path = ()
        for part in path:
            written = part if (*at, part) in self._marks else to_snake(str(part))
            if (*at, written) not in self._marks:
                break
            at = (*at, written)
        return self._marks[at] if at else (1, 1)

    def _walk(self, node: yaml.Node, path: Path, named: yaml.Node) -> None:
        mark = named.start_mark
        self._marks[path] = (mark.line + 1, mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            own: set[str] = set()
            for key, _ in node.value:
                if str(key.value) in own:
                    self.duplicates[key.start_mark.line + 1, key.start_mark.column + 1] = (*path, str(key.value))
                own.add(str(key.value))
            values = {str(key.value): (key, value) for key, value in _pairs(node)}
            for name, (key, value) in values.items():
                self._walk(value, (*path, name), key)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._walk(item, (*path, index), item)
