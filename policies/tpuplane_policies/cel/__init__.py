"""Conditions in CEL (Common Expression Language): which identities each branch of an expression admits."""
