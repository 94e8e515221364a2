"""Processes in namespaces of their own, with a network between them that leads nowhere else."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from tpuplane_twin.pods.sandbox.client import SandboxError

from tests.support.cluster.sandboxed import PYTHON, Pods, daemon
from tests.support.eventually import eventually

pytestmark = [
    pytest.mark.twin,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pods(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pods]:
    async with daemon(tmp_path_factory.mktemp("pods")) as found:
        yield found


async def test_it_sees_its_own_files_processes_host_name_and_address(pods: Pods, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("a: 1\n")
    script = "hostname; cat /etc/hosts /config.yaml; ls -d /proc/[0-9]*; ls /; echo x > /config.yaml; echo $GREETING"
    mounts = [{"source": str(tmp_path / "config.yaml"), "target": "/config.yaml", "readOnly": True}]
    pid = await pods.run(
        "own",
        "10.64.0.2",
        "sh",
        "-c",
        script,
        files={"/etc/hosts": "10.64.0.2 own\n"},
        mounts=mounts,
        env={"PATH": "/usr/bin:/bin", "GREETING": "hello"},
    )
    assert await pods.end(pid) == 0
    said = pods.said("own")
    for line in ("own\n", "10.64.0.2 own", "a: 1", "/proc/1\n", "Read-only file system", "hello"):
        assert line in said
    assert "root\n" not in said.split("/proc/1\n")[1]
    assert (tmp_path / "config.yaml").read_text() == "a: 1\n"


async def test_the_exit_code_is_reported(pods: Pods) -> None:
    assert await pods.end(await pods.run("seven", "10.64.0.3", "sh", "-c", "exit 7")) == 7
    assert await pods.end(await pods.run("missing", "10.64.0.3", "no-such-program")) == 128
    assert "no-such-program cannot be started" in pods.said("missing")
    pid = await pods.run("killed", "10.64.0.3", "sleep", "1000")
    await pods.sandboxes.signal(pid, signal.SIGKILL)
    assert await pods.end(pid) == 137
    await pods.sandboxes.signal(pid, signal.SIGKILL)  # again: no process is left


async def test_all_of_its_descendants_end_with_it(pods: Pods) -> None:
    pid = await pods.run("family", "10.64.0.4", "sh", "-c", "sleep 4321 & trap 'exit 3' TERM; echo up; wait")
    await eventually(lambda: "up" in pods.said("family"))
    family = psutil.Process(pid).children(recursive=True)
    assert len(family) == 2
    await pods.sandboxes.signal(pid, signal.SIGTERM)
    assert await pods.end(pid) == 3
    await eventually(lambda: not any(process.is_running() for process in family))


SERVER = "import socket; s = socket.create_server(('0.0.0.0', 80)); c, a = s.accept(); c.sendall(a[0].encode())"
CLIENT = "import socket, sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).recv(99).decode())"


async def test_pods_reach_each_other_and_nothing_else(pods: Pods) -> None:
    server = await pods.run("server", "10.64.0.5", PYTHON, "-c", SERVER)

    async def listens() -> bool:
        with await pods.sandboxes.socket() as probe:
            try:
                # The port is known to be open once binding it in that pod's stead makes no difference: dial it.
                await asyncio.get_running_loop().sock_connect(probe, ("10.64.0.5", 80))
            except OSError:
                return False
        return True

    # The probe is the server's only client: it serves one, so another is started for the pod.
    await eventually(listens)
    assert await pods.end(server) in (0, 1)
    server = await pods.run("server", "10.64.0.5", PYTHON, "-c", SERVER)
    retry = f"import time\nfor _ in range(200):\n try:\n  {CLIENT}\n  break\n except OSError: time.sleep(0.05)"
    client = await pods.run("client", "10.64.0.6", PYTHON, "-c", retry, "10.64.0.5", "80")
    assert await pods.end(client) == 0
    assert pods.said("client") == "10.64.0.6\n"
    outside = await pods.run("outside", "10.64.0.7", PYTHON, "-c", CLIENT, "192.0.2.1", "80")
    assert await pods.end(outside) == 1
    assert "unreachable" in pods.said("outside").lower() or "No route" in pods.said("outside")


async def test_a_service_address_is_served_from_outside(pods: Pods) -> None:
    """What a pod sends to a Service arrives at a socket that the supervisor holds."""
    loop = asyncio.get_running_loop()
    with await pods.sandboxes.socket() as listener:
        listener.bind(("10.32.0.1", 443))
        listener.listen()
        pid = await pods.run("caller", "10.64.0.8", PYTHON, "-c", CLIENT, "10.32.0.1", "443")
        connection, peer = await loop.sock_accept(listener)
        with connection:
            assert peer[0] == "10.64.0.8"
            await loop.sock_sendall(connection, b"the supervisor")
        assert await pods.end(pid) == 0
    assert pods.said("caller") == "the supervisor\n"


async def test_a_failed_order_has_a_reason_and_no_effect_on_others(pods: Pods) -> None:
    with pytest.raises(SandboxError, match="IP address"):
        await pods.run("bad", "not-an-address", "true")
    assert await pods.end(await pods.run("good", "10.64.0.9", "true")) == 0


async def test_a_command_joins_a_sandbox(pods: Pods) -> None:
    script = "echo here > /tmp/mark; echo up; exec sleep 1000"
    pid = await pods.run("host", "10.64.0.30", "sh", "-c", script, cwd="/home/ray")
    await eventually(lambda: "up" in pods.said("host"))
    look = "test $(cat /tmp/mark) = here && test $(hostname) = host && test $PWD = /home/ray && ls -d /proc/1 && exit 5"
    beside = {"join": pid, "root": str(pods.folder / "host-root"), "cwd": "/home/ray"}
    assert await pods.end(await pods.run("beside", "", "sh", "-c", look, **beside)) == 5
    assert "/proc/1" in pods.said("beside")
    sleeping = await pods.run("killed-beside", "", "sleep", "1000", **beside)
    await pods.sandboxes.signal(sleeping, signal.SIGKILL)
    assert await pods.end(sleeping) == 137
    await pods.sandboxes.signal(pid, signal.SIGKILL)
    assert await pods.end(pid) == 137
    with pytest.raises(SandboxError, match="has ended"):
        await pods.run("late", "", "true", **beside)


async def test_it_makes_no_folder_or_file_outside_of_its_own(pods: Pods, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
    (inside / "note").touch()
    (inside / "link").symlink_to(outside)
    up = "/../../../../../../../../../../../.."
    mounts = [{"source": str(inside), "target": f"{up}{tmp_path}/outside/made", "readOnly": False}]
    where = {"mounts": mounts, "cwd": f"{up}{tmp_path}/outside/made/cwd"[1:]}
    pid = await pods.run("tame", "10.64.0.31", "sh", "-c", "pwd; ls ..", **where)
    assert await pods.end(pid) == 0
    assert pods.said("tame").split() == [f"{tmp_path}/outside/made/cwd", "cwd", "link", "note"]
    assert (inside / "cwd").is_dir()
    mounts = [
        {"source": str(inside), "target": "/data", "readOnly": False},
        {"source": str(inside / "note"), "target": "/data/link/made", "readOnly": False},
    ]
    assert await pods.end(await pods.run("linked", "10.64.0.31", "true", mounts=mounts)) == 128
    assert "it leads out of the container's file system: '/data/link/made'" in pods.said("linked")
    assert not list(outside.iterdir())


async def test_a_read_only_mount_holds_mounts_that_can_be_written(pods: Pods, tmp_path: Path) -> None:
    outer, inner, note = tmp_path / "outer", tmp_path / "inner", tmp_path / "note"
    outer.mkdir()
    inner.mkdir()
    note.write_text("here")
    mounts = [
        {"source": str(inner), "target": "/etc/a/of/b", "readOnly": False},
        {"source": str(note), "target": "/etc/a/note", "readOnly": True},
        {"source": str(outer), "target": "/etc/a", "readOnly": True},
    ]
    script = "touch /etc/a/of/b/made && cat /etc/a/note && ! touch /etc/a/made"
    assert await pods.end(await pods.run("nested", "10.64.0.32", "sh", "-c", script, mounts=mounts)) == 0
    assert pods.said("nested").startswith("here")
    assert [path.name for path in inner.iterdir()] == ["made"]
    assert not (outer / "made").exists()


async def test_the_end_of_a_failed_start_is_not_reported(pods: Pods) -> None:
    with pytest.raises(SandboxError, match="IP address"):
        await pods.run("never", "not-an-address", "true")
    told = set(pods.ended)
    assert await pods.end(await pods.run("next", "10.64.0.32", "true")) == 0
    assert len(set(pods.ended) - told) == 1


async def test_many_large_orders_at_once_are_all_taken(pods: Pods) -> None:
    files = {"/etc/large": "x" * 300_000}
    runs = [pods.run(f"many-{number}", f"10.64.1.{number}", "true", files=files) for number in range(1, 13)]
    async with asyncio.timeout(60):
        pids = await asyncio.gather(*runs)
        assert await asyncio.gather(*map(pods.end, pids)) == [0] * 12
