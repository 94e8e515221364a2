"""Why a control plane could not do what it was told."""

from __future__ import annotations


class ClusterError(RuntimeError):
    """The base of this package's own errors; the message is for the user."""
