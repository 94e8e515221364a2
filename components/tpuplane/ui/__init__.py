"""A page about clusters on 127.0.0.1: slices, queues, waiting jobs with the reason, events, cost."""
