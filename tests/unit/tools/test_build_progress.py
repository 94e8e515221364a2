from __future__ import annotations

import io
import re
from dataclasses import dataclass

import pytest
from tpuplane_twin.tools import catalogue, show
from tpuplane_twin.tools.progress import Estimate, Lines, Status, remaining

pytestmark = pytest.mark.unit


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def compiling(packages: int, tool: str = "etcd v3.6.8") -> Status:
    return Status(f"compiling {tool} (1 of 2), {packages} of about 566 packages", tool, packages / 1000, 130.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "about 10 s left"), (34, "about 30 s left"), (55, "about 1 min left"), (400, "about 7 min left")],
)
def test_remaining(seconds: float, text: str) -> None:
    assert remaining(seconds) == text


def test_without_a_terminal_a_line_now_and_then() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = Lines(stream, clock)
    for second in range(40):
        clock.now = second
        lines(compiling(second * 10))
    lines(compiling(0, "pulumi v3.274.1"))
    assert stream.getvalue().splitlines() == [
        "[  0%] compiling etcd v3.6.8 (1 of 2), 0 of about 566 packages; about 2 min left",
        "[ 15%] compiling etcd v3.6.8 (1 of 2), 150 of about 566 packages; about 2 min left",
        "[ 30%] compiling etcd v3.6.8 (1 of 2), 300 of about 566 packages; about 2 min left",
        "[  0%] compiling pulumi v3.274.1 (1 of 2), 0 of about 566 packages; about 2 min left",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_line_with_tool_progress_and_time() -> None:
    stream = Terminal()
    with show(stream) as progress:
        progress(compiling(300))
    text = " ".join(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()).split())
    assert "compiling etcd v3.6.8 (1 of 2)" in text
    assert "30%" in text
    assert "about 2 min left" in text


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()], ids=["pipe", "terminal"])
def test_a_lasting_line_is_printed_as_it_is(stream: io.StringIO) -> None:
    line = f"etcd v3.6.8 is compiled: [{'x' * 100}] cannot be reached"
    with show(stream) as progress:
        progress(Status("preparing"))
        progress(Status(line, lasting=True))
        progress(Status("compiling"))
    assert line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()).splitlines()


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()], ids=["pipe", "terminal"])
def test_nothing_built_nothing_shown(stream: io.StringIO) -> None:
    with show(stream):
        pass
    assert stream.getvalue() == ""


def test_the_estimate_follows_the_machines_pace() -> None:
    etcd, pulumi = catalogue().sources_of(["etcd", "pulumi"])
    clock, seen = Clock(), list[Status]()
    estimate = Estimate([etcd, pulumi], seen.append, clock)
    estimate.downloading(etcd)
    assert (seen[-1].fraction, seen[-1].seconds_left) == (0.0, etcd.seconds + pulumi.seconds)
    assert seen[-1].text == f"downloading etcd {etcd.version} (1 of 2)"
    clock.now = etcd.seconds * 3  # three times slower than measured
    estimate.finished(etcd)
    estimate.compiled(pulumi, 0, 100)
    assert seen[-1].text == f"compiling pulumi {pulumi.version} (2 of 2), 0 of about 100 packages"
    assert seen[-1].fraction == pytest.approx(etcd.seconds / (etcd.seconds + pulumi.seconds))
    assert seen[-1].seconds_left == pytest.approx(pulumi.seconds * 3)
