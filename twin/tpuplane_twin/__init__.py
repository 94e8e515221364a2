"""The twin: a GKE on one machine."""
