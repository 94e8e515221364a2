"""`tpuplane import` loses no setting of the provider: it is read, reported, or the preview shows its difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from tpuplane.data_files import read_data
from tpuplane_standins.providers.gcp.tables import Field, load

from tests.support.components.deployment import deploy_platform
from tests.support.existing import adopted, cluster

pytestmark = pytest.mark.components

ROWS: dict[str, Any] = read_data("tpuplane.adopt", "fields")
KINDS = {  # a part of the URN: the table, the kinds of its settings, and the sections that are read
    "gcp:container/cluster:Cluster": ("cluster", ["cluster"], ["cluster"]),
    "SystemNodePool": ("node_pool", ["nodePool", "systemPool"], ["systemPool"]),
    "TpuNodePool": ("node_pool", ["nodePool"], ["pool", "tpu"]),
    "GpuNodePool": ("node_pool", ["nodePool"], ["pool", "gpu"]),
}
POOLS = {("cluster", "nodePools"), ("cluster", "nodeConfig")}  # which are resources of their own
EXEMPT = {
    "Google's API does not have it": ["deletionPolicy", "namePrefix"],
    "describe.py and pools.py read it": ["initialNodeCount", "nodeCount", "privateClusterConfig.masterIpv4CidrBlock"],
    "GKE chooses it for each cluster": [
        "addonsConfig.dnsCacheConfig",
        "clusterIpv4Cidr",
        "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint",
        "ipAllocationPolicy.clusterIpv4CidrBlock",
        "ipAllocationPolicy.servicesIpv4CidrBlock",
        "networkConfig.podIpv4CidrBlock",
        "nodeVersion",
        "privateClusterConfig.privateEndpointSubnetwork",
        "version",
    ],
    "only TPU and GPU machines have accelerators": ["nodeConfig.guestAccelerators"],
    "another property says the same": [
        "addonsConfig.networkPolicyConfig",
        "clusterTelemetry",
        "loggingService",
        "monitoringService",
        "nodeConfig.bootDisk.diskType",
        "nodeConfig.bootDisk.sizeGb",
        "protectConfig",
    ],
    "a detail of a setting that is reported, or that the preview shows": [
        "clusterAutoscaling.autoProvisioningDefaults",
        "clusterAutoscaling.autoProvisioningLocations",
        "confidentialNodes.confidentialInstanceType",
        "nodeConfig.confidentialNodes.confidentialInstanceType",
        "nodeConfig.containerdConfig.privateRegistryAccessConfig.certificateAuthorityDomainConfigs",
        "nodeConfig.kubeletConfig.evictionSoftGracePeriod",
        "nodeConfig.kubeletConfig.shutdownGracePeriodCriticalPodsSeconds",
        "nodeConfig.kubeletConfig.topologyManager.scope",
        "nodeConfig.linuxNodeConfig.swapConfig",
        "nodeConfig.nodeImageConfigs.imageProject",
        "nodePoolDefaults.nodeConfigDefaults.containerdConfig.privateRegistryAccessConfig.certificateAuthorityDomainConfigs",
        "notificationConfig.pubsub",
        "secretManagerConfig.rotationConfig.rotationInterval",
        "upgradeSettings.blueGreenSettings",
    ],
    "GKE no longer offers it": [
        "addonsConfig.cloudrunConfig",
        "addonsConfig.istioConfig",
        "addonsConfig.kalmConfig",
        "enableTpu",
        "tpuConfig",
    ],
}
SENT = read_data("tpuplane.diff", "kept")["sent"]
SHOWN = {None, "autopilot", "disabledBlock"}  # what the provider suppresses: nothing, or of a block that is off


def hidden(
    fields: Mapping[str, Field], inputs: Sequence[Any], above: str = "", api: str = ""
) -> Iterator[tuple[str, str]]:
    """The settings whose differences no preview shows, with their paths in the API: the provider computes them, and the
    program does not always send them."""
    for name, rule in fields.items():
        sent = [given[name] for given in inputs if name in given]
        always = bool(inputs) and len(sent) == len(inputs)
        parts = [part for value in sent for part in (value if isinstance(value, list) else [value]) if always]
        if rule.output or (not always and inputs and not rule.computed and rule.suppress in SHOWN):
            continue
        if rule.fields and (parts or not always):  # a list that is sent empty shows each item
            yield from hidden(rule.fields, parts, f"{above}{name}.", f"{api}{rule.api}.")
        elif not always:
            yield above + name, f"{api}{rule.api}."


@pytest.mark.parametrize("component", KINDS)
def test_no_setting_is_lost_in_silence(component: str) -> None:
    table, kinds, sections = KINDS[component]
    deployed = deploy_platform(adopted(cluster("svc"), cluster("ironwood")).config).custom()
    inputs = [found.inputs for found in deployed if component in found.urn and found.type.startswith("gcp:container/")]
    prefixes = {"gpu": "config.accelerators."}
    read = {f"{prefixes.get(section, '')}{path}" for section in sections for path, *_ in ROWS[section].values()}
    read |= {path for kind in kinds for path in ROWS["undeclared"][kind]}
    read |= {row["path"] for row in ROWS["outside"][kinds[0]]}
    fields = {name: rule for name, rule in load(table).fields.items() if (table, name) not in POOLS}
    assert not {setting for setting, _ in hidden(fields, inputs)} & set(
        SENT["cluster" if table == "cluster" else "nodePool"]
    )
    exempt = tuple(f"{path}." for listed in EXEMPT.values() for path in listed)
    lost = [
        setting
        for setting, path in hidden(fields, inputs)
        if not f"{setting}.".startswith(exempt) and not path.startswith(tuple(f"{row}." for row in read))
    ]
    assert inputs
    assert lost == [], (
        "write these into `undeclared` of components/tpuplane/adopt/data/fields.yaml with the values that are GKE's own"
    )
