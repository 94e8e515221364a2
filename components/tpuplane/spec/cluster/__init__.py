"""A GKE cluster in the description, and its checks."""
