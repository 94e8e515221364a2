"""Pods that are real processes: which they are, what a kubelet does for them, and how others reach them."""
