"""Plainer texts for reasons, and help for each of them, from `data/reasons.yaml`. Pure."""

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from tpuplane.data_files import read_data
from tpuplane.labels import UNITS
from tpuplane.quantities import singular

_POD_SET = re.compile(r"^couldn't assign flavors to pod set (\S+):")
_CAPITAL = re.compile(r"^(?!Kueue )[A-Z](?=[a-z]* )")
"""The first letter of a sentence, but not of a name such as ClusterQueue."""
_FLAVOR = re.compile(r"[Ff]lavor \"?([^\s\",]+)")


class _Reasons(NamedTuple):
    pod_sets: re.Pattern[str]
    separator: re.Pattern[str]
    nothing: str
    untried: str
    of_kueue: list[tuple[re.Pattern[str], str, bool]]
    helps: list[tuple[re.Pattern[str], str, bool]]
    never: list[re.Pattern[str]]
    alone: list[re.Pattern[str]]


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
            waits = _reasons().untried.format(flavors=", ".join(flavors))
            texts = [text for text in texts if not never(text)] or [waits]
        parts += texts
    text = ", ".join(dict.fromkeys(parts)) or message
    return _CAPITAL.sub(lambda word: word[0].lower(), text)  # it follows other words


def flavors_in(message: str) -> dict[str, set[str]]:
    """The flavors that a message of Kueue names, by pod set."""
    return {name: {flavor.rstrip(":") for flavor in _FLAVOR.findall(part)} for name, part in _by_pod_set(message)}


def _by_pod_set(message: str) -> Iterator[tuple[str, str]]:
    """The parts of a message of Kueue, each with the name of its pod set; "" if it names none."""
    for part in _reasons().pod_sets.split(message):
        named = _POD_SET.match(part)
        yield (named[1] if named else ""), part


def helps(message: str, places: Mapping[str, str], *, general: bool) -> Iterator[str]:
    """The help for each reason in a message. `places` has the names of the job and its parts.

    `general` includes help that changes which were tried on the cluster normally replace (`remedies`).
    """
    for pattern, text, tried in _reasons().helps:
        if (general or not tried) and (match := pattern.search(message)):
            yield _filled(text, {**places, **match.groupdict()})


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with these values, units in the plural, but nouns after a 1 in the singular."""
    unit = UNITS.get(values.get("what", ""), values.get("what", ""))
    return singular(text.format_map({**values, "what": f"{unit}s" if unit in UNITS.values() else unit}))


def alone(message: str) -> bool:
    """Whether a reason must be removed first, by a change that cannot be tried on the cluster."""
    return any(pattern.search(message) for pattern in _reasons().alone)


def never(message: str) -> bool:
    """Whether a job with this reason waits until someone changes the job, its queue or the cluster."""
    return any(pattern.search(message) for pattern in _reasons().never)


def _parts(message: str, unrelated: Collection[str] = ()) -> list[str]:
    """The texts for one pod set; if there are none, one text with the omitted flavors in alphabetical order."""
    shown: list[str] = []
    last: list[str] = []  # reasons of flavors that the job does not mean if it has another reason
    omitted: list[str] = []
    others: list[str] = []
    for part in _reasons().separator.split(message):
        if (flavor := _FLAVOR.search(part)) and flavor[1] in unrelated:
            others.append(flavor[1])
            continue
        known = ((text, at, match) for pattern, text, at in _reasons().of_kueue if (match := pattern.search(part)))
        text, at_last, matched = next(known, (part, False, None))
        if matched is None:
            shown.append(part)
        elif text:
            (last if at_last else shown).append(_filled(text, matched.groupdict("")))
        else:
            omitted += matched.groups()
    if shown or last:
        return shown or last
    if omitted:
        return [_reasons().nothing.format(flavors=", ".join(sorted({*omitted, *others})))]
    return _parts(message) if others else []


@functools.cache
def _reasons() -> _Reasons:
    data = read_data("tpuplane.status", "reasons")
    rows = data["reasons"]
    shown = [(re.compile(pattern), row) for row in rows if (pattern := row.get("pattern") or _shown(row["text"]))]
    return _Reasons(
        re.compile(data["podSets"]),
        re.compile(data["separator"]),
        data["nothing"],
        data["untried"],
        [(re.compile(row["kueue"]), row["text"], row.get("last", False)) for row in rows if "kueue" in row],
        [(pattern, row["help"], row.get("tried", False)) for pattern, row in shown if "help" in row],
        [pattern for pattern, row in shown if row.get("never")],
        [pattern for pattern, row in shown if row.get("never") and "help" in row and not row.get("tried")],
    )


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
