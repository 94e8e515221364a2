"""Access to a cluster: a kubeconfig without credentials, and the provider that uses it."""

import ipaddress
import json

import pulumi
import pulumi_kubernetes as kubernetes

from tpuplane.contexts import GkeCluster

AUTH_PLUGIN = "gke-gcloud-auth-plugin"


def kubeconfig(context: str, endpoint: str, ca_certificate: str | None, token: str | None = None) -> str:
    """Return a kubeconfig that gets a token from Google's auth plugin at each use, so that it contains no secret.

    With `token`, for programs that cannot run a plugin, it is a secret. `context` is also the name of cluster and user,
    and `ca_certificate` is base64-encoded PEM as GKE reports it; None for a publicly trusted certificate.
    """
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": AUTH_PLUGIN,
        "provideClusterInfo": True,
        "interactiveMode": "Never",
        "installHint": (
            f"{AUTH_PLUGIN} is not on PATH; see "
            "https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl"
        ),
    }
    user = {"exec": plugin} if token is None else {"token": token}
    trust = {} if ca_certificate is None else {"certificate-authority-data": ca_certificate}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
        "clusters": [{"name": context, "cluster": {"server": f"https://{endpoint}", **trust}}],
        "users": [{"name": context, "user": user}],
    }
    # JSON is YAML; sorted keys keep the text, and so the provider, unchanged from one run to the next.
    return json.dumps(document, sort_keys=True)


def cluster_kubeconfig(
    project: pulumi.Input[str],
    location: pulumi.Input[str],
    name: pulumi.Input[str],
    endpoint: pulumi.Input[str],
    authority: pulumi.Input[str | None],
) -> pulumi.Output[str]:
    """Return the kubeconfig of a GKE cluster, with gcloud's name for the context. See `kubeconfig`."""
    context = pulumi.Output.all(project, location, name).apply(lambda parts: GkeCluster(*parts).context)
    return pulumi.Output.all(context, endpoint, authority).apply(lambda values: kubeconfig(*values))


def dns_authority(endpoint: pulumi.Input[str], authority: pulumi.Input[str]) -> pulumi.Output[str | None]:
    """Return the CA certificate for a DNS endpoint: None for a name, because Google's certificate is publicly trusted.

    An endpoint that is an IP address has the cluster's own certificate.
    """
    return pulumi.Output.all(endpoint, authority).apply(lambda values: values[1] if _is_address(values[0]) else None)


def _is_address(endpoint: str) -> bool:
    try:
        ipaddress.ip_address(endpoint.partition(":")[0])
    except ValueError:
        return False
    return True


def cluster_id(project: pulumi.Input[str], location: pulumi.Input[str], name: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return Google's ID of a cluster, which is known before the cluster exists."""
    return pulumi.Output.concat("projects/", project, "/locations/", location, "/clusters/", name)


def kubernetes_provider(
    name: str,
    identifier: pulumi.Input[str],
    config: pulumi.Output[str],
    parent: pulumi.Resource,
    *,
    adopting: bool = False,
) -> kubernetes.Provider:
    """Return the provider of the objects in a cluster.

    With `cluster_identifier`, the provider is replaced only if it belongs to another cluster. Without it, every change
    that makes the kubeconfig unknown for a moment (for example a label of the cluster) would replace the provider and
    every object in the cluster (pulumi-kubernetes issues 1148 and 2745).

    `identifier` must not be an output of the cluster. An unknown value counts as another cluster while the engine plans
    a replacement. The engine then closes the provider that it still needs to delete the old objects ("the client
    connection is closing", pulumi issue 14650).

    `adopting` is for objects that remain after their stack is destroyed: the provider adopts an existing object. Other
    providers reject it (since pulumi-kubernetes 4.29).
    """
    return kubernetes.Provider(
        name,
        kubeconfig=config,
        cluster_identifier=identifier,
        upsert_existing_objects=adopting or None,
        enable_patch_force=adopting or None,
        opts=pulumi.ResourceOptions(parent=parent),
    )
