"""Benchmarks with time limits: `python -m benchmarks [NAME …]` runs them and prints medians and ratios."""
