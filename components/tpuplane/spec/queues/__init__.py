"""Teams and their queues in the description, and their checks."""
