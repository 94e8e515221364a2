"""Manifests of jobs for a described platform, and the reasons why it cannot run one. Pure."""
