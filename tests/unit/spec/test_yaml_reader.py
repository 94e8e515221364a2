"""Files of the user: read as Pulumi reads them, and rejected in one line where they are none or without bounds."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import pytest
from tpuplane.spec import SpecError
from tpuplane.spec.core.yaml_reader import read_yaml

pytestmark = pytest.mark.unit


def bomb(link: str) -> str:
    """Twelve anchors, each of nine aliases of the one before: 9^12 values in 400 bytes."""
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{level}: &a{level} {link.format(', '.join([f'*a{level - 1}'] * 9))}" for level in range(1, 13)]
    return "\n".join(lines)


def rejected(file: Path) -> str:
    with pytest.raises(SpecError) as error:
        read_yaml(file)
    (line,) = str(error.value).splitlines()
    return line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("True", True),
        ("12:00", "12:00"),
        ("1:02:03", "1:02:03"),
        ("010", 8),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("~", None),
        ("2026-12-20", datetime.date(2026, 12, 20)),
        ("2026-02-30", "2026-02-30"),
        ("'5'", "5"),
    ],
)
def test_values_are_those_of_pulumis_own_loader(tmp_path: Path, text: str, value: object) -> None:
    """As gopkg.in/yaml.v3 of Pulumi reads them; seen by `pulumi config get`."""
    file = tmp_path / "file.yaml"
    file.write_text(f"value: {text}\n? {text}\n: key\n")
    document, _ = read_yaml(file)
    assert document == {"value": value, text.strip("'"): "key"}
    assert type(document["value"]) is type(value) or isinstance(value, float)


def test_a_number_is_shown_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text("version: 1.30\n")
    assert repr(read_yaml(file)[0]) == "{'version': 1.30}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, ":1: not YAML: nested more than 64 levels deep"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(500)), ":64: not YAML: nested more than 64 levels deep"),
        (bomb("[{}]"), ":6: not YAML: more than 50,000 values, with the values of its aliases"),
        (bomb("{{<<: [{}]}}"), ":6: not YAML: more than 50,000 values, with the values of its aliases"),
        ("config: &a\n  tpuplane:platform: *a\n", ":2: not YAML: alias *a is inside its own anchor"),
        ("a: *b\n", ":1: not YAML: found undefined alias"),
        ("#" + "x" * 2**20, ": larger than 1,048,576 bytes, the limit of a stack file"),
        ("a: !!int four\n", ":1: not YAML: 'four' cannot be read as int"),
        ("a: !!bool abc\n", ":1: not YAML: 'abc' cannot be read as bool"),
        ("a: !!int ''\n", ":1: not YAML: '' cannot be read as int"),
        ("a: !!float ''\n", ":1: not YAML: '' cannot be read as float"),
        ("a: !!timestamp abc\n", ":1: not YAML: 'abc' cannot be read as timestamp"),
        ("a: !!map abc\n", ":1: not YAML: expected a mapping, but found a scalar or a list"),
        ("a: !!map [a]\n", ":1: not YAML: expected a mapping, but found a scalar or a list"),
        ("a: !!set abc\n", ":1: not YAML: expected a mapping, but found a scalar or a list"),
        (f"a: {'9' * 5000}\n", f":1: not YAML: '{'9' * 55}...' (5,000 characters) cannot be read as int"),
        ("? [a]\n: 1\n", ":1: not YAML: a list or a mapping cannot be a key"),
        ("a: !secret b\n", ":1: not YAML: the tag !secret is not supported; remove it"),
        ("a: !!python/name:b c\n", ":1: not YAML: the tag !!python/name:b is not supported; remove it"),
        ("a: {<<: 5}\n", ":1: not YAML: while constructing a mapping, expected a mapping or list of mappings"),
        ('a: 1\nb: "c\nd: 1\n', ":2: not YAML: while scanning a quoted scalar, found unexpected end of stream"),
        ("a: é\nb: c\x00\n", ":2: not YAML: the character #x0000 is not allowed; save it as UTF-8"),
        ("a: é\nb:\n  \x1b\n", ":3: not YAML: the character #x001b is not allowed; remove it"),
        ("a: \x7f\n", ":1: not YAML: the character #x007f is not allowed; remove it"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_what_is_no_yaml_or_without_bounds_is_rejected_at_once(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    assert rejected(file).startswith(f"{file}{says}")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_rejected(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "file.yaml"
    file.write_bytes("name: é\n".encode(encoding))
    assert rejected(file).endswith("; save it as UTF-8")


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    document, lines = read_yaml(file)
    assert document == {"a": 1, "b": 2}
    assert lines.mark(("b",)) == (2, 1)


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (pipe, Path("/dev/zero"), Path("/dev/null")):
        assert rejected(file) == f"{file}: not a regular file; copy its content into a regular file"
