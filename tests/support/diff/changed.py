"""One description with other values."""

from __future__ import annotations

import copy
from typing import Any

from tpuplane.diff import Change, Diff, diff
from tpuplane.spec import parse_platform

from tests.support.diff.every_field import PLATFORMS

PLATFORM = PLATFORMS["lab"]

TRAINER = "clusters.central1.pools.trainer"
ONE = "clusters.central1"


def changed(*settings: tuple[str, Any]) -> Diff:
    """The difference that other values make; None removes one."""
    after = copy.deepcopy(PLATFORM)
    for path, value in settings:
        *above, last = path.split(".")
        part = after
        for name in above:
            part = part.setdefault(name, {})
        if value is None:
            del part[last]
        else:
            part[last] = value
    return diff(parse_platform(PLATFORM), parse_platform(after))


def only(*settings: tuple[str, Any]) -> Change:
    (change,) = changed(*settings).changes
    return change
