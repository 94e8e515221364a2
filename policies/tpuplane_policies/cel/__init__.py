"""Conditions in CEL (Common Expression Language): the identities that each branch of an expression admits."""
