"""The variables with which `pulumi`, `kubectl`, `gcloud` and the official providers work with a twin."""

import contextlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from tpuplane_twin.daemon import certificates as trust
from tpuplane_twin.daemon.client import TwinClient
from tpuplane_twin.gcp.data_files import data
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.machine.paths import HOME, TWIN, TwinPaths
from tpuplane_twin.shell import engine
from tpuplane_twin.shell.executables import install_commands

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy")
_NO_PROXY = ("no_grpc_proxy", "no_proxy", "NO_PROXY")
_LOCAL_HOSTS = ("127.0.0.1", "localhost")


def shell_environment(client: TwinClient) -> dict[str, str]:
    """The variables for a shell on a running twin, PATH among them. Raises `TwinError` when it is not up."""
    record = client.record()
    if record is None:
        raise client.not_up()
    install_commands()
    return {
        **engine.environment(client.paths),
        **google_environment(record.api, client.token()),
        **gcloud_environment(record.api, client.paths),
        **proxy_environment(os.environ),
        # `tpuplane-twin` acts on the same twin as pulumi and kubectl.
        TWIN: client.paths.name,
        HOME: str(client.paths.root.parent),
        "KUBECONFIG": str(client.paths.kubeconfig),
        # `tpuplane ui` shows the last rehearsal.
        "TPUPLANE_TIMELINE": str(client.paths.timeline),
        "TPUPLANE_CHART_MIRROR": chart_mirror(client.paths),
        # The API servers' DNS endpoints have certificates of the twin's authority, where GKE's have public ones.
        **dict.fromkeys(trust.VARIABLES, str(client.paths.trusted)),
    }


def chart_mirror(paths: TwinPaths) -> str:
    """The user's mirror, else the charts that the twin has: the publishers' registries are on the internet."""
    given = os.environ.get("TPUPLANE_CHART_MIRROR", "")
    of_a_twin = Path(given).is_relative_to(paths.root.parent)  # this shell is one of a twin
    return given if given and not of_a_twin else str(paths.charts)


def proxy_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Exempts this machine from the proxy in `environment`: gRPC and most HTTP clients use it even for 127.0.0.1,
    and so does the engine."""
    if not any(name.lower() in _PROXIES for name in environment):
        return {}
    # Clients read one of the two, and gRPC prefers a third.
    exempt = next((environment[name] for name in _NO_PROXY if environment.get(name)), "")
    hosts = [*filter(None, (host.strip() for host in exempt.split(","))), *_LOCAL_HOSTS]
    return dict.fromkeys(_NO_PROXY, ",".join(dict.fromkeys(hosts)))


def google_environment(api: str, token: str) -> dict[str, str]:
    """Variables for Google's provider and client libraries: the API at `api`, with the twin's token."""
    apis = data("apis")["shell"].values()
    return {
        **{f"GOOGLE_{name}_CUSTOM_ENDPOINT": api + base + version for name, base, version in apis},
        "GOOGLE_OAUTH_ACCESS_TOKEN": token,
        # The provider would read the list of regions from the internet.
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
    }


def gcloud_environment(api: str, paths: TwinPaths) -> dict[str, str]:
    """Variables for gcloud: the API at `api`, a separate configuration folder, the twin's token, no internet.

    The project is set if the twin has resources of one project only.
    """
    with contextlib.closing(Store(paths.gcp / "state.db", read_only=True)) as store:
        projects = store.projects()
    bases = {name: base for name, (_, base, _) in data("apis")["shell"].items()}
    bases |= {name: f"/not-served/{name}/" for name in data("apis")["not_served"].split()}
    return {
        "CLOUDSDK_CONFIG": str(paths.gcloud),
        # The user's choice may name a configuration that this folder lacks.
        "CLOUDSDK_ACTIVE_CONFIG_NAME": "default",
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(paths.token_file),
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        **({"CLOUDSDK_CORE_PROJECT": projects[0]} if len(projects) == 1 else {}),
        **{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{name.upper()}": api + base for name, base in bases.items()},
    }


def render(variables: dict[str, str], shell: str) -> str:
    """Assignments for `eval`: `shell` is sh (also bash and zsh) or fish."""
    if shell == "fish":
        return "\n".join(f"set -gx {key} {shlex.quote(value)};" for key, value in variables.items())
    return "\n".join(f"export {key}={shlex.quote(value)}" for key, value in variables.items())
