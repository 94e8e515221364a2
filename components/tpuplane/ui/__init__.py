"""A page about clusters on 127.0.0.1: slices, queues, who waits and why, events, cost."""
