"""The Kubernetes Engine API."""
