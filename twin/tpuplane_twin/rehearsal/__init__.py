"""Rehearsals: what happens on a platform in hours and days, played on the twin's own clock."""
