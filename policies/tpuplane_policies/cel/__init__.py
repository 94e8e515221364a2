"""Conditions in CEL (Common Expression Language): whom each branch of an expression admits."""
