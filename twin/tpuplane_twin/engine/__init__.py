"""The engine: a real `pulumi` for a twin, with a Python language host where none is installed."""
