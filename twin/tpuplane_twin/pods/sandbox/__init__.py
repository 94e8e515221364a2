"""Processes in Linux namespaces and a network between them, as a container runtime has them.

`daemon` is a separate program (`python -m tpuplane_twin.pods.sandbox.daemon`), one per cluster; `client` is the
supervisor's side.
"""
