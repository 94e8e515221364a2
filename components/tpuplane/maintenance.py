"""GKE's limits of a maintenance policy.

Source: GKE docs, "Maintenance windows and exclusions", as of August 2026. Until 2026 GKE required 48 hours in 32 days,
and allowed 30 days without upgrades.
"""

from datetime import timedelta

NEEDED = timedelta(hours=48)
"""Least time for maintenance in any `ROLLING` days."""
ROLLING = timedelta(days=92)
COUNTED = timedelta(hours=4)
"""GKE ignores shorter windows."""
LONGEST_PAUSE = timedelta(days=90)
"""Longest exclusion with scope NO_UPGRADES."""
MOST_PAUSES = 3
"""Most exclusions with scope NO_UPGRADES."""
MOST_EXCLUSIONS = 20
