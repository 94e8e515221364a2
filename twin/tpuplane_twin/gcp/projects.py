"""Projects: their numbers, and the accounts that Google's services have in them."""

from __future__ import annotations

import hashlib

IAM_POLICY = "iamPolicy"
"""Where IAM policies are stored, by the resource's name."""


def project_number(project: str) -> str:
    """A project's number: twelve digits, always the same ones for a project."""
    return str(10**11 + int(hashlib.sha256(project.encode()).hexdigest(), 16) % (9 * 10**11))


def service_agent(project: str, domain: str) -> str:
    """Address of a service's agent in a project; `domain` is such as `container-engine-robot`."""
    return f"service-{project_number(project)}@{domain}.iam.gserviceaccount.com"
