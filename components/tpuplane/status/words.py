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


def in_plain_words(message: str) -> str:
    """The message with every part that `data/kueue_words.yaml` knows said plainly, and the others as they are."""
    separator, words = _words()
    said: list[str] = []
    for part in separator.split(message):
        for word in words:
            found = word.pattern.search(part)
            if found is not None:
                said.append(word.text.format(*found.groups()))
                break
        else:
            said.append(part)
    return ", ".join(dict.fromkeys(part for part in said if part)) or message


@functools.cache
def _words() -> tuple[re.Pattern[str], tuple[_Word, ...]]:
    data = yaml.safe_load(files("tpuplane.status").joinpath("data/kueue_words.yaml").read_text(encoding="utf-8"))
    return re.compile(data["separator"]), tuple(_Word(re.compile(it["pattern"]), it["text"]) for it in data["words"])
