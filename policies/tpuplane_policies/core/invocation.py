"""How the engine was called: Pulumi hands a pack the values of its configuration, and not the file they come from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path


def given() -> Path | None:
    """The file of this pack's `--policy-pack-config`, from the command line of the engine that started the pack.

    None where there is none, or where a process cannot see others: the engine then hands on what it could read.
    """
    folder = Path(getattr(sys.modules["__main__"], "__file__", "")).resolve().parent
    for words, here in _callers():
        packs = [(here / path).resolve() for path in _values(words, "--policy-pack")]
        configs = _values(words, "--policy-pack-config")
        for pack, config in zip(packs, configs, strict=False):
            if pack == folder:
                return here / config
    return None


def _callers() -> Iterator[tuple[list[str], Path]]:
    """Command line and folder of each process above this one."""
    pid = os.getppid()
    while pid > 1:
        process = Path(f"/proc/{pid}")
        try:
            words = process.joinpath("cmdline").read_bytes().decode(errors="surrogateescape").split("\0")
            yield words, process.joinpath("cwd").readlink()
            pid = int(process.joinpath("stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            return


def _values(words: Sequence[str], option: str) -> list[str]:
    following = [after for word, after in pairwise(words) if word == option]
    joined = [word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")]
    return [path for text in following or joined for path in text.split(",")]
