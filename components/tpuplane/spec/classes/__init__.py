"""Compute classes as the user writes them, and their checks."""
