"""What GKE takes of a maintenance policy.

Source: GKE docs, "Maintenance windows and exclusions", as of August 2026; until 2026 it was 48 hours in 32 days, and 30
days without upgrades.
"""

from __future__ import annotations

from datetime import timedelta

NEEDED = timedelta(hours=48)
"""Least time for maintenance in any `ROLLING` days."""
ROLLING = timedelta(days=92)
COUNTED = timedelta(hours=4)
"""GKE counts no shorter stretch of time."""
LONGEST_PAUSE = timedelta(days=90)
"""Longest exclusion with scope NO_UPGRADES."""
MOST_PAUSES = 3
"""Exclusions with scope NO_UPGRADES."""
MOST_EXCLUSIONS = 20
