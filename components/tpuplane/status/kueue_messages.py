"""Why a job waits, in a person's words: Kueue's own sentences are exact, and written for its developers."""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import NamedTuple

import yaml


class _Word(NamedTuple):
    pattern: re.Pattern[str]
    text: str


class _Words(NamedTuple):
    pod_sets: re.Pattern[str]
    separator: re.Pattern[str]
    nothing: str
    words: tuple[_Word, ...]


def in_plain_words(message: str) -> str:
    """The message with every part that `data/kueue_words.yaml` knows said plainly, and the others as they are."""
    known = _words()
    said = (it for of_set in known.pod_sets.split(message) for it in _said(of_set, known))
    return ", ".join(dict.fromkeys(said)) or message


def _said(message: str, known: _Words) -> list[str]:
    """What is said of one pod set; of flavors that are left out, where nothing else is."""
    said: list[str] = []
    left_out: list[str] = []
    for part in known.separator.split(message):
        word, found = next(((word, it) for word in known.words if (it := word.pattern.search(part))), (None, None))
        if word is None or found is None:
            said.append(part)
        elif word.text:
            said.append(word.text.format(*found.groups()))
        else:
            left_out += found.groups()
    return said or ([known.nothing.format(", ".join(dict.fromkeys(left_out)))] if left_out else [])


@functools.cache
def _words() -> _Words:
    data = yaml.safe_load(files("tpuplane.status").joinpath("data/kueue_words.yaml").read_text(encoding="utf-8"))
    return _Words(
        re.compile(data["podSets"]),
        re.compile(data["separator"]),
        data["nothing"],
        tuple(_Word(re.compile(it["pattern"]), it["text"]) for it in data["words"]),
    )
