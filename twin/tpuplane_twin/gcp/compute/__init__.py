"""The Compute Engine API, as far as a platform needs it: networks, resource policies, instance groups."""
