"""Failures of a data centre on the twin: incidents of hosts and slices, in GKE's order, at the twin's speed."""
