"""The component that composes network, clusters, node pools and their contents from one description."""
