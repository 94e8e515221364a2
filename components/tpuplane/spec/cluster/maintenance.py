"""When GKE may maintain a cluster, as the user writes it. All times are UTC, as GKE's own."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tpuplane.maintenance import MOST_EXCLUSIONS
from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.fields import Name, Spec, reject, text

Weekday = Literal["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
ExclusionScope = Literal["NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"]

WEEKDAYS: tuple[Weekday, ...] = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def moment(text: str) -> datetime:
    """The point in time that a `Moment` names."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


# How an unquoted date of a stack file reaches a program: parsed by the engine, printed as Go prints a time.
_GO_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d\d)(\d\d) \S+")


def _unparsed(value: object) -> object:
    """YAML reads an unquoted date as a date; here it is text either way."""
    if isinstance(value, date):
        return value.isoformat()
    from_engine = _GO_TIME.fullmatch(value) if isinstance(value, str) else None
    return "{}T{}{}:{}".format(*from_engine.groups()) if from_engine else value


def _moment(value: str) -> str:
    try:
        return moment(value).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        raise reject(
            f"{shown(value)} is not a point in time; allowed: 2026-12-20 or 2026-12-20T08:00:00Z (UTC)"
        ) from None


Moment = Annotated[str, BeforeValidator(_unparsed), AfterValidator(_moment)]
TimeOfDay = Annotated[str, *text(r"([01][0-9]|2[0-3]):[0-5][0-9]", "00:00 to 23:59 (UTC), in quotes", "a time of day")]


class MaintenanceWindowSpec(Spec):
    """The hours of a week in which GKE may upgrade the cluster and its nodes."""

    days: Annotated[tuple[Weekday, ...], Field(min_length=1)] = WEEKDAYS
    """Days on which the window opens, from MO to SU. Default: every day. Changed in place."""

    start: TimeOfDay
    """Time of day at which it opens, in UTC and in quotes: "02:00". Changed in place."""

    hours: Annotated[int, Field(ge=4, le=24)] = 4
    """How long it stays open. GKE counts nothing below 4 hours. Default 4. Changed in place."""


class MaintenanceExclusionSpec(Spec):
    """A time in which GKE leaves versions alone, for a long run or a busy season."""

    start: Moment
    """From when: 2026-12-20, or 2026-12-20T08:00:00Z. Changed in place."""

    end: Moment | None = None
    """Until when. Left out with `untilEndOfSupport`. Changed in place."""

    until_end_of_support: bool = False
    """Until the cluster's minor version is no longer supported, instead of `end`. Default false. Changed in place."""

    scope: ExclusionScope = "NO_MINOR_OR_NODE_UPGRADES"
    """What is held back: NO_UPGRADES, NO_MINOR_UPGRADES or NO_MINOR_OR_NODE_UPGRADES. Default
    NO_MINOR_OR_NODE_UPGRADES: the control plane gets patches, the nodes of a slice stay. Changed in place."""


class MaintenanceSpec(Spec):
    """When GKE may maintain the cluster."""

    window: MaintenanceWindowSpec
    """The hours in which GKE may."""

    exclusions: Annotated[dict[Name, MaintenanceExclusionSpec], Field(max_length=MOST_EXCLUSIONS)] = Field(
        default_factory=dict
    )
    """Times in which GKE may not, by name; 20 at most, 3 of them with scope NO_UPGRADES. Changed in place."""
