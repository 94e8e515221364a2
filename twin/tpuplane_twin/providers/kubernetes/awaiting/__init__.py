"""Waiting until an object does what it is for: when, with which words on the way, and which when it never comes."""
