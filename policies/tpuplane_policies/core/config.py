"""The policy configuration of both gates. An unknown rule, option or level is an error."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
from tpuplane.spec.core.errors import choice, repeated, shown
from tpuplane.tpu.nearest import nearest_names

from tpuplane_policies.core.registry import Rule, data
from tpuplane_policies.core.resources import Resource, is_like

LEVELS = ("advisory", "mandatory", "remediate", "disabled")
_LARGEST = 1 << 20  # bytes of a configuration file
SHIPPED = Path(__file__).parents[2] / "config"
"""The configurations next to the pack, one for each stack. An installed package has none."""


class ConfigError(ValueError):
    """The configuration has mistakes, one on each line."""


@dataclass(frozen=True, slots=True)
class Exemption:
    """A resource that a rule ignores until a last day."""

    resource: str
    """Logical name or URN; `*` matches any text."""
    reason: str
    until: date
    """The last day."""
    exact: bool = False
    """Whether `resource` is the whole name, as in an approval, and `*` has no meaning."""

    def covers(self, resource: Resource | None) -> bool:
        """Whether the exemption names this resource, or the stack itself (None)."""
        names = (resource.name, resource.urn) if resource else ("",)
        return self.resource in names if self.exact else any(is_like(name, self.resource) for name in names)

    def __str__(self) -> str:
        return f"{self.resource}: {self.reason}" + ("" if self.until == date.max else f" (until {self.until})")


@dataclass(frozen=True, slots=True)
class Settings:
    """A checked configuration."""

    config: Mapping[str, Any]

    def level(self, rule: Rule) -> str:
        """The level that the rule's entry sets, else the level of `all`, else the rule's default."""
        return _level(self.config.get(rule.id)) or _level(self.config.get("all")) or rule.level

    def options(self, rule: Rule) -> dict[str, Any]:
        """The options of a rule, with defaults."""
        return {**rule.defaults, **{name: value for name, value in self._entry(rule).items() if name in rule.options}}

    def exemptions(self, rule: Rule) -> tuple[Exemption, ...]:
        """The exemptions and approvals of a rule."""
        entry = self._entry(rule)
        listed = (Exemption(**raw | {"until": date.fromisoformat(raw["until"])}) for raw in entry.get("exemptions", ()))
        return (*listed, *(Exemption(name, "approved", date.max, exact=True) for name in entry.get("approved", ())))

    def _entry(self, rule: Rule) -> Mapping[str, Any]:
        entry = self.config.get(rule.id, {})
        return {} if isinstance(entry, str) else entry


def settings(config: Any, where: str, rules: Iterable[Rule], others: Sequence[str] = ()) -> Settings:
    """Check the contents of a configuration file, whose name `where` is for messages.

    `others` are the user's own policies in the same pack. Raises `ConfigError` if a rule, option, level or value is not
    allowed.
    """
    mistakes = [f"{where}: {mistake}" for mistake in _mistakes(config, {rule.id: rule for rule in rules}, others)]
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    return Settings(config)


def read(path: Path) -> Any:
    """The contents of a configuration file. Raises `ConfigError` if it is missing, or not JSON for the engine."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if not content.strip():
            raise ValueError("it is empty")
        if len(content) > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST:,} bytes")
        config = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_finite)
        json.dumps(config, ensure_ascii=False).encode()  # an escaped half of a character cannot be printed
        return config
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{path}: {reason}; allowed: a JSON file, {{}} for the default levels") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if (twice := repeated(key for key, _ in pairs)) is not None:
        raise ValueError(f"{twice} is given twice")
    return dict(pairs)


def _finite(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _level(entry: Any) -> str | None:
    return entry if isinstance(entry, str) else (entry or {}).get("enforcementLevel")


def _mistakes(config: Any, rules: Mapping[str, Rule], others: Sequence[str]) -> Iterator[str]:
    if not isinstance(config, Mapping):
        yield f"{shown(config)} is not an object; allowed: {{}} and rules with their levels and options"
        return
    for name, entry in config.items():
        ours = name in rules or name == "all"
        if not ours and name in others:
            continue
        if not ours:
            close = nearest_names(name, tuple(rules))
            hint = f"; nearest: {', '.join(close)}" if close else ""
            yield f"{shown(name)} is not a rule; allowed: all, and the ids of docs/policies.md{hint}"
        elif isinstance(entry, str):
            yield from _wrong_level(name, entry)
        elif isinstance(entry, Mapping):
            yield from _wrong_options(name, entry, rules.get(name))
        else:
            yield f"{name}: {shown(entry)} is not a level or an object of options; allowed: {', '.join(LEVELS)}, {{…}}"


def _wrong_level(name: str, level: Any) -> Iterator[str]:
    if level not in LEVELS:
        yield f"{name}: {choice(level, 'a level', LEVELS)}"


def _wrong_options(name: str, entry: Mapping[str, Any], rule: Rule | None) -> Iterator[str]:
    schemas: dict[str, Any] = {**rule.options, "exemptions": data("exemptions")} if rule else {}
    for option, value in entry.items():
        at = f"{name}.{option}"
        if option == "enforcementLevel":
            yield from _wrong_level(at, value)
        elif option not in schemas:
            yield f"{at}: {choice(option, 'an option of this rule', ('enforcementLevel', *schemas))}"
        else:
            yield from _wrong(at, value, schemas[option])


_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "a text"),
    "boolean": (bool, "true or false"),
    "number": ((int, float), "a number"),
    "array": (list, "a list"),
    "object": (Mapping, "an object"),
}


def _wrong(at: str, value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """The mistakes in a value, by the keywords of JSON schema that options use."""
    kind, name = _KINDS[schema["type"]]
    number = schema["type"] == "number"
    if not isinstance(value, kind) or (number and not _is_amount(value)):
        yield f"{at}: {shown(value)} is not {name}; allowed: {name}" + (" from 0" if number else "")
    elif isinstance(value, str):
        if not value.strip() and "minLength" in schema:
            yield f"{at}: is empty; allowed: a string that is not empty"
        elif (form := schema.get("title")) and not _FORMS[form][0](value):
            yield f"{at}: {shown(value)} is not a {form}; allowed: {_FORMS[form][1]}"
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _wrong(f"{at}[{index}]", element, schema["items"])
    elif isinstance(value, Mapping):
        properties = schema.get("properties", {})
        for missing in sorted({*schema.get("required", ())} - {*value}):
            yield f"{at}: {missing} is not set; allowed: {', '.join(properties)}"
        for key, element in value.items():
            if below := properties.get(key) or schema.get("additionalProperties"):
                yield from _wrong(f"{at}.{key}", element, below)
            else:
                yield f"{at}: {choice(key, 'a field here', properties)}"


def _is_amount(value: float) -> bool:
    return not isinstance(value, bool) and 0 <= value <= sys.float_info.max


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


_FORMS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "date": (_is_day, "YYYY-MM-DD, such as 2027-01-31"),
    "version": (re.compile(r"[0-9]+(\.[0-9]+){1,2}").fullmatch, 'MAJOR.MINOR or MAJOR.MINOR.PATCH, such as "1.4"'),
}
"""By the title of an option's schema: the test of a text, and what is allowed."""


def config_file() -> Path | None:
    """The file of this pack's `--policy-pack-config`, from the command line of the engine that started the pack.

    Pulumi gives a pack the values of its configuration but not the file name. None if there is no file, or if this
    process cannot read the command lines of other processes.
    """
    folder = Path(getattr(sys.modules["__main__"], "__file__", "")).resolve().parent
    with suppress(psutil.Error):
        for process in psutil.Process().parents():
            words, here = process.cmdline(), Path(process.cwd())
            packs = [(here / path).resolve() for path in _values(words, "--policy-pack")]
            for pack, config in zip(packs, _values(words, "--policy-pack-config"), strict=False):
                if pack == folder:
                    return here / config
    return None


def _values(words: Sequence[str], option: str) -> list[str]:
    following = [after for word, after in pairwise(words) if word == option]
    joined = [word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")]
    return [path for text in following or joined for path in text.split(",")]
