"""The type of the `script` fixture: name and body in, the executable's path out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Script = Callable[[str, str], Path]
