"""Unknown values that follow from the resources behind them, and those that do not: the pack under the real engine."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tpuplane_policies.core.predictions import predicted
from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import UNKNOWN

from tests.support.first_repository import first_repository
from tests.support.pulumi_program import Program

pytestmark = pytest.mark.policies

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policies"
PLATFORM = "tpuplane:index:Platform"
UNDECIDED = re.compile(r"REP006 +\(\S+: ([^)]+)\)\n.*cannot be decided, because values are unknown: (.*?)\. Remedy")

PROGRAM = """
import pulumi
import pulumi_gcp as gcp

platform = pulumi.ComponentResource("tpuplane:index:Platform", "platform")
inside = pulumi.ResourceOptions(parent=platform)
SERVICE = "container.googleapis.com"
agent = gcp.projects.ServiceIdentity("agent", service=SERVICE, opts=inside)
agent_outside = gcp.projects.ServiceIdentity("agent-outside", service=SERVICE)
default = gcp.compute.Network("net", name="default", auto_create_subnetworks=False, opts=inside)
ring = gcp.kms.KeyRing("ring", location="us-central1", opts=inside)


def grant(name, member, opts=inside):
    # Has the rule about public access and few others.
    gcp.kms.CryptoKeyIAMMember(name, crypto_key_id="p/l/r/k", role="roles/viewer", member=member, opts=opts)


grant("agents", pulumi.Output.concat("serviceAccount:", agent.email))
grant("agent-and-more", pulumi.Output.concat(default.id, agent.email))
grant("of-a-ring", pulumi.Output.concat("serviceAccount:", ring.id))
grant("of-an-outsider", pulumi.Output.concat("serviceAccount:", agent_outside.email))
grant("outside", pulumi.Output.concat("serviceAccount:", agent.email), pulumi.ResourceOptions())
gcp.projects.IAMMember("administrator", project="p", role="roles/container.admin", member=agent.member, opts=inside)
gcp.container.Cluster("of-a-default-network", location="us-central1", network=default.id, opts=inside)
"""


@pytest.fixture
def program(variables: dict[str, str], tmp_path: Path) -> Program:
    """A new stack, in a backend of its own."""
    (tmp_path / "backend").mkdir()
    made = Program(tmp_path / "project", variables | {"PULUMI_BACKEND_URL": (tmp_path / "backend").as_uri()})
    made.describe(toolchain="uv", virtualenv=sys.prefix)
    made.write(PROGRAM)
    made.output("stack", "init", "new")
    made.output("config", "set", "gcp:project", "acme")
    return made


def undecided(said: str) -> dict[str, str]:
    """The resources of REP006, with their rules and properties."""
    return dict(UNDECIDED.findall(said))


def test_a_value_that_other_resources_can_change_stays_undecided(program: Program) -> None:
    said = program.output("preview", "--policy-pack", str(PACK), fails=True)
    assert undecided(said) == {
        "agent-and-more": "PRJ008 (member)",
        "of-a-ring": "PRJ008 (member)",
        "of-an-outsider": "PRJ008 (member)",
        "outside": "PRJ008 (member)",
        "administrator": "GKE005 (member); PRJ005 (member)",
        "of-a-default-network": "PRJ001 (network)",
    }


def test_a_program_that_passes_outputs_on_is_named_in_the_configuration(program: Program) -> None:
    config = program.folder / "gate.json"
    config.write_text('{"REP006": {"components": ["pulumi:pulumi:Stack"]}}')
    said = program.output("preview", "--policy-pack", str(PACK), "--policy-pack-config", str(config), fails=True)
    assert undecided(said).keys() == {"agent-and-more", "of-a-ring", "administrator", "of-a-default-network"}


@pytest.mark.parametrize("stack", ["staging", "prod"])
def test_the_first_preview_of_a_stack_decides_every_rule(variables: dict[str, str], stack: str) -> None:
    program = Program(ROOT, variables)
    program.output("stack", "select", stack, "--create")
    program.stack = stack
    said = program.output(
        "preview", "--policy-pack", str(PACK), "--policy-pack-config", f"policies/config/{stack}.json"
    )
    assert "REP006" not in said
    assert "REP008" not in said


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_the_first_preview_of_a_first_repository_decides_every_rule(
    variables: dict[str, str], stack: str, tmp_path: Path
) -> None:
    for name, text in first_repository().content.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = Program(tmp_path, variables)
    program.output("stack", "select", stack, "--create")
    program.stack = stack
    said = program.output(
        "preview", "--policy-pack", "policies", "--policy-pack-config", f"policies/config/{stack}.json"
    )
    assert "REP006" not in said


def a_resource(type_: str, inputs: dict[str, object], holder: str = PLATFORM) -> Resource:
    name = str(inputs.get("name", "it"))
    return Resource(type_, name, f"urn:pulumi:s::p::{holder}${type_}::{name}", lambda: inputs)


NETWORK = a_resource("gcp:compute/network:Network", {"name": "acme"})
KEY = a_resource("gcp:kms/cryptoKey:CryptoKey", {"name": "disks", "keyRing": UNKNOWN})
ACCOUNT = a_resource("gcp:serviceaccount/account:Account", {"accountId": "nodes"})
UNNAMED = a_resource("gcp:serviceaccount/account:Account", {"accountId": UNKNOWN})
OTHER = a_resource("random:index/randomString:RandomString", {})


@pytest.mark.parametrize(
    ("behind", "value", "result"),
    [
        ([KEY], {"bootDiskKmsKey": UNKNOWN}, {"bootDiskKmsKey": "projects/-/locations/-/keyRings/-/cryptoKeys/disks"}),
        ([ACCOUNT, KEY], {"serviceAccount": "a@b", "x": UNKNOWN}, None),
        ([ACCOUNT], {"serviceAccount": UNKNOWN}, {"serviceAccount": "nodes@project.iam.gserviceaccount.com"}),
        ([ACCOUNT], {"serviceAccount": UNKNOWN, "imageType": UNKNOWN}, ...),
        (
            [ACCOUNT, ACCOUNT],
            [{"serviceAccount": UNKNOWN}],
            [{"serviceAccount": "nodes@project.iam.gserviceaccount.com"}],
        ),
        ([ACCOUNT, UNNAMED], {"serviceAccount": UNKNOWN}, None),
        ([ACCOUNT, OTHER], {"serviceAccount": UNKNOWN}, None),
        ([ACCOUNT, None], {"serviceAccount": UNKNOWN}, None),
        ([ACCOUNT, a_resource(ACCOUNT.type, {"accountId": "others"})], {"serviceAccount": UNKNOWN}, None),
        ([a_resource(ACCOUNT.type, {"accountId": "nodes"}, "acme:index:Ours")], {"serviceAccount": UNKNOWN}, None),
        ([NETWORK], {"serviceAccount": UNKNOWN}, None),
        ([], {"serviceAccount": UNKNOWN}, None),
    ],
)
def test_only_a_value_with_one_origin_is_predicted(
    behind: list[Resource | None], value: object, result: object
) -> None:
    pool = a_resource("gcp:container/nodePool:NodePool", {"nodeConfig": value})
    found = predicted(pool, {"nodeConfig": behind}, [PLATFORM]).props.raw["nodeConfig"]
    if result is ...:
        assert found["imageType"] is UNKNOWN
    else:
        assert found == (value if result is None else result)
