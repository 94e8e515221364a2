"""Stand-ins for the plugins of Pulumi that package registries do not have: two providers and Python's language host.

The engine starts each as a program. A twin uses one where the official plugin is not installed.
"""
