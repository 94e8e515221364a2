"""Rules of maintenance policies: enough time to upgrade, and limited exclusions."""

import re
from datetime import UTC, datetime, timedelta

from tpuplane.maintenance import COUNTED, LONGEST_PAUSE, MOST_EXCLUSIONS, MOST_PAUSES, NEEDED, ROLLING

from tpuplane_twin.gcp.container.names import fingerprint
from tpuplane_twin.gcp.errors import failed_precondition, invalid
from tpuplane_twin.gcp.schema import Json, snake

_WEEKS = ROLLING // timedelta(weeks=1)


def check_maintenance(policy: Json) -> None:
    """Reject a policy that leaves too little time, and invalid exclusions.

    Recurrences are checked only if they are FREQ=DAILY, or FREQ=WEEKLY with BYDAY.
    """
    window: Json = policy.get("window", {})
    daily = window.get("dailyMaintenanceWindow")
    if daily and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", start := str(daily.get("startTime", ""))):
        raise invalid(f'Invalid start_time "{start}" of the daily maintenance window: it must be HH:MM.')
    recurring: Json = window.get("recurringWindow", {})
    if recurring and _weekly(recurring) * _WEEKS < NEEDED:
        # GKE's message, as users report it.
        raise invalid("maintenance policy would go longer than 92d without 48h maintenance availability")
    exclusions: Json = window.get("maintenanceExclusions", {})
    pauses = [name for name, exclusion in exclusions.items() if _scope(exclusion) == "NO_UPGRADES"]
    if len(exclusions) > MOST_EXCLUSIONS or len(pauses) > MOST_PAUSES:
        raise invalid(
            f"A cluster has at most {MOST_EXCLUSIONS} maintenance exclusions, {MOST_PAUSES} of them with scope"
            f" NO_UPGRADES; this policy has {len(exclusions)} and {len(pauses)}."
        )
    for name, exclusion in exclusions.items():
        _check_exclusion(name, exclusion)


def policy_version(policy: Json) -> str:
    """The `resourceVersion` of a policy, which changes with the rest of it."""
    return fingerprint(sorted((field, value) for field, value in policy.items() if field != "resourceVersion"))


def check_version(current: Json, asked: Json) -> None:
    """Reject a policy that was made from another one than the current. The message is the twin's own."""
    version = policy_version(current)
    if asked.get("resourceVersion") not in (None, version):
        raise failed_precondition(
            f'The maintenance policy has changed: its resource_version is "{version}", not'
            f' "{asked["resourceVersion"]}". Read the cluster again.'
        )


def scopes_at(policy: Json, now: datetime) -> set[str]:
    """The scopes of the exclusions at a time."""
    exclusions: Json = policy.get("window", {}).get("maintenanceExclusions", {})
    return {
        _scope(exclusion)
        for exclusion in exclusions.values()
        if moment(exclusion["startTime"]) <= now and ("endTime" not in exclusion or now < moment(exclusion["endTime"]))
    }


def _weekly(recurring: Json) -> timedelta:
    """The open time of a window per week."""
    times: Json = recurring.get("window", {})
    missing = [key for key in ("startTime", "endTime") if key not in times]
    if missing or "recurrence" not in recurring:
        missing = [f"window.{snake(key)}" for key in missing] or ["recurrence"]
        raise invalid(f"Maintenance window needs recurring_window.{missing[0]}.")
    length = moment(times["endTime"]) - moment(times["startTime"])
    if length <= timedelta(0):
        raise invalid("Maintenance window end_time must be after start_time.")
    rule = dict(part.split("=", 1) for part in recurring["recurrence"].split(";") if "=" in part)
    plain = not set(rule) - {"FREQ", "BYDAY"}
    if plain and rule.get("FREQ") == "DAILY":
        days = 7
    elif plain and rule.get("FREQ") == "WEEKLY":
        days = len(set(rule.get("BYDAY", "MO").split(",")))
    else:
        return NEEDED
    return length * days if length >= COUNTED else timedelta(0)


def _check_exclusion(name: str, exclusion: Json) -> None:
    options: Json = exclusion.get("maintenanceExclusionOptions", {})
    scope, what = _scope(exclusion), f'Maintenance exclusion "{name}"'
    if "startTime" not in exclusion:
        raise invalid(f"{what} needs a start_time.")
    if options.get("endTimeBehavior") == "UNTIL_END_OF_SUPPORT":
        if scope == "NO_UPGRADES":
            raise invalid(f"{what}: UNTIL_END_OF_SUPPORT cannot be used with NO_UPGRADES.")
        return
    if "endTime" not in exclusion:
        raise invalid(f"{what} needs an end_time.")
    length = moment(exclusion["endTime"]) - moment(exclusion["startTime"])
    if length <= timedelta(0):
        raise invalid(f"{what}: end_time must be after start_time.")
    if scope == "NO_UPGRADES" and length > LONGEST_PAUSE:
        raise invalid(f"{what} with scope NO_UPGRADES must not be longer than {LONGEST_PAUSE.days} days.")


def _scope(exclusion: Json) -> str:
    return str(exclusion.get("maintenanceExclusionOptions", {}).get("scope", "NO_UPGRADES"))


def moment(text: str) -> datetime:
    """A time of a policy, in UTC if it names no zone. Raises `ApiError`."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise invalid(f'Invalid time "{text}": it must be RFC 3339.') from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
