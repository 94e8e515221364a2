"""The state file: atomic, private, safe against kill -9 and a full disk."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tpuplane_twin.gcp.store import Store, StoreError

from tests.support.gcp.twin_api import COMPUTE, MemoryBackend, serving

pytestmark = pytest.mark.twin

# Writes pairs that must always be equal, in one transaction each, and says so after the first hundred.
WRITER = """
import sys
from pathlib import Path
from tpuplane_twin.gcp.store import Store
store = Store(Path(sys.argv[1]))
for number in range(10**9):
    with store.transaction():
        store.put("a", "k", {"n": number})
        store.put("b", "k", {"n": number})
    if number == 100:
        print("running", flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "state.db")


def test_objects_come_back_in_the_order_of_their_making(store: Store) -> None:
    for name in ("b", "a", "c"):
        store.put("pool", f"p/{name}", {"name": name})
    store.put("pool", "p/b", {"name": "b", "changed": True})
    store.put("pool", "pp/x", {"name": "x"})
    store.put("other", "p/y", {})
    assert [value["name"] for value in store.values("pool", "p")] == ["b", "a", "c"]
    assert [key for key, _ in store.items("pool", "p", "changed")] == ["p/b"]
    assert store.get("pool", "p/b") == {"name": "b", "changed": True}
    store.trim("pool", 2)
    assert [key for key, _ in store.items("pool")] == ["p/c", "pp/x"]
    store.delete("pool", "p/c")
    assert store.get("pool", "p/c") is None


def test_a_transaction_happens_whole_or_not_at_all(store: Store) -> None:
    with pytest.raises(KeyError), store.transaction():
        store.put("a", "k", {})
        with store.transaction():
            store.put("b", "k", {})
        raise KeyError
    assert store.get("a", "k") is None
    assert store.get("b", "k") is None


def test_only_its_owner_can_read_it(store: Store) -> None:
    store.put("a", "k", {})
    files = list(store.path.parent.iterdir())
    assert len(files) > 1  # with SQLite's journal
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_kill_9_leaves_a_whole_state(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "running\n"
        os.kill(writer.pid, signal.SIGKILL)
    store = Store(path)
    found = store.get("a", "k")
    assert found is not None
    assert found["n"] >= 100
    assert store.get("b", "k") == found


async def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    async with serving(store, MemoryBackend()) as api:
        await api.add_network()
        before = await api.call("GET", f"{COMPUTE}/global/networks/net")
        # SQLite's own limit answers exactly as a full disk does.
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        big = {"name": "big", "description": "x" * 100_000}
        answer = await api.call("POST", f"{COMPUTE}/global/networks", big, status=507)
        assert answer["error"]["message"].startswith("Nothing was changed: cannot use the twin's API state")
        assert "disk is full" in answer["error"]["message"]
        assert await api.call("GET", f"{COMPUTE}/global/networks/net") == before
        store._db.execute("PRAGMA max_page_count = 1000000")
        await api.call("POST", f"{COMPUTE}/global/networks", big)


async def test_the_twin_s_own_routes_report_a_full_disk(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    async with serving(store, MemoryBackend()) as api:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="disk is full"):
            for number in range(10_000):
                store.put("a", str(number), {})
        stockout = {"zone": "us-central1-b", "generation": "v6e"}
        assert "disk is full" in await api.rejected("POST", "/twin/stockouts", stockout, 507)


def test_a_file_that_is_no_state_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_text("not a database, but long enough to be taken for the header of one by SQLite" * 20)
    with pytest.raises(StoreError, match=r"state\.db: file is not a database"):
        Store(path)


def test_a_reader_does_not_write(store: Store) -> None:
    store.put("a", "k", {"n": 1})
    reader = Store(store.path, read_only=True)
    assert reader.get("a", "k") == {"n": 1}
    with pytest.raises(StoreError, match="readonly"):
        reader.put("a", "k", {})
