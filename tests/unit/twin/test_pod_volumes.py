"""Parts of a pod's volumes: made where they are missing, and never outside of the volume."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from tpuplane_twin.pods.volumes import NotThere, Volumes

pytestmark = pytest.mark.unit


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    (tmp_path / "volumes" / "data").mkdir(parents=True)
    pod = {"metadata": {"namespace": "team"}, "spec": {"volumes": [{"name": "data", "emptyDir": {}}]}}
    return Volumes(cast(Any, None), pod, tmp_path / "volumes", tmp_path / "buckets")


def test_a_part_that_is_not_there_is_a_new_folder(volumes: Volumes, tmp_path: Path) -> None:
    data = tmp_path / "volumes" / "data"
    assert volumes.part("data", "") == data
    assert volumes.part("data", "runs/one") == data / "runs" / "one"
    assert (data / "runs" / "one").is_dir()
    (data / "file").write_text("as it was")
    (data / "link").symlink_to("file")
    assert volumes.part("data", "link").read_text() == "as it was"


@pytest.mark.parametrize("path", ["..", "runs/../../other", "link", "link/new", "/etc"])
def test_a_part_that_leads_out_is_rejected(volumes: Volumes, tmp_path: Path, path: str) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "volumes" / "data" / "link").symlink_to(tmp_path / "host")
    with pytest.raises(NotThere, match=f'volume "data": subPath "{path}" leads out of it'):
        volumes.part("data", path)
    assert not list((tmp_path / "host").iterdir())


class Configured:
    """An API with one ConfigMap."""

    async def get(self, kind: str, name: str, namespace: str) -> dict[str, Any]:
        return {"kind": kind, "data": {"key": "new"}}


def test_no_file_is_written_out_of_a_volume(tmp_path: Path) -> None:
    """What runs in the pod can have replaced a folder by a symbolic link."""
    config = {"name": "c", "items": [{"key": "key", "path": "folder/file"}]}
    sources = [
        {"name": "config", "configMap": config},
        {"name": "own", "projected": {"sources": [{"configMap": config}]}},
        {"name": "scratch", "emptyDir": {}},
    ]
    pod = {"metadata": {"namespace": "team"}, "spec": {"volumes": sources}}
    volumes = Volumes(cast(Any, Configured()), pod, tmp_path / "volumes", tmp_path / "buckets")
    asyncio.run(volumes.refresh())
    assert volumes.read_only() == {"config", "own"}
    folder, host = tmp_path / "volumes" / "own" / "folder", tmp_path / "host"
    assert (folder / "file").read_text() == "new"
    shutil.rmtree(folder)
    host.mkdir()
    folder.symlink_to(host)
    with pytest.raises(NotThere, match='volume "own": path "folder/file" leads out of it'):
        asyncio.run(volumes.refresh())
    assert not list(host.iterdir())
