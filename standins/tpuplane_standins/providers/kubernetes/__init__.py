"""The stand-in for `pulumi-resource-kubernetes`, used only where the official plugin is not installed.

It makes the same requests to the same Kubernetes API and keeps the same state as the official provider (behaviour
as of 4.32 to 4.34: client-side create, server-side apply for updates, the same replacement rules, awaits and
messages), so that a program cannot tell which one runs it, and a stack can move between the two.

What it rejects, by name: client-side apply, rendering to YAML, Helm releases,
kustomize. Charts are rendered by Helm itself.
"""
