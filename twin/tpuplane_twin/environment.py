"""What a shell needs so that plain `pulumi`, `kubectl` and the official providers work with a twin."""

from __future__ import annotations

import os
import shlex

from tpuplane_twin.paths import TwinPaths

# The key is what the official Google provider reads; each address ends in the API's version.
_ENDPOINTS = {
    "GOOGLE_CONTAINER_CUSTOM_ENDPOINT": "/v1beta1/",
    "GOOGLE_COMPUTE_CUSTOM_ENDPOINT": "/compute/beta/",
    "GOOGLE_IAM_BETA_CUSTOM_ENDPOINT": "/iam/v1/",
    "GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT": "/crm/v1/",
}


def google_environment(api: str, token: str) -> dict[str, str]:
    """Turns Google's provider and client libraries to the API at `api`, with the twin's own token."""
    return {
        **{key: api + path for key, path in _ENDPOINTS.items()},
        "GOOGLE_OAUTH_ACCESS_TOKEN": token,
        # The list of regions is Google's to serve; the provider would ask for it over the internet.
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
    }


def search_path(paths: TwinPaths) -> str:
    """PATH with the twin's executables first, once."""
    others = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if entry != str(paths.bin)]
    return os.pathsep.join([str(paths.bin), *others])


def render(variables: dict[str, str], shell: str) -> str:
    """Assignments for `eval`: `shell` is sh (also bash and zsh) or fish."""
    if shell == "fish":
        return "\n".join(f"set -gx {key} {shlex.quote(value)};" for key, value in variables.items())
    return "\n".join(f"export {key}={shlex.quote(value)}" for key, value in variables.items())
