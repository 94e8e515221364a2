"""Teams and their queues as the user writes them, and their checks."""
