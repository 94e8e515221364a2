"""The state of a cluster: pools and slices, queues, the slices of jobs, and why jobs wait.

Pure functions of Kubernetes objects. `tpuplane.status.reading` reads the objects from an API server.
"""
