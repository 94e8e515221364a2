"""GKE's TPU webhook: gives each host of a slice its identity, and keeps the hosts of a slice on one node pool."""
