"""What a shell needs so that plain `pulumi`, `kubectl` and the official providers work with a twin."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from tpuplane_twin import engine, trust
from tpuplane_twin.client import TwinClient, TwinError

# The key is what the official Google provider reads; each address ends in the API's version, but for Monitoring's.
_ENDPOINTS = {
    "GOOGLE_CONTAINER_CUSTOM_ENDPOINT": "/v1beta1/",
    "GOOGLE_COMPUTE_CUSTOM_ENDPOINT": "/compute/beta/",
    "GOOGLE_IAM_BETA_CUSTOM_ENDPOINT": "/iam/v1/",
    "GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT": "/crm/v1/",
    "GOOGLE_KMS_CUSTOM_ENDPOINT": "/kms/v1/",
    "GOOGLE_LOGGING_CUSTOM_ENDPOINT": "/logging/v2/",
    # Two versions of it are used, and the provider adds which one.
    "GOOGLE_MONITORING_CUSTOM_ENDPOINT": "/monitoring/",
    "GOOGLE_SERVICE_USAGE_CUSTOM_ENDPOINT": "/serviceusage/v1beta1/",
}

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy")
_NO_PROXY = ("no_grpc_proxy", "no_proxy", "NO_PROXY")
_LOCAL_HOSTS = ("127.0.0.1", "localhost")


def shell_environment(client: TwinClient) -> dict[str, str]:
    """The variables for a shell on a running twin, PATH among them. Raises `TwinError` when it is not up."""
    record = client.record()
    if record is None:
        raise TwinError(f"the twin {client.paths.name!r} is not up; start it with `tpuplane-twin up`")
    return {
        **engine.environment(client.paths),
        **google_environment(record.api, client.token()),
        **proxy_environment(os.environ),
        "KUBECONFIG": str(client.paths.kubeconfig),
        # The publishers' registries are on the internet.
        "TPUPLANE_CHART_MIRROR": str(client.paths.charts),
        # The API servers' DNS endpoints have certificates of the twin's authority, where GKE's have public ones.
        trust.VARIABLE: str(client.paths.trusted),
    }


def proxy_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Exempts this machine from the proxy that `environment` names, if any: gRPC and most HTTP clients obey it even
    for 127.0.0.1, and with it the engine's own programs."""
    if not any(name.lower() in _PROXIES for name in environment):
        return {}
    # Clients differ in which of the two they read, and gRPC prefers a third.
    exempt = next((environment[name] for name in _NO_PROXY if environment.get(name)), "")
    hosts = [*filter(None, (host.strip() for host in exempt.split(","))), *_LOCAL_HOSTS]
    return dict.fromkeys(_NO_PROXY, ",".join(dict.fromkeys(hosts)))


def google_environment(api: str, token: str) -> dict[str, str]:
    """Turns Google's provider and client libraries to the API at `api`, with the twin's own token."""
    return {
        **{key: api + path for key, path in _ENDPOINTS.items()},
        "GOOGLE_OAUTH_ACCESS_TOKEN": token,
        # The list of regions is Google's to serve; the provider would ask for it over the internet.
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
    }


def render(variables: dict[str, str], shell: str) -> str:
    """Assignments for `eval`: `shell` is sh (also bash and zsh) or fish."""
    if shell == "fish":
        return "\n".join(f"set -gx {key} {shlex.quote(value)};" for key, value in variables.items())
    return "\n".join(f"export {key}={shlex.quote(value)}" for key, value in variables.items())
