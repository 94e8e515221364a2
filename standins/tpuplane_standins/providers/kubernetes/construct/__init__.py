"""The remote components of the Kubernetes provider: charts and YAML that become one resource for each object."""
