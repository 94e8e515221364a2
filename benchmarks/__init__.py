"""Benchmarks with a bound each: `python -m benchmarks [NAME …]` runs them and prints medians and ratios."""
