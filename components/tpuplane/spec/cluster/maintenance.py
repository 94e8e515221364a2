"""The maintenance policy of a cluster in the description. All times are in UTC, as in GKE."""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tpuplane.maintenance import MOST_EXCLUSIONS
from tpuplane.spec.core.changes import InPlace
from tpuplane.spec.core.errors import shown
from tpuplane.spec.core.fields import Name, Spec, reject, text

# 9999 is the last year of a datetime, and checks add days.
_YEARS = range(2000, 9999)

Weekday = Literal["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
ExclusionScope = Literal["NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"]

WEEKDAYS: tuple[Weekday, ...] = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def moment(text: str) -> datetime:
    """The time of a `Moment`."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


# How an unquoted date of a stack file reaches a program: parsed by the engine, printed as Go prints a time.
_GO_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? ([+-]\d\d)(\d\d) \S+")


def _unparsed(value: object) -> object:
    """The text. YAML reads an unquoted date as a date."""
    if isinstance(value, date):
        return value.isoformat()
    from_engine = _GO_TIME.fullmatch(value) if isinstance(value, str) else None
    return "{}T{}{}:{}".format(*from_engine.groups()) if from_engine else value


def _moment(value: str) -> str:
    try:
        found = moment(value)
        if found.year in _YEARS:
            return found.strftime("%Y-%m-%dT%H:%M:%SZ")
        cause = f"is outside of the years {_YEARS[0]} to {_YEARS[-1]}"
    except (ValueError, OverflowError):
        cause = "is not a point in time"
    raise reject(f"{shown(value)} {cause}; allowed: 2026-12-20 or 2026-12-20T08:00:00Z (UTC)")


Moment = Annotated[str, BeforeValidator(_unparsed), AfterValidator(_moment)]
TimeOfDay = Annotated[str, *text("timeOfDay")]


class MaintenanceWindowSpec(Spec):
    """The weekly hours in which GKE may upgrade the cluster and its nodes."""

    days: InPlace[Annotated[tuple[Weekday, ...], Field(min_length=1)]] = WEEKDAYS
    """Days of the window, from MO to SU. Default: every day."""

    start: InPlace[TimeOfDay]
    """Start time of the window, in UTC and in quotes: "02:00"."""

    hours: InPlace[Annotated[int, Field(ge=4, le=24)]] = 4
    """Length of the window in hours. GKE requires at least 4. Default 4."""


class MaintenanceExclusionSpec(Spec):
    """A period without upgrades, for example for a long training run."""

    start: InPlace[Moment]
    """Start of the period: 2026-12-20, or 2026-12-20T08:00:00Z."""

    end: InPlace[Moment | None] = None
    """End of the period. Not together with `untilEndOfSupport`."""

    until_end_of_support: InPlace[bool] = False
    """End the period when the cluster's minor version is no longer supported. Not together with `end`. Default
    false."""

    scope: InPlace[ExclusionScope] = "NO_MINOR_OR_NODE_UPGRADES"
    """Upgrades that do not take place: NO_UPGRADES (any), NO_MINOR_UPGRADES (minor versions) or
    NO_MINOR_OR_NODE_UPGRADES (minor versions and nodes). Default NO_MINOR_OR_NODE_UPGRADES, so that the control plane
    gets patches and the nodes of a slice remain."""


class MaintenanceSpec(Spec):
    """The maintenance window of the cluster and its exclusions."""

    window: MaintenanceWindowSpec
    """The weekly hours in which GKE may upgrade."""

    exclusions: InPlace[Annotated[dict[Name, MaintenanceExclusionSpec], Field(max_length=MOST_EXCLUSIONS)]] = Field(
        default_factory=dict
    )
    """Periods without upgrades, by name: at most 20, at most 3 of them with scope NO_UPGRADES."""
