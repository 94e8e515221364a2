"""The one process of a twin: it serves Google's API and is the parent of every other process."""
