"""A GKE cluster as the user writes it, and its checks."""
