"""Pools of TPU slices and of GPU nodes in the description, and their checks."""
