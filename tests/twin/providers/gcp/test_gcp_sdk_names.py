"""The tables of the stand-in have the inputs that pulumi_gcp has, by the same names, neither more nor fewer."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tpuplane_twin.providers.gcp.tables import Field, load

pytestmark = pytest.mark.twin

# What pulumi_gcp has since the next major release: the official plugin of this stand-in does not know it yet.
NEWER = {"bestEffortProvisioning", "opportunisticMaintenanceStrategy", "stackType"}

SDK = {
    "network": ("compute", "network", "NetworkArgs"),
    "subnetwork": ("compute", "subnetwork", "SubnetworkArgs"),
    "router": ("compute", "router", "RouterArgs"),
    "router_nat": ("compute", "router_nat", "RouterNatArgs"),
    "resource_policy": ("compute", "resource_policy", "ResourcePolicyArgs"),
    "firewall": ("compute", "firewall", "FirewallArgs"),
    "account": ("serviceaccount", "account", "AccountArgs"),
    "iam_member": ("projects", "iam_member", "IAMMemberArgs"),
    "cluster": ("container", "cluster", "ClusterArgs"),
    "node_pool": ("container", "node_pool", "NodePoolArgs"),
    "dashboard": ("monitoring", "dashboard", "DashboardArgs"),
    "alert_policy": ("monitoring", "alert_policy", "AlertPolicyArgs"),
    "log_metric": ("logging", "metric", "MetricArgs"),
    "key_ring": ("kms", "key_ring", "KeyRingArgs"),
    "crypto_key": ("kms", "crypto_key", "CryptoKeyArgs"),
    "crypto_key_iam_member": ("kms", "crypto_key_iam_member", "CryptoKeyIAMMemberArgs"),
    "service_identity": ("projects", "service_identity", "ServiceIdentityArgs"),
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
    yield from (f"{path}.{name}: only in the table" for name in given.keys() - found.keys())
    yield from (f"{path}.{name}: only in the SDK" for name in found.keys() - fields.keys() - NEWER)
    for name, nested in found.items():
        if nested is not None and name in given:
            yield from same_names(given[name].fields, nested, module, f"{path}.{name}")


@pytest.mark.parametrize("table", SDK)
def test_tables_have_the_names_of_the_sdk(table: str) -> None:
    package, module, args = SDK[table]
    resource = importlib.import_module(f"pulumi_gcp.{package}.{module}")
    inputs = importlib.import_module(f"pulumi_gcp.{package}._inputs")
    assert list(same_names(load(table).fields, getattr(resource, args), inputs, table)) == []
