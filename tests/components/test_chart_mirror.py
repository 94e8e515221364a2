"""Where charts come from: the publisher, or a mirror."""

from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane.addons.charts import MIRROR_VARIABLE, ChartMissing, locate
from tpuplane.plan import plan
from tpuplane.plan.addons import AddonPlan
from tpuplane.spec import parse_platform
from tpuplane.spec.addons.catalogue import Chart

pytestmark = pytest.mark.components


def addon(name: str, version: str, repository: str, build: str | None = None) -> AddonPlan:
    chart = Chart(name=name, version=version, repository=repository)
    return AddonPlan("key", "Title", chart, {}, "system", False, (), None, None, build=build)


KUEUE = addon("kueue", "0.18.3", "oci://registry.example/kueue/charts")
KUBERAY = addon("kuberay-operator", "1.6.2", "https://charts.example/kuberay/")
OWN = addon("trainer", "2.2.1", "oci://registry.example/charts", "DEFINITION")


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)


def test_an_oci_chart_is_named_by_its_registry() -> None:
    assert locate(KUEUE) == {"chart": "oci://registry.example/kueue/charts/kueue", "version": "0.18.3"}


def test_a_helm_repository_is_named_with_the_chart() -> None:
    assert locate(KUBERAY) == {
        "chart": "kuberay-operator",
        "version": "1.6.2",
        "repository_opts": {"repo": "https://charts.example/kuberay/"},
    }


def test_the_environment_outweighs_the_publisher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, "oci://mirror.example/charts/")
    assert locate(KUEUE)["chart"] == "oci://mirror.example/charts/kueue"
    assert locate(KUBERAY) == {"chart": "oci://mirror.example/charts/kuberay-operator", "version": "1.6.2"}


def test_a_folder_holds_packages_or_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path))
    unpacked = tmp_path / "kueue"
    unpacked.mkdir()
    (unpacked / "Chart.yaml").write_text("name: kueue\nversion: 0.18.3\n")
    assert locate(KUEUE) == {"chart": str(unpacked)}
    package = tmp_path / "kueue-0.18.3.tgz"
    package.touch()
    assert locate(KUEUE) == {"chart": str(package)}


def test_a_folder_without_the_chart_is_rejected_with_what_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path))
    with pytest.raises(ChartMissing, match=r"no chart kueue 0\.18\.3; allowed: kueue-0\.18\.3\.tgz .* a folder kueue/"):
        locate(KUEUE)


def test_another_release_in_a_folder_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Helm would render it without a word."""
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path))
    (tmp_path / "kueue").mkdir()
    (tmp_path / "kueue/Chart.yaml").write_text("name: kueue\nversion: 0.15.0\n")
    with pytest.raises(ChartMissing, match=r"kueue is kueue 0\.15\.0; allowed: 0\.18\.3"):
        locate(KUEUE)


def test_the_remedy_on_a_twin_is_the_build_of_the_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path))
    steps = "--addon DEFINITION && tpuplane-twin down --keep-state && tpuplane-twin up"
    built = f"On a twin, run: tpuplane-twin build {steps}$"
    with pytest.raises(ChartMissing, match=rf"no chart trainer 2\.2\.1; .* at oci://registry.example/charts\. {built}"):
        locate(OWN)
    (tmp_path / "trainer").mkdir()
    (tmp_path / "trainer/Chart.yaml").write_text("name: trainer\nversion: 2.2.0\n")
    with pytest.raises(ChartMissing, match=rf"trainer is trainer 2\.2\.0; allowed: 2\.2\.1\. {built}"):
        locate(OWN)


def test_what_a_twin_builds_for_each_addon() -> None:
    """Kueue and JobSet are built with the tools of every twin. The others have no module with their chart."""
    addons = {"kueue": {}, "jobset": {}, "certManager": {}, "leaderWorkerSet": {}}
    cluster = {"location": "us-central1", "addons": addons}
    platform = plan(parse_platform({"name": "lab", "project": "tpuplane-lab", "clusters": {"main": cluster}}))
    assert {own.key: own.build for own in platform.clusters[0].addons if own.build} == {
        "leaderWorkerSet": "leaderWorkerSet"
    }
