"""The command line of the engine, because Pulumi gives a pack the values of its configuration but not the file name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil


def config_file() -> Path | None:
    """The file of this pack's `--policy-pack-config`, from the command line of the engine that started the pack.

    None if there is none, or if the command lines of other processes cannot be read.
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
