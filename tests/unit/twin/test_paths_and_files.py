"""Where a twin keeps its things, and how they are written."""

from __future__ import annotations

import contextlib
import json
import socket
import stat
from pathlib import Path

import pytest
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.machine.files import DiskFull, require_space, write_atomic, write_if_changed
from tpuplane_twin.machine.paths import TwinNameError, TwinPaths, all_twins
from tpuplane_twin.machine.ports import PortBook, PortTaken
from tpuplane_twin.shell.environment import gcloud_environment, google_environment, proxy_environment, render

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TPUPLANE_TWIN_HOME", str(tmp_path / "twins"))
    return tmp_path


def test_a_twins_folder_is_its_owners_alone() -> None:
    paths = TwinPaths.of("local").make()
    assert stat.S_IMODE(paths.root.stat().st_mode) == 0o700
    assert all_twins() == ["local"]


@pytest.mark.parametrize("name", ["", "Local", "../x", "a/b", "-a", "a-", "1a", "a" * 33])
def test_a_name_that_could_be_a_path_is_rejected(name: str) -> None:
    with pytest.raises(TwinNameError, match="lower-case letters"):
        TwinPaths.of(name)


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_atomic(path, "first")
    write_atomic(path, b"second")
    assert path.read_text() == "second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_the_same_content_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "script"
    write_if_changed(path, "one", mode=0o700)
    first = path.stat()
    kept = (first.st_ino, first.st_mtime_ns)
    write_if_changed(path, "one", mode=0o700)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == kept
    write_if_changed(path, "two", mode=0o700)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("two", 0o700)
    assert path.stat().st_ino != first.st_ino


def test_a_file_that_cannot_be_written_leaves_the_former(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError, match="folder"):
        write_atomic(path, "x")
    assert list(tmp_path.iterdir()) == [path]


def test_the_message_of_a_small_disk_has_both_numbers(tmp_path: Path) -> None:
    require_space(tmp_path / "not" / "yet", 1, "nothing")
    with pytest.raises(
        DiskFull, match=r"a pod of pods takes about 1000000000 MiB, and the disk of .* has \d+ MiB free"
    ):
        require_space(tmp_path, 10**9, "a pod of pods")


def test_ports_are_kept_and_distinct(tmp_path: Path) -> None:
    book = PortBook(tmp_path / "ports.json")
    ports = [book.port(f"cluster/{number}") for number in range(5)]
    assert len(set(ports)) == len(ports)
    again = PortBook(tmp_path / "ports.json")
    assert [again.port(f"cluster/{number}") for number in range(5)] == ports
    again.release("cluster/")
    assert json.loads((tmp_path / "ports.json").read_text()) == {}


def test_another_twins_ports_are_left_alone(tmp_path: Path) -> None:
    first = PortBook(tmp_path / "ports.json")
    port = first.port("api")
    # The same path is the same beginning of the search: only the other book keeps them apart.
    (tmp_path / "kept.json").write_text((tmp_path / "ports.json").read_text())
    (tmp_path / "ports.json").unlink()
    assert PortBook(tmp_path / "ports.json", others=[tmp_path / "kept.json"]).port("api") != port


def test_a_taken_port_is_named_with_its_holder(tmp_path: Path) -> None:
    book = PortBook(tmp_path / "ports.json")
    port = book.port("api")
    assert book.check("api") == port
    with socket.socket() as server:
        server.bind(("127.0.0.1", port))
        server.listen()
        with pytest.raises(PortTaken, match=rf"port {port} on 127.0.0.1.*api.*process \d+ "):
            book.check("api")


def test_every_endpoint_ends_in_its_version() -> None:
    variables = google_environment("http://127.0.0.1:20000", "secret token")
    endpoints = {name: value for name, value in variables.items() if name.endswith("_CUSTOM_ENDPOINT")}
    assert set(endpoints.values()) == {
        "http://127.0.0.1:20000/v1beta1/",
        "http://127.0.0.1:20000/compute/beta/",
        "http://127.0.0.1:20000/iam/v1/",
        "http://127.0.0.1:20000/crm/v1/",
        "http://127.0.0.1:20000/kms/v1/",
        "http://127.0.0.1:20000/logging/v2/",
        "http://127.0.0.1:20000/file/v1/",
        "http://127.0.0.1:20000/lustre/v1/",
        "http://127.0.0.1:20000/servicenetworking/v1/",
        "http://127.0.0.1:20000/monitoring/",  # the provider itself adds v1 or v3
        "http://127.0.0.1:20000/serviceusage/v1beta1/",
        "http://127.0.0.1:20000/cloudbilling/v1/",
        "http://127.0.0.1:20000/artifactregistry/v1/",
        "http://127.0.0.1:20000/storage/v1/",
    }
    assert "export GOOGLE_OAUTH_ACCESS_TOKEN='secret token'" in render(variables, "sh")
    assert "set -gx GOOGLE_OAUTH_ACCESS_TOKEN 'secret token';" in render(variables, "fish")


def test_gcloud_has_a_folder_of_its_own_and_the_only_project() -> None:
    paths = TwinPaths.of("local").make()
    with contextlib.closing(Store(paths.gcp / "state.db")) as store:
        assert "CLOUDSDK_CORE_PROJECT" not in gcloud_environment("http://127.0.0.1:20000", paths)
        store.put("iamPolicy", "projects/acme", {})
        store.put("cluster", "projects/acme/locations/us-central1/clusters/c1", {})
        variables = gcloud_environment("http://127.0.0.1:20000", paths)
        assert variables["CLOUDSDK_CORE_PROJECT"] == "acme"
        store.put("iamPolicy", "projects/other", {})
        assert "CLOUDSDK_CORE_PROJECT" not in gcloud_environment("http://127.0.0.1:20000", paths)
    assert Path(variables["CLOUDSDK_CONFIG"]).parent == paths.root
    assert variables["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"] == str(paths.token_file)
    # gcloud completes the addresses: Compute Engine's with its whole path, the others with a version.
    assert variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"] == "http://127.0.0.1:20000/"
    assert variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS"] == "http://127.0.0.1:20000/kms/"


def test_the_engine_and_its_programs_use_no_proxy() -> None:
    assert proxy_environment({"PATH": "/bin", "no_proxy": "intern"}) == {}
    for setting in ("http_proxy", "HTTPS_PROXY", "all_proxy", "grpc_proxy"):
        variables = proxy_environment({setting: "http://proxy:3128", "NO_PROXY": "intern, localhost"})
        assert variables == dict.fromkeys(("no_grpc_proxy", "no_proxy", "NO_PROXY"), "intern,localhost,127.0.0.1")
