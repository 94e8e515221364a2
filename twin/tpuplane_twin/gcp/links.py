"""Links: stored in one version of their API, and answered in the version of the request."""

COMPUTE = "https://www.googleapis.com/compute/v1/"
CONTAINER = "https://container.googleapis.com/v1beta1/"

# Links to other services keep their version: GKE names instance groups in compute/v1.
_OWN = {
    "compute": (COMPUTE, "https://www.googleapis.com/compute/{}/"),
    "container": (CONTAINER, "https://container.googleapis.com/{}/"),
}


def in_version(text: str, service: str, version: str) -> str:
    """The JSON text of an answer with the service's links in `version`."""
    if service not in _OWN:
        return text
    stored, shown = _OWN[service]
    return text.replace(f'"{stored}', f'"{shown.format(version)}')


def as_stored(text: str, service: str, version: str) -> str:
    """The text of a request with the service's links in the version in which they are stored."""
    if service not in _OWN:
        return text
    stored, shown = _OWN[service]
    return text.replace(shown.format(version), stored)
