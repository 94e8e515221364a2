"""Reasons in plainer words, and what would help, from `data/reasons.yaml`. Pure."""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tpuplane.data_files import read_data
from tpuplane.labels import UNITS
from tpuplane.plan.flavors import CPU_FLAVOR, ELASTIC

# Kueue names one resource of each flavor that lacks quota. A job for chips cannot use the flavors of the system pool.
_OF_CHIPS = re.compile(r"quota for \S+/\S+ in flavor")
_OF_SYSTEM = re.compile(rf"quota for \S+ in flavor ({CPU_FLAVOR}(?:{ELASTIC})?),")


class _Reasons(NamedTuple):
    pod_sets: re.Pattern[str]
    separator: re.Pattern[str]
    nothing: str
    of_kueue: list[tuple[re.Pattern[str], str]]
    helps: list[tuple[re.Pattern[str], str, bool]]
    never: list[re.Pattern[str]]
    alone: list[re.Pattern[str]]


def in_plain_words(message: str) -> str:
    """The message of Kueue with plainer texts for its known parts."""
    parts = (it for pod_set in _reasons().pod_sets.split(message) for it in _parts(pod_set))
    return ", ".join(dict.fromkeys(parts)) or message


def helps(message: str, places: Mapping[str, str], *, general: bool) -> Iterator[str]:
    """What would help against each reason in a message. `places` has the names of the job and its parts.

    `general` includes the help in place of which changes are tried on the cluster.
    """
    for pattern, text, tried in _reasons().helps:
        if (general or not tried) and (match := pattern.search(message)):
            yield text.format_map({**places, **match.groupdict()})


def alone(message: str) -> bool:
    """Whether a reason must be removed first, by a change that cannot be tried on the cluster."""
    return any(it.search(message) for it in _reasons().alone)


def never(message: str) -> bool:
    """Whether a job with this reason waits until someone changes the job, its queue or the cluster."""
    return any(it.search(message) for it in _reasons().never)


def _parts(message: str) -> list[str]:
    """The texts for one pod set; the omitted flavors, which Kueue lists in any order, if there is no other text."""
    shown: list[str] = []
    omitted: list[str] = []
    for_chips = _OF_CHIPS.search(message)
    for part in _reasons().separator.split(message):
        if for_chips and (system := _OF_SYSTEM.search(part)):
            omitted.append(system[1])
            continue
        known = ((text, it) for pattern, text in _reasons().of_kueue if (it := pattern.search(part)))
        text, found = next(known, (part, None))
        if found is None:
            shown.append(part)
        elif text:
            groups = found.groupdict("")
            what = groups.get("what", "")
            shown.append(text.format_map({**groups, "what": UNITS.get(what, what)}))
        else:
            omitted += found.groups()
    return shown or ([_reasons().nothing.format(flavors=", ".join(sorted(set(omitted))))] if omitted else [])


@functools.cache
def _reasons() -> _Reasons:
    data = read_data("tpuplane.status", "reasons")
    rows = data["reasons"]
    shown = [
        (re.compile(it.get("pattern") or _shown(it["text"])), it) for it in rows if it.get("pattern") or it["text"]
    ]
    return _Reasons(
        re.compile(data["podSets"]),
        re.compile(data["separator"]),
        data["nothing"],
        [(re.compile(it["kueue"]), it["text"]) for it in rows if "kueue" in it],
        [(pattern, it["help"], it.get("tried", False)) for pattern, it in shown if "help" in it],
        [pattern for pattern, it in shown if it.get("never")],
        [pattern for pattern, it in shown if it.get("never") and "help" in it and not it.get("tried")],
    )


def _shown(text: str) -> str:
    """A pattern of the text, with a group for each name at its first place."""
    names: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        again = name in names
        names.add(name)
        return f"(?P={name})" if again else rf"(?P<{name}>[^\s,;]+)"

    return re.sub(r"\\{(\w+)\\}", group, re.escape(text))
