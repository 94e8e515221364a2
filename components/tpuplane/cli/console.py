"""Where the commands print to."""

from __future__ import annotations

import shutil

from rich.console import Console

# A table is never cut: into a file, a pipe or a narrow terminal it goes as wide as it needs to be.
_LEAST_WIDTH = 160


def console() -> Console:
    """Standard output, without guesses at what to colour."""
    width = max(_LEAST_WIDTH, shutil.get_terminal_size().columns)
    return Console(highlight=False, width=width, soft_wrap=True)
