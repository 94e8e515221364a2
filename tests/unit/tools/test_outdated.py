"""`make outdated`: which versions count as newer, and which answers count as none."""

from __future__ import annotations

import pytest
from tpuplane_twin.tools.catalogue import catalogue

from scripts.outdated import Pin, go_pins, newer_releases, next_versions

pytestmark = pytest.mark.unit


def pin_of(pins: list[Pin], name: str) -> Pin:
    return next(pin for pin in pins if pin.name == name)


def test_only_releases_after_the_pinned_one_are_newer() -> None:
    found = [
        "v1.36.3",
        "v1.9.0",
        "v1.37.0",
        "v1.37.10",
        "v1.38.0-rc.1",
        "v1.36.2",
        "v0.0.0-20240830133931-adfbe7e45277",
    ]
    assert newer_releases("v1.36.3", found) == ["v1.37.10", "v1.37.0"]


def test_patches_and_minor_versions_are_tried() -> None:
    tried = next_versions("v0.16.1")
    assert tried[0] == "v0.16.2"
    assert {"v0.17.0", "v0.18.3"} <= set(tried)
    assert all(newer_releases("v0.16.1", [one]) for one in tried)


class TestAnswersOfGo:
    kueue = next(source for source in catalogue().sources if source.name == "kueue")

    def ask(self, answers: dict[tuple[str, ...], str]) -> Pin:
        return pin_of(go_pins(lambda *arguments: answers.get(arguments, "")), "kueue")

    def test_a_list_of_versions(self) -> None:
        listed = f"{self.kueue.module} {self.kueue.version} v9.0.0 v9.1.0"
        download = ("mod", "download", "-json", f"{self.kueue.module}@v9.0.0")
        pin = self.ask({("list", "-m", "-versions", self.kueue.module): listed, download: "{}"})
        # 9.1.0 is listed, but its files are not served.
        assert (pin.newest, pin.answered) == ("v9.0.0", True)

    def test_a_proxy_without_a_list(self) -> None:
        newest = next_versions(self.kueue.version)[0]
        known = ("list", "-m", f"{self.kueue.module}@{self.kueue.version}")
        pin = self.ask({known: self.kueue.module, ("mod", "download", "-json", f"{self.kueue.module}@{newest}"): "{}"})
        assert (pin.newest, pin.answered) == (newest, True)
        assert "no complete list of versions" in pin.note

    def test_a_list_without_the_pinned_version_lacks_newer_ones_too(self) -> None:
        newest = next_versions(self.kueue.version)[0]
        listed = {("list", "-m", "-versions", self.kueue.module): f"{self.kueue.module} v0.1.0"}
        pin = self.ask({**listed, ("mod", "download", "-json", f"{self.kueue.module}@{newest}"): "{}"})
        assert (pin.newest, pin.answered) == (newest, True)

    def test_no_answer_is_not_the_newest(self) -> None:
        assert not self.ask({}).answered
