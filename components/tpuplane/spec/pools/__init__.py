"""Pools of TPU slices and of GPU nodes as the user writes them, and their checks."""
