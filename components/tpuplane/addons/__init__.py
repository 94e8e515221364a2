"""Operators in a cluster, and the objects for them."""
