"""The twin's control planes: one per GKE cluster.

Import from the modules: a command needs the certificates of this package, and not all that runs a control plane.
"""
