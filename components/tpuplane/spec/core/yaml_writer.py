"""Writing YAML: a text stays a text for each reader, also where PyYAML would write it without quotes."""

import re
from typing import Any

import yaml

_TAG = "tag:yaml.org,2002:"
# Plain scalars that yaml.v2 (kubectl) or yaml.v3 (Pulumi) reads as more than text (resolve.go), by their first
# characters: 1e-4, 0o17, y.
_READ_OTHERWISE = {
    "bool": ("[yYnN]", "yYnN"),
    "int": ("[-+]?0(?:b[01_]+|o[0-7_]+|x[0-9a-fA-F_]+)", "-+0"),
    "float": (r"[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9_]+)?", "-+.0123456789"),
}


class _Dumper(yaml.SafeDumper):
    """A safe dumper with quotes for these texts."""


for _name, (_pattern, _first) in _READ_OTHERWISE.items():
    _Dumper.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"^(?:{_pattern})$"), list(_first))


def yaml_text(value: object, *, sort_keys: bool = False, width: int = 80, flow: bool | None = False) -> str:
    """The YAML text of plain values. Without `flow` of its own, a list or mapping of texts is in brackets."""
    text: Any = yaml.dump(value, Dumper=_Dumper, sort_keys=sort_keys, width=width, default_flow_style=flow)
    return str(text)
