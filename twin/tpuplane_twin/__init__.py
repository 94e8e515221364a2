"""The twin: a local GKE."""
