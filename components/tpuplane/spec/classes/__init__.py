"""Compute classes in the description, and their checks."""
