"""How to reach a cluster: a kubeconfig without any credential in it, and the provider made from it."""

import json
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

AUTH_PLUGIN = "gke-gcloud-auth-plugin"


def kubeconfig(context: str, endpoint: str, ca_certificate: str) -> str:
    """Return a kubeconfig that asks Google's auth plugin for a token at each use, so that it holds no secret.

    Args:
        context: Name of the only context, cluster and user.
        endpoint: Address of the control plane, without a scheme.
        ca_certificate: The cluster's CA, base64-encoded PEM as GKE reports it.

    """
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
        "clusters": [
            {
                "name": context,
                "cluster": {
                    "server": f"https://{endpoint}",
                    "certificate-authority-data": ca_certificate,
                },
            }
        ],
        "users": [
            {
                "name": context,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": AUTH_PLUGIN,
                        "provideClusterInfo": True,
                        "interactiveMode": "Never",
                        "installHint": (
                            f"{AUTH_PLUGIN} is not on PATH; see "
                            "https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl"
                        ),
                    }
                },
            }
        ],
    }
    # JSON is YAML; sorted keys keep the text, and so the provider, unchanged from one run to the next.
    return json.dumps(document, sort_keys=True)


def cluster_kubeconfig(cluster: gcp.container.Cluster) -> pulumi.Output[str]:
    """Return the kubeconfig of a GKE cluster, from its outputs, with the context name that gcloud gives it."""
    # master_auth is secret as a whole because it can hold a client key. The CA certificate is public.
    authority = pulumi.Output.unsecret(cluster.master_auth.cluster_ca_certificate)
    return pulumi.Output.all(
        project=cluster.project,
        location=cluster.location,
        name=cluster.name,
        endpoint=cluster.endpoint,
        authority=authority,
    ).apply(
        lambda it: kubeconfig(f"gke_{it['project']}_{it['location']}_{it['name']}", it["endpoint"], it["authority"])
    )


def kubernetes_provider(
    name: str, identifier: pulumi.Input[str], config: pulumi.Output[str], parent: pulumi.Resource
) -> kubernetes.Provider:
    """Return the provider of a cluster's in-cluster objects.

    With `cluster_identifier` set, the provider is replaced only when it names another cluster. Without it, every
    change that makes the kubeconfig unknown for a moment (a label of the cluster, say) would replace the provider, and
    every object in the cluster with it (pulumi-kubernetes issues 1148 and 2745).

    `identifier` must not be an output of the cluster. An unknown one counts as another cluster while a replacement is
    being planned, and the engine then closes the very provider that it still needs to delete the old objects
    ("the client connection is closing", pulumi issue 14650).
    """
    return kubernetes.Provider(
        name,
        kubeconfig=config,
        cluster_identifier=identifier,
        opts=pulumi.ResourceOptions(parent=parent),
    )
