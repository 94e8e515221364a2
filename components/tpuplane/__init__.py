"""TPU slices, node pools and platforms on GKE, typed."""
