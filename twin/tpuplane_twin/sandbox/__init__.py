"""Processes in namespaces of their own, and a network between them: what a container runtime does, for a cluster.

`daemon` is a program of its own (`python -m tpuplane_twin.sandbox.daemon`), one per cluster; `client` is how
the supervisor talks to it.
"""
