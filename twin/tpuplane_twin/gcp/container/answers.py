"""The answers of GET: the stored object with derived fields, and GKE's own labels and taints of a pool."""

import base64

from tpuplane.labels import GPU, QUEUED_LABEL, TPU
from tpuplane.tpu import GkeVersion

from tpuplane_twin.gcp.backend import NODES, Endpoint, held_counts
from tpuplane_twin.gcp.container.maintenance_rules import policy_version
from tpuplane_twin.gcp.container.names import POOL, fingerprint, group_urls, self_link
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.projects import project_number
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import ClusterView, PoolView


def pool_answer(key: str, pool: Json) -> Json:
    """A node pool as GKE shows it."""
    config, seen = pool["config"], PoolView(pool)
    shown = {**config, "resourceLabels": {**config.get("resourceLabels", {}), **_own_labels(seen)}}
    if own := own_taints(seen):
        shown["taints"] = [*config.get("taints", ()), *own]
    urls = list(group_urls(key, pool).values())
    view = {**pool, "config": shown, "selfLink": self_link(key), "instanceGroupUrls": urls}
    if "autoscaling" in pool:
        # gcloud disables autoscaling with zeros, which Google's answers leave out.
        unset = (0, "LOCATION_POLICY_UNSPECIFIED")
        view["autoscaling"] = {name: value for name, value in pool["autoscaling"].items() if value not in unset}
    # The etag ignores the autoscaler's changes: an update must not fail because of them.
    configured = {field: value for field, value in view.items() if field != NODES}
    return {**view, "etag": fingerprint(configured)}


def linked(key: str, cluster: Json) -> Json:
    """A cluster as its backend needs it: with its link, without the fields that are read from all of its pools."""
    return {**cluster, "selfLink": self_link(key)}


def cluster_answer(store: Store, key: str, cluster: Json) -> Json:
    """A cluster as GKE shows it, with its pools."""
    seen, stored = ClusterView(cluster), store.items(POOL, f"{key}/nodePools")
    pools = [pool_answer(name, pool) for name, pool in stored]
    view: Json = {
        **linked(key, cluster),
        "labelFingerprint": fingerprint(sorted(cluster.get("resourceLabels", {}).items())),
        "nodePools": [pool["etag"] for pool in pools],
        "maintenancePolicy": {**seen.maintenance, "resourceVersion": policy_version(seen.maintenance)},
        "enterpriseConfig": {**seen.enterprise, "clusterTier": seen.enterprise.get("desiredTier", "STANDARD")},
    }
    encryption = seen.encryption
    if encryption.get("state"):
        # Nothing is re-encrypted here, so the current state is the desired one.
        view["databaseEncryption"] = {**encryption, "currentState": f"CURRENT_STATE_{encryption['state']}"}
    if host := seen.fleet:
        view["fleet"] = {**view["fleet"], "membership": _membership(host, cluster)}
    if pools:
        # Deprecated mirrors, which clients still read.
        view["nodeConfig"] = pools[0]["config"]
        # The oldest: https://docs.cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters
        view["currentNodeVersion"] = min((pool["version"] for pool in pools), key=GkeVersion.parse)
        view["instanceGroupUrls"] = [url for pool in pools for url in pool["instanceGroupUrls"]]
    nodes = sum(sum(held_counts(pool).values()) for _, pool in stored)
    return {**view, "nodePools": pools, "currentNodeCount": nodes, "etag": fingerprint(view)}


def _membership(host: str, cluster: Json) -> str:
    place = f"projects/{project_number(host)}/locations/{region_of(cluster['location'])}"
    return f"//gkehub.googleapis.com/{place}/memberships/{cluster['name']}"


def reachable(cluster: Json, endpoint: Endpoint) -> Json:
    """The cluster with the address and certificate that clients connect with."""
    certificate = base64.b64encode(endpoint.ca_certificate.encode()).decode()
    private = dict(cluster["privateClusterConfig"])
    control = dict(cluster["controlPlaneEndpointsConfig"])
    # GKE's endpoint is a name in gke.goog, which does not resolve here.
    control["dnsEndpointConfig"] = {**control.get("dnsEndpointConfig", {}), "endpoint": endpoint.address}
    ip = {**control["ipEndpointsConfig"], "privateEndpoint": private["privateEndpoint"]}
    if ip.get("enablePublicEndpoint"):
        private["publicEndpoint"] = ip["publicEndpoint"] = endpoint.address
    return {
        **cluster,
        "endpoint": endpoint.address,
        "masterAuth": {**cluster.get("masterAuth", {}), "clusterCaCertificate": certificate},
        "privateClusterConfig": private,
        "controlPlaneEndpointsConfig": {**control, "ipEndpointsConfig": ip},
    }


def _own_labels(view: PoolView) -> dict[str, str]:
    """GKE's labels of a pool, which no request changes: release notes of 2025-02-20.

    SkyPilot reads them (skypilot-org/skypilot, sky/provision/kubernetes/utils.py). No source shows the provisioning
    model of a pool with a reservation, so such a pool has none here.
    """
    labels = {}
    if not view.reserved:
        labels["goog-gke-node-pool-provisioning-model"] = "spot" if view.spot else view.capacity
    if view.config.get("accelerators"):
        labels["goog-gke-accelerator-type"] = view.config["accelerators"][0]["acceleratorType"]
    if view.generation is not None and view.tpu is not None:
        single = view.placement_topology in ("", view.tpu.single_host_topology)
        labels["goog-gke-accelerator-type"] = view.generation.label
        labels["goog-gke-tpu-node-pool-type"] = "single-host" if single else "multi-host"
    return labels


def own_taints(view: PoolView) -> list[Json]:
    """GKE's taints of a pool, which no request removes; a request can have one of their keys itself.

    hashicorp/terraform-provider-google#7928 shows those of GPUs. The field `effective_taints` of the official provider
    describes all.
    """
    own = ((TPU, "present", view.tpu), (GPU, "present", view.gpu), (QUEUED_LABEL, "true", view.queued))
    asked = {taint["key"] for taint in view.config.get("taints", ())}
    return [
        {"key": key, "value": value, "effect": "NO_SCHEDULE"} for key, value, has in own if has and key not in asked
    ]
