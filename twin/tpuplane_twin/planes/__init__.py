"""The control plane of a cluster: Kubernetes with the operators, simulated nodes and real pods."""
