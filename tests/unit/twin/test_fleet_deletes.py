"""A cluster that is deleted leaves nothing behind, whether or not it ran since the twin came up; the kubeconfig."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml
from tpuplane_twin.daemon import fleet as fleets
from tpuplane_twin.daemon.fleet import Fleet, context_name
from tpuplane_twin.machine.paths import TwinPaths
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.tools import Tools

from tests.support.eventually import eventually

pytestmark = pytest.mark.unit

CLUSTER = {
    "name": "trainers",
    "location": "us-east5",
    "selfLink": "https://container.googleapis.com/v1beta1/projects/acme/locations/us-east5/clusters/trainers",
}
NAME = context_name(CLUSTER)


class FleetAtWork(Fleet):
    """A fleet that starts a control plane just now: nothing of it is there yet."""

    def start(self, name: str) -> None:
        self._planes[name] = self._new_plane(name, self._paths.clusters / name)

    def serve(self, name: str) -> None:
        """It has its certificate authority now."""
        self.start(name)
        authority = self._paths.clusters / name / "pki" / "ca.crt"
        authority.parent.mkdir(parents=True)
        authority.write_text("a certificate")


async def test_a_cluster_that_starts_blocks_no_other(tmp_path: Path) -> None:
    paths = TwinPaths("local", tmp_path / "local").make()
    fleet = FleetAtWork(paths, ProcessManager(), PortBook(paths.ports), Tools({}, {}), "token", lambda _: None)
    fleet.start("gke_acme_us-east5_servers")
    await fleet.delete_cluster(CLUSTER)
    assert yaml.safe_load(paths.kubeconfig.read_text())["contexts"] == []


async def test_the_data_and_ports_of_a_cluster_that_never_ran_here_go_too(tmp_path: Path) -> None:
    paths = TwinPaths("local", tmp_path / "local").make()
    ports = PortBook(paths.ports)
    ports.port(f"{NAME}/apiserver")
    kept = ports.port("Google API")
    (paths.clusters / NAME / "etcd").mkdir(parents=True)
    (paths.clusters / "other" / "etcd").mkdir(parents=True)
    fleet = Fleet(paths, ProcessManager(), ports, Tools({}, {}), "token", lambda _: None)

    for _ in range(2):  # the work may be done again after a kill
        await fleet.delete_cluster(CLUSTER)
        assert [folder.name for folder in paths.clusters.iterdir()] == ["other"]
        assert PortBook(paths.ports).port("Google API") == kept
        assert NAME not in paths.ports.read_text()
        assert yaml.safe_load(paths.kubeconfig.read_text())["contexts"] == []


async def test_the_current_context_stays_while_its_cluster_exists(tmp_path: Path) -> None:
    paths = TwinPaths("local", tmp_path / "local").make()
    fleet = FleetAtWork(paths, ProcessManager(), PortBook(paths.ports), Tools({}, {}), "token", lambda _: None)

    async def current() -> str:
        await fleet.delete_cluster({**CLUSTER, "name": "none"})  # writes the kubeconfig
        return str(yaml.safe_load(paths.kubeconfig.read_text())["current-context"])

    assert await current() == ""
    fleet.serve(NAME)
    assert await current() == NAME
    fleet.serve("gke_acme_us-east5_another")
    assert await current() == NAME
    paths.kubeconfig.write_text(
        paths.kubeconfig.read_text().replace(f"current-context: {NAME}", "current-context: gke_acme_us-east5_another")
    )
    assert await current() == "gke_acme_us-east5_another", "what kubectl config use-context chose"
    await fleet.delete_cluster({**CLUSTER, "name": "another"})
    assert await current() == NAME
    resumed = FleetAtWork(paths, ProcessManager(), PortBook(paths.ports), Tools({}, {}), "token", lambda _: None)
    fleet = resumed
    fleet.serve("gke_acme_us-east5_a")
    assert await current() == NAME, "it is not back yet"


async def test_an_entry_that_gcloud_writes_for_a_dns_endpoint_gets_the_authority(tmp_path: Path) -> None:
    paths = TwinPaths("local", tmp_path / "local").make()
    fleet = FleetAtWork(paths, ProcessManager(), PortBook(paths.ports), Tools({}, {}), "token", lambda _: None)
    fleet.serve(NAME)
    await fleet.delete_cluster({**CLUSTER, "name": "none"})  # writes the kubeconfig
    complete = yaml.safe_load(paths.kubeconfig.read_text())
    (entry,) = (cluster["cluster"] for cluster in complete["clusters"])
    address = {"server": entry["server"]}

    def kubeconfig(*clusters: dict[str, object]) -> str:
        named = [{"name": name, "cluster": cluster} for name, cluster in zip((NAME, "mine"), clusters, strict=True)]
        return yaml.safe_dump({**complete, "clusters": named})

    def added(text: str) -> str:
        paths.kubeconfig.write_text(text)
        fleet.add_authorities(text.encode())
        return yaml.safe_dump(yaml.safe_load(paths.kubeconfig.read_text()))

    assert added(kubeconfig(address, address)) == kubeconfig(entry, address), "another program's cluster stays"
    insecure = {**address, "insecure-skip-tls-verify": True}
    for text in (kubeconfig(insecure, address), kubeconfig({"server": "https://127.0.0.1:1"}, address), "null\n...\n"):
        assert added(text) == text


@pytest.mark.parametrize("odd", [b"users: [{name: M\xfcller}]", b"a: 2001-99-99", b"a: &a [*a]\nclusters: 5", b"\t"])
async def test_a_kubeconfig_that_cannot_be_read_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bytes
) -> None:
    monkeypatch.setattr(fleets, "_KUBECONFIG_SECONDS", 0.01)
    paths = TwinPaths("local", tmp_path / "local").make()
    fleet = FleetAtWork(paths, ProcessManager(), PortBook(paths.ports), Tools({}, {}), "token", lambda _: None)
    fleet.serve(NAME)
    paths.kubeconfig.write_bytes(odd)
    watching = asyncio.create_task(fleet.watch_kubeconfig())
    await asyncio.wait([watching], timeout=0.1)
    await fleet.delete_cluster({**CLUSTER, "name": "none"})  # writes the kubeconfig
    complete = yaml.safe_load(paths.kubeconfig.read_text())
    (entry,) = complete["clusters"]
    lacking = {**complete, "clusters": [{**entry, "cluster": {"server": entry["cluster"]["server"]}}]}
    paths.kubeconfig.write_text(yaml.safe_dump(lacking))
    await eventually(lambda: yaml.safe_load(paths.kubeconfig.read_text()), until=complete.__eq__)
    watching.cancel()
