"""The tables of the stand-in have the inputs that pulumi_gcp has, by the same names, neither more nor fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any

import pulumi_gcp
import pytest
from tpuplane_standins.providers.gcp.session import config_keys
from tpuplane_standins.providers.gcp.tables import Field, load

pytestmark = pytest.mark.twin

# Inputs that came with pulumi_gcp 10.
NEWER = {
    "bestEffortProvisioning",
    "hostMaintenancePolicy.opportunisticMaintenanceStrategy",
    "additionalNodeNetworkConfigs.stackType",
    "targetVersion",
}

SDK = {
    "network": ("compute", "NetworkArgs"),
    "subnetwork": ("compute", "SubnetworkArgs"),
    "router": ("compute", "RouterArgs"),
    "router_nat": ("compute", "RouterNatArgs"),
    "resource_policy": ("compute", "ResourcePolicyArgs"),
    "firewall": ("compute", "FirewallArgs"),
    "account": ("serviceaccount", "AccountArgs"),
    "iam_member": ("projects", "IAMMemberArgs"),
    "cluster": ("container", "ClusterArgs"),
    "node_pool": ("container", "NodePoolArgs"),
    "dashboard": ("monitoring", "DashboardArgs"),
    "alert_policy": ("monitoring", "AlertPolicyArgs"),
    "log_metric": ("logging", "MetricArgs"),
    "key_ring": ("kms", "KeyRingArgs"),
    "crypto_key": ("kms", "CryptoKeyArgs"),
    "crypto_key_iam_member": ("kms", "CryptoKeyIAMMemberArgs"),
    "repository": ("artifactregistry", "RepositoryArgs"),
    "repository_iam_member": ("artifactregistry", "RepositoryIamMemberArgs"),
    "bucket": ("storage", "BucketArgs"),
    "bucket_iam_member": ("storage", "BucketIAMMemberArgs"),
    "filestore_instance": ("filestore", "InstanceArgs"),
    "lustre_instance": ("lustre", "InstanceArgs"),
    "global_address": ("compute", "GlobalAddressArgs"),
    "service_networking_connection": ("servicenetworking", "ConnectionArgs"),
    "service_identity": ("projects", "ServiceIdentityArgs"),
}


def sdk_names(args: type, inputs_module: Any) -> Iterator[tuple[str, type | None]]:
    """Every input of an Args class by its wire name, with the Args class of a nested object."""
    for attribute in vars(args).values():
        getter = getattr(attribute, "fget", None)
        if hasattr(getter, "_pulumi_name"):
            text = str(getter.__annotations__["return"])
            nested = [word for word in text.replace("'", " ").replace('"', " ").split() if word.endswith("Args")]
            yield getter._pulumi_name, getattr(inputs_module, nested[0], None) if nested else None


def same_names(fields: Mapping[str, Field], args: type, module: Any, path: str) -> Iterator[str]:
    given = {name: rule for name, rule in fields.items() if not rule.output}
    found = dict(sdk_names(args, module))
    yield from (f"{path}.{name}" for name in given.keys() - found.keys())
    yield from (f"{path}.{name}: only in the SDK" for name in found.keys() - fields.keys())
    for name, nested in found.items():
        if nested is not None and name in given:
            yield from same_names(given[name].fields, nested, module, f"{path}.{name}")


def test_configuration_has_the_keys_of_the_sdk() -> None:
    assert config_keys() == {name for name, _ in sdk_names(pulumi_gcp.ProviderArgs, pulumi_gcp)}


@pytest.mark.parametrize("table", SDK)
def test_tables_have_the_names_of_the_sdk(table: str) -> None:
    package, args = SDK[table]
    module = getattr(pulumi_gcp, package)
    old = int(metadata.version("pulumi-gcp").partition(".")[0]) < 10
    found = same_names(load(table).fields, getattr(module, args), module, table)
    assert [name for name in found if not (old and name.endswith(tuple(NEWER)))] == []
