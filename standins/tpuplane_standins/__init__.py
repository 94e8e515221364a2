"""Stand-ins for Pulumi's plugins without a published module: the provider for Google Cloud and Python's language host.

The engine starts each as a program. A twin uses one where the official plugin is not installed.
"""
