"""A git repository of a test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints, without the configuration of this machine."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    variables = {**os.environ, **own, **names}
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=variables, text=True)
    return done.stdout
