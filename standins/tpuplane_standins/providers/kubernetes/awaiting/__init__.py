"""Waiting until an object is ready: when it is, the messages meanwhile, and the message when it never is."""
