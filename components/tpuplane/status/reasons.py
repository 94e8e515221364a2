"""Plainer texts for reasons, and help for each of them, from `data/reasons.yaml`. Pure."""

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tpuplane.data_files import read_data
from tpuplane.labels import UNITS
from tpuplane.quantities import singular

_POD_SET = re.compile(r"^couldn't assign flavors to pod set (\S+):")
_CAPITAL = re.compile(r"^(?!Kueue )[A-Z](?=[a-z]* )")
"""The first letter of a sentence, but not of a name such as ClusterQueue."""
_FLAVOR = re.compile(r"[Ff]lavor \"?([^\s\",]+)")

_DATA: dict[str, Any] = read_data("tpuplane.status", "reasons")
_Row = tuple[re.Pattern[str], dict[str, Any]]
"""A row of the data with the pattern of a message."""


def in_plain_words(
    message: str,
    unrelated: Mapping[str, Collection[str]] | None = None,
    untried: Mapping[str, Collection[str]] | None = None,
) -> str:
    """The message of Kueue with plainer texts for its known parts.

    `unrelated` has the flavors without quota of the chips or GPUs that the pods of a pod set request. Kueue names one
    resource of each flavor that lacks quota, so their parts can be about CPUs. They are omitted if others remain.
    `untried` has the flavors of a pod set that the message does not name although it can get them. The pod set waits
    for their hosts: its reasons that only a change removes are omitted.
    """
    parts: list[str] = []
    for name, part in _by_pod_set(message):
        texts = _parts(part, (unrelated or {}).get(name, ()))
        if flavors := (untried or {}).get(name):
            texts = [text for text in texts if not never(text)] or [untried_text(flavors)]
        parts += texts
    text = ", ".join(dict.fromkeys(parts)) or message
    return _CAPITAL.sub(lambda word: word[0].lower(), text)  # it follows other words


def untried_text(flavors: Iterable[str]) -> str:
    """The reason of pods that wait for hosts of these flavors."""
    text: str = _DATA["untried"]
    return text.format(flavors=", ".join(flavors))


def of_any_flavor(message: str) -> bool:
    """Whether a reason is about a flavor that it does not name: the one that Kueue tried last."""
    return any(pattern.search(message) for pattern, row in _shown_rows() if "unnamed" in row)


def in_no_flavor(text: str) -> bool:
    """Whether a plain text of Kueue's message only says that the pods match no flavor."""
    return text.startswith(str(_DATA["nothing"]).partition("{")[0])


def flavors_in(message: str) -> dict[str, set[str]]:
    """The flavors that a message of Kueue names, by pod set."""
    return {name: {flavor.rstrip(":") for flavor in _FLAVOR.findall(part)} for name, part in _by_pod_set(message)}


def _by_pod_set(message: str) -> Iterator[tuple[str, str]]:
    """The parts of a message of Kueue, each with the name of its pod set; "" if it names none."""
    for part in re.split(_DATA["podSets"], message):
        named = _POD_SET.match(part)
        yield (named[1] if named else ""), part


def helps(message: str, places: Mapping[str, str], *, general: bool) -> Iterator[str]:
    """The help for each reason in a message. `places` has the names of the job and its parts.

    `general` includes help that changes which were tried on the cluster normally replace (`remedies`).
    """
    for pattern, row in _shown_rows():
        if "help" in row and (general or "tried" not in row) and (match := pattern.search(message)):
            yield _filled(row["help"], {**places, **match.groupdict()})


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with these values, units in the plural, but nouns after a 1 in the singular."""
    unit = UNITS.get(values.get("what", ""), values.get("what", ""))
    return singular(text.format_map({**values, "what": f"{unit}s" if unit in UNITS.values() else unit}))


def alone(message: str) -> bool:
    """Whether a reason must be removed first, by a change that cannot be tried on the cluster."""
    lasting = (pattern for pattern, row in _shown_rows() if "never" in row and "help" in row and "tried" not in row)
    return any(pattern.search(message) for pattern in lasting)


def never(message: str) -> bool:
    """Whether a job with this reason waits until someone changes the job, its queue or the cluster."""
    return any(pattern.search(message) for pattern, row in _shown_rows() if "never" in row)


def _parts(message: str, unrelated: Collection[str] = ()) -> list[str]:
    """The texts for one pod set; if there are none, one text with the omitted flavors in alphabetical order."""
    shown: list[str] = []
    last: list[str] = []  # reasons of flavors that the job does not mean if it has another reason
    omitted: list[str] = []
    others: list[str] = []
    for part in re.split(_DATA["separator"], message):
        if (flavor := _FLAVOR.search(part)) and flavor[1] in unrelated:
            others.append(flavor[1])
            continue
        known = ((row, match) for pattern, row in _rows_of_kueue() if (match := pattern.search(part)))
        row, matched = next(known, ({}, None))
        if matched is None:
            shown.append(part)
        elif row["text"]:
            (last if "last" in row else shown).append(_filled(row["text"], matched.groupdict("")))
        else:
            omitted += matched.groups()
    if shown or last:
        return shown or last
    if omitted:
        return [_DATA["nothing"].format(flavors=", ".join(sorted({*omitted, *others})))]
    return _parts(message) if others else []


@functools.cache
def _rows_of_kueue() -> list[_Row]:
    """With the patterns of parts of Kueue's messages."""
    return [(re.compile(row["kueue"]), row) for row in _DATA["reasons"] if "kueue" in row]


@functools.cache
def _shown_rows() -> list[_Row]:
    """With the patterns of shown messages."""
    shown = ((row.get("pattern") or _shown(row["text"]), row) for row in _DATA["reasons"])
    return [(re.compile(pattern), row) for pattern, row in shown if pattern]


def _shown(text: str) -> str:
    """A pattern that matches the text, with a group where each name occurs first."""
    names: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        again = name in names
        names.add(name)
        return f"(?P={name})" if again else rf"(?P<{name}>[^\s,;]+)"

    either = re.sub(r"( job|\\\})s\b", r"\1s?", re.escape(text).replace("\\ ", " "))
    return re.sub(r"\\{(\w+)\\}", group, either)
