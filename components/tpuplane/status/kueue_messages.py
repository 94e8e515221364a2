"""Why a job waits: plainer texts for Kueue's messages."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from tpuplane.data_files import read_data


class _Texts(NamedTuple):
    pod_sets: re.Pattern[str]
    separator: re.Pattern[str]
    nothing: str
    by_pattern: tuple[tuple[re.Pattern[str], str], ...]


def in_plain_words(message: str) -> str:
    """The message with the texts of `data/kueue_messages.yaml` for all parts that match a pattern."""
    texts = _texts()
    parts = (it for pod_set in texts.pod_sets.split(message) for it in _parts(pod_set, texts))
    return ", ".join(dict.fromkeys(parts)) or message


def _parts(message: str, texts: _Texts) -> list[str]:
    """The texts for one pod set; the omitted flavors if there is no other text."""
    shown: list[str] = []
    omitted: list[str] = []
    for part in texts.separator.split(message):
        text, found = next(
            ((text, it) for pattern, text in texts.by_pattern if (it := pattern.search(part))), ("", None)
        )
        if found is None:
            shown.append(part)
        elif text:
            shown.append(text.format(*found.groups()))
        else:
            omitted += found.groups()
    return shown or ([texts.nothing.format(", ".join(dict.fromkeys(omitted)))] if omitted else [])


@functools.cache
def _texts() -> _Texts:
    data = read_data("tpuplane.status", "kueue_messages")
    by_pattern = tuple((re.compile(it["pattern"]), it["text"]) for it in data["words"])
    return _Texts(re.compile(data["podSets"]), re.compile(data["separator"]), data["nothing"], by_pattern)
