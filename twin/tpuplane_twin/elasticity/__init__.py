"""Elasticity of the twin: what GKE's cluster autoscaler does with node pools that have autoscaling."""
