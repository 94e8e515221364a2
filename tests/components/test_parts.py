"""Each component on its own, in a user's program: options reach every child, mistakes name arguments."""

from __future__ import annotations

from typing import Any, cast

import pulumi
import pulumi_gcp as gcp
import pytest
from tpuplane import (
    Cluster,
    ClusterArgs,
    ComputeClass,
    GpuNodePool,
    Multislice,
    Network,
    NetworkArgs,
    Platform,
    RayCluster,
    RayJob,
    RayService,
    SpecError,
    SystemNodePool,
    TpuNodePool,
)

from tests.support import REPOSITORY
from tests.support.components.deployment import Deployment, deploy, deploy_platform, known
from tests.support.components.every_part import ACCOUNT, REF, everything

pytestmark = pytest.mark.components

DEFAULT_ACCOUNT = "123-compute@developer.gserviceaccount.com"
KEY = "projects/acme-ml/locations/europe-west4/keyRings/ring/cryptoKeys/key"
RANGES = {"nodes_cidr": "10.8.0.0/20", "pods_cidr": "10.72.0.0/14", "services_cidr": "10.40.0.0/20"}
TPU7X = {"generation": "tpu7x", "topology": "2x2x2", "zone": "us-central1-c"}
EAST = {"region": "us-east5"}


@pytest.fixture(scope="module")
def parts() -> Deployment:
    return deploy(everything)


def test_what_is_made_is_what_a_platform_makes(parts: Deployment) -> None:
    subnet = parts.one(":Subnetwork").inputs
    assert (subnet["name"], subnet["region"], subnet["ipCidrRange"]) == ("shared-east", "us-east5", "10.0.0.0/20")
    cluster = parts.one("container/cluster:Cluster").inputs
    assert (cluster["name"], cluster["location"], cluster["network"]) == ("trainers", "us-east5", "shared-id")
    assert cluster["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "pods",
        "servicesSecondaryRangeName": "services",
    }
    assert cluster["resourceLabels"] == {"team": "research"}
    assert parts.one("serviceaccount/account:Account").inputs["accountId"] == "trainers"
    pools = {resource.inputs["name"]: resource.inputs for resource in parts.all(":NodePool")}
    assert pools.keys() == {"system", "extra", "trainer-0"}
    assert {each_pool["cluster"] for each_pool in pools.values()} == {"trainers"}
    assert pools["extra"]["autoscaling"]["minNodeCount"] == 2
    assert pools["extra"]["nodeConfig"]["resourceLabels"] == {"team": "research", "tpuplane-pool": "extra"}
    for pool in pools.values():
        assert pool["nodeConfig"]["serviceAccount"] == "trainers@acme-ml.iam.gserviceaccount.com"


def test_the_outputs_of_each_part(parts: Deployment) -> None:
    outputs = {
        registration.type.rpartition(":")[2]: parts.outputs(registration)
        for registration in parts.registrations.values()
        if not registration.custom
    }
    assert outputs["Network"] == {"networkId": "shared-id", "subnetworkIds": {"shared-east": "shared-shared-east-id"}}
    assert outputs["Cluster"].keys() == {"name", "location", "endpoint", "kubeconfig", "nodeServiceAccount"}
    assert outputs["TpuNodePool"] == {
        "shape": "v6e 4x4",
        "poolNames": ["trainer-0"],
        "slices": 1,
        "hosts": 4,
        "chips": 16,
    }


def test_a_platform_by_parts_has_the_resources_of_the_platform(parts: Deployment) -> None:
    pool = {"generation": "v6e", "topology": "4x4", "zone": "us-east5-b"}
    whole = {
        "name": "shared",
        "project": "acme-ml",
        "clusters": {"east": {"location": "us-east5", "pools": {"trainer": pool}}},
    }
    platform = deploy_platform(whole)
    for kind, own in ((":NodePool", "trainer-0"), ("compute/subnetwork:Subnetwork", "shared-east")):
        (alone,) = (resource for resource in parts.all(kind) if resource.inputs["name"] == own)
        (among,) = (resource for resource in platform.all(kind) if resource.inputs["name"] == own)
        differs = {key for key in alone.inputs | among.inputs if alone.inputs.get(key) != among.inputs.get(key)}
        # Only what belongs to the other: the VPC's id, the cluster's name, the nodes' account and labels.
        assert differs <= {"network", "cluster", "nodeConfig"}
        assert alone.request.replaceOnChanges == among.request.replaceOnChanges
        assert alone.request.deleteBeforeReplace == among.request.deleteBeforeReplace


def test_an_explicit_provider_makes_every_google_resource() -> None:
    def program() -> None:
        google = gcp.Provider("theirs", project="acme-ml")
        everything(pulumi.ResourceOptions(providers=[google]))

    deployed = deploy(program)
    made = [resource for resource in deployed.custom() if resource.type.startswith("gcp:")]
    assert len(made) > 9
    assert [resource.urn for resource in made if "::theirs::" not in resource.request.provider] == []


def test_a_single_provider_option_does_the_same() -> None:
    deployed = deploy(lambda: everything(pulumi.ResourceOptions(provider=gcp.Provider("theirs"))))
    made = [resource for resource in deployed.custom() if resource.type.startswith("gcp:")]
    assert [resource.urn for resource in made if "::theirs::" not in resource.request.provider] == []


def test_the_parent_is_the_one_that_the_program_gives() -> None:
    class Theirs(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("acme:index:Theirs", "theirs")
            everything(pulumi.ResourceOptions(parent=self))

    deployed = deploy(Theirs)
    components = [
        registration for registration in deployed.registrations.values() if registration.type.startswith("tpuplane:")
    ]
    owned = {
        component.name for component in components if (parent := deployed.parent(component)) and parent.name == "theirs"
    }
    assert owned == {"shared", "trainers", "extra", "trainer"}
    for made in deployed.custom():
        line = [made]
        while parent := deployed.parent(line[-1]):
            line.append(parent)
        assert line[-1].type == "acme:index:Theirs"


def test_protection_that_the_program_wants_holds_for_the_cluster() -> None:
    """Without deletion protection of its own, the cluster follows the component."""
    args = cast(ClusterArgs, CLUSTER | {"deletion_protection": False})
    for protect in (True, False):
        deployed = deploy(lambda on=protect: Cluster("trainers", args, pulumi.ResourceOptions(protect=on)))
        assert deployed.one("container/cluster:Cluster").request.protect is protect


def network(**subnets: Any) -> NetworkArgs:
    return {"project": "acme-ml", "subnets": subnets}


CLUSTER: dict[str, Any] = {"project": "acme-ml", "network": "vpc", "subnetwork": "sub", "location": "us-east5"}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (network(east={"region": "mars"}), "subnets.east.region: 'mars' is not a Google Cloud region"),
        (network(east={"region": "us-east5-a"}), "subnets.east.region: 'us-east5-a' is a zone; allowed: its region"),
        (network(east={"region": "us-east5", "nodes_cidr": "10.0.0.0"}), "subnets.east.nodes_cidr: '10.0.0.0' has no"),
        (
            network(a={"region": "us-east5"}, b={"region": "us-east5"}),
            "subnets.b.nodesCidr: '10.0.0.0/20' (the default) overlaps 10.0.0.0/20 of subnets.a.nodesCidr",
        ),
        (
            network(**{"a": EAST | {"proxies_cidr": "10.9.0.0/23"}, "a-proxies": RANGES | EAST}),
            "subnets.a.proxiesCidr: its subnetwork has the same name as that of subnets.a-proxies; rename one of them",
        ),
        (
            {**network(**{"e" * 32: EAST}), "network_name": "n" * 31},
            f"subnets.{'e' * 32}: the name '{'n' * 31}-{'e' * 32}' of its subnetwork has 64 characters; allowed: 63",
        ),
        (
            {**network(**{"e" * 24: EAST | {"proxies_cidr": "10.9.0.0/23"}}), "network_name": "n" * 31},
            f"subnets.{'e' * 24}: the name '{'n' * 31}-{'e' * 24}-proxies' of its subnetwork has 64 characters",
        ),
        (network(east={}), "subnets.east.region: required"),
        ({"project": "acme-ml"}, "subnets: required"),
        ({**network(), "network_name": "Bad"}, "network_name: 'Bad' is not allowed"),
        (
            {**network(east=EAST), "project": "BAD PROJECT"},
            "project: 'BAD PROJECT' is not allowed; allowed: a project id",
        ),
        ({**network(east=EAST), "project": 5}, "project: '5' is not allowed"),
        ({**network(), "subnet": {}}, "subnet: unknown field; allowed: project, network_name, subnets"),
    ],
)
def test_a_wrong_network_is_rejected_by_its_own_arguments(args: Any, line: str) -> None:
    with pytest.raises(SpecError) as rejected:
        deploy(lambda: Network("shared", args))
    assert line in str(rejected.value)


def test_pods_of_a_network_can_have_public_addresses_because_its_clusters_can_be_without_default_snat() -> None:
    args = network(east=EAST | {"pods_cidr": "44.0.0.0/14"})
    assert len(deploy(lambda: Network("shared", args)).all(":Subnetwork")) == 1


def test_the_names_of_subnetworks_are_longer_than_those_of_clusters() -> None:
    args = {**network(**{"e" * 23: EAST | {"proxies_cidr": "10.9.0.0/23"}}), "network_name": "n" * 31}
    assert len(deploy(lambda: Network("shared", args)).all(":Subnetwork")) == 2


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("trainers", {"location": "us-east5-z"}, "location: 'us-east5-z' is not a zone of us-east5"),
        ("trainers", {"control_plane": {"public_endpoint": True}}, "controlPlane.authorizedNetworks: required"),
        ("trainers", {"pools": {}}, "pools: unknown field; allowed: "),
        ("trainers", {"addons": {"jobset": {}}}, "addons.jobset: is installed by a Platform"),
        ("abc", {}, "cluster_name: the name 'abc' of its service account has 3 characters; allowed: 6 to 30"),
        ("Trainers", {}, "cluster_name: 'Trainers' is not allowed"),
        ("trainers", {"labels": {"goog-x": "y"}}, "labels.goog-x: 'goog-x' is reserved"),
        ("trainers", {"project": "Bad!"}, "project: 'Bad!' is not allowed"),
        ("trainers", {"project": None}, "project: required by ClusterArgs"),
        ("trainers", {"network": None}, "network: required by ClusterArgs"),
        ("trainers", {"network": 5}, "network: 5 is a number in YAML, not a string"),
        ("trainers", {"subnetwork": ""}, "subnetwork: "),
        ("trainers", {"service_account": ""}, "service_account: '' is not allowed"),
        ("trainers", {"service_account": DEFAULT_ACCOUNT}, "is an account that Google creates in the project"),
        ("trainers", {"secrets_key": "nope"}, "secrets_key: 'nope' is not allowed; allowed: a Cloud KMS key"),
        ("trainers", {"boot_disk_key": KEY}, "boot_disk_key: the key is in 'europe-west4', but GKE needs a key"),
        ("trainers", {"pods_range": "services"}, "services_range: 'services' is also the range for pods; name another"),
    ],
)
def test_a_wrong_cluster_is_rejected_by_its_own_arguments(name: str, change: Any, line: str) -> None:
    with pytest.raises(SpecError) as rejected:
        deploy(lambda: Cluster(name, cast(ClusterArgs, CLUSTER | change)))
    assert line in str(rejected.value)


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        (Network, network()),
        (Cluster, CLUSTER),
        (SystemNodePool, {"cluster": REF}),
        (TpuNodePool, {"cluster": REF, "generation": "v6e", "topology": "4x4"}),
        (GpuNodePool, {"cluster": REF}),
        (ComputeClass, {"cluster": REF}),
        (Platform, {}),
        (RayCluster, {}),
        (RayJob, {}),
        (RayService, {}),
        (Multislice, {}),
    ],
    ids=lambda parameter: parameter.__name__ if isinstance(parameter, type) else "",
)
def test_a_mistake_is_shown_by_the_engine_without_a_traceback(kind: Any, args: dict[str, Any]) -> None:
    with pytest.raises(pulumi.RunError) as rejected:
        deploy(lambda: kind("mine", args | {"banana": 1}))
    assert isinstance(rejected.value, SpecError)
    assert str(rejected.value).startswith(f"{kind.__name__} mine: ")
    assert "banana" in str(rejected.value)


@pytest.mark.parametrize("kind", [Network, Cluster, SystemNodePool, TpuNodePool, GpuNodePool, ComputeClass])
@pytest.mark.parametrize("args", [None, [], pulumi.Output.from_input({})], ids=["none", "list", "output"])
def test_arguments_are_a_mapping(kind: Any, args: Any) -> None:
    with pytest.raises(pulumi.RunError, match=f"^{kind.__name__} mine: .* is not a mapping of names of arguments"):
        deploy(lambda: kind("mine", args))


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("Bad", {}, "pool_name: 'Bad' is not allowed"),
        ("x" * 39, {}, "pool_name: the name 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-0' of its node pool"),
        ("mine", {"slices": 0}, "slices: 0 slices have no node pool; allowed: at least 1"),
        ("mine", {"slices": 5000}, "slices: the pools grow to 20000 nodes; allowed: at most 15000 in a cluster"),
        ("mine", {"cluster": {**REF, "version": "1.20"}}, "generation: 'v6e' needs GKE 1.31"),
        ("mine", {"cluster": {**REF, "project": "P"}}, "cluster.project: 'P' is not allowed"),
        ("mine", {"cluster": {**REF, "project": None}}, "cluster.project: required by ClusterRef"),
        ("mine", {"cluster": {**REF, "name": "Bad!"}}, "cluster.name: 'Bad!' is not allowed"),
        ("mine", {"cluster": {**REF, "service_account": ["a"]}}, "cluster.service_account: ['a'] is not a string"),
        ("mine", {"cluster": {**REF, "versionn": "1.20"}}, "cluster.versionn: unknown field; allowed: project, "),
        ("mine", {"cluster": {**REF, "service_account": None}}, "cluster.service_account: required by ClusterRef"),
        ("mine", {"cluster": {**REF, "service_account": DEFAULT_ACCOUNT}}, "cluster.service_account: "),
        (
            "mine-" * 5 + "mine",
            {"cluster": {**REF, "name": "theirs-" * 4 + "theirs"}, **TPU7X},
            "pool_name: the name 'theirs-theirs-theirs-theirs-theirs-mine-mine-mine-mine-mine-mine-2x2x2' "
            "of its workload policy has 70 characters; allowed: 63",
        ),
        ("mine", {"compute_class": "A b"}, "computeClass: 'A b' is not a valid name of a Kubernetes object; allowed: "),
        ("mine", {"labels": {f"l{i}": "" for i in range(64)}}, "labels: "),
    ],
)
def test_a_wrong_pool_is_rejected_by_its_own_arguments(name: str, change: Any, line: str) -> None:
    pool = {"cluster": REF, "generation": "v6e", "topology": "4x4", "zone": "us-central1-b"}
    with pytest.raises(SpecError) as rejected:
        deploy(lambda: TpuNodePool(name, cast(Any, pool | change)))
    assert str(rejected.value).startswith(f"TpuNodePool {name}: {line}")
    assert "\n" not in str(rejected.value)


def test_a_clusters_own_network_is_not_measured() -> None:
    """The sizes of the user's ranges are not known here, and none of them overlaps the component's."""
    plane: Any = {"master_cidr": "10.0.0.0/28"}
    args = CLUSTER | {"control_plane": plane, "system_pool": {"max_nodes": 1000}, "service_account": ACCOUNT}
    deployed = deploy(lambda: Cluster("abc", cast(ClusterArgs, args)))
    assert not deployed.all(":Account")
    assert deployed.one(":NodePool").inputs["nodeConfig"]["serviceAccount"] == ACCOUNT


def test_an_account_that_is_none_counts_as_omitted() -> None:
    deployed = deploy(lambda: Cluster("trainers", cast(ClusterArgs, CLUSTER | {"service_account": None})))
    account = deployed.one(":NodePool").inputs["nodeConfig"]["serviceAccount"]
    assert account == "trainers@acme-ml.iam.gserviceaccount.com"


def test_a_key_argument_replaces_the_setting_that_creates_one() -> None:
    key = KEY.replace("europe-west4", "us-east5")
    args = CLUSTER | {"secrets_key": key, "security": {"secrets_encryption": {}}}
    deployed = deploy(lambda: Cluster("trainers", cast(ClusterArgs, args)))
    assert not deployed.all(":CryptoKey")
    assert deployed.one("container/cluster:Cluster").inputs["databaseEncryption"]["keyName"] == key


def test_what_is_not_known_yet_cannot_shape_a_pool() -> None:
    ref = {**REF, "location": known("us-central1")}
    with pytest.raises(SpecError, match=r"^TpuNodePool x: cluster.location: is a Pulumi output") as rejected:
        deploy(lambda: TpuNodePool("x", cast(Any, {"cluster": ref, "generation": "v6e", "topology": "4x4"})))
    page = " ".join((REPOSITORY / "docs/reuse.md").read_text(encoding="utf-8").split())
    assert f"`cluster.location: {rejected.value.mistakes[0].message}`" in page


def test_a_block_of_a_reservation_needs_a_project_by_name() -> None:
    ref = {**REF, "project": known("acme-ml")}
    pool: dict[str, Any] = {
        "cluster": ref,
        "generation": "v6e",
        "topology": "4x4",
        "zone": "us-central1-b",
        "capacity": "reservation",
        "reservation": {"name": "long", "block": "b1"},
        "reservations": {"long": {"generation": "v6e", "zone": "us-central1-b", "chips": 64}},
    }
    with pytest.raises(SpecError, match=r"^TpuNodePool x: reservations: project is required"):
        deploy(lambda: TpuNodePool("x", cast(Any, pool)))
    pool["reservations"]["long"]["project"] = "acme-ml"
    assert deploy(lambda: TpuNodePool("x", cast(Any, pool))).one(":NodePool")


def test_a_reservation_too_small_is_reported_without_the_words_of_a_platform() -> None:
    args: Any = {
        "cluster": REF,
        "generation": "v6e",
        "topology": "4x4",
        "zone": "us-central1-b",
        "slices": 2,
        "capacity": "reservation",
        "reservation": {"name": "long"},
        "reservations": {"long": {"generation": "v6e", "zone": "us-central1-b", "chips": 16}},
    }
    with pytest.raises(SpecError, match=r"^TpuNodePool x: reservations.long.chips: 16") as rejected:
        deploy(lambda: TpuNodePool("x", args))
    assert "clusters" not in str(rejected.value)
    assert "this 32" in str(rejected.value)
