"""Tokens and secrets of a running twin: who can read them, and where they are not."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from urllib.parse import urlparse

import psutil
import pytest
import urllib3
import yaml

from tests.support.e2e.platform_under_test import CENTRAL1, PlatformUnderTest

pytestmark = pytest.mark.e2e

SECRET = "the-users-own-secret"


@pytest.fixture(scope="module")
def twin(platform: PlatformUnderTest) -> Path:
    return platform.folder / "twins" / platform.name


@pytest.fixture(scope="module")
def tokens(twin: Path) -> set[str]:
    """The token of Google's API, and those of each API server."""
    files = list(twin.glob("clusters/*/auth/tokens.csv"))
    assert len(files) == 2
    found = {row[0] for file in files for row in csv.reader(file.read_text().splitlines())}
    return {*found, (twin / "token").read_text()}


@pytest.fixture(scope="module")
def processes(twin: Path) -> list[psutil.Process]:
    """The supervisor and everything that it has started."""
    supervisor = psutil.Process(json.loads((twin / "twin.json").read_text())["pid"])
    return [supervisor, *supervisor.children(recursive=True)]


def test_state_outputs_and_previews_have_no_token_and_no_secret_of_the_user(
    platform: PlatformUnderTest, tokens: set[str]
) -> None:
    former = platform.stack_file.read_text()
    try:
        platform.run("pulumi", "config", "set", "--secret", "acme:key", SECRET, "--stack", "local")
        printed = {
            command: platform.run("pulumi", *command.split(), "--stack", "local").stdout
            for command in ("stack export", "stack output --json", "preview --json", "config --json")
        }
        printed["stack file"] = platform.stack_file.read_text()
    finally:
        platform.stack_file.write_text(former)
    printed["status"] = platform.run("tpuplane", "status", "--all", "--json").stdout + platform.twin("status").stdout
    for secret in {*tokens, SECRET}:
        assert [name for name, text in printed.items() if secret in text] == []


def test_logs_and_command_lines_have_no_token(twin: Path, tokens: set[str], processes: list[psutil.Process]) -> None:
    logs = [file for file in twin.rglob("*") if file.is_file() and file.suffix == ".log"]
    assert len(logs) > 10
    for token in tokens:
        assert [file for file in logs if token in file.read_text(errors="replace")] == []
        assert [process for process in processes if token in " ".join(process.cmdline())] == []


def test_only_the_owner_reads_the_twins_files(twin: Path) -> None:
    assert twin.stat().st_mode & 0o777 == 0o700
    secret = [twin / "token", *twin.glob("clusters/*/auth/*"), *twin.glob("clusters/*/pki/**/*.key")]
    assert len(secret) > 10
    assert [file for file in secret if file.stat().st_mode & 0o077] == []


def test_all_listeners_are_on_loopback(processes: list[psutil.Process]) -> None:
    own = Path("/proc/self/ns/net").readlink()
    ours = [process for process in processes if Path(f"/proc/{process.pid}/ns/net").readlink() == own]
    assert len(ours) > 5  # pods that run have a network of their own
    connections = [item for process in ours for item in process.net_connections("inet")]
    addresses = {item.laddr.ip for item in connections if item.status == psutil.CONN_LISTEN}
    assert addresses == {"127.0.0.1"}


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_an_api_server_rejects_requests_without_its_token(platform: PlatformUnderTest, tokens: set[str]) -> None:
    config = yaml.safe_load(Path(platform.variables["KUBECONFIG"]).read_text())
    assert not [token for token in tokens if token in json.dumps(config)]
    servers = {entry["name"]: entry["cluster"]["server"] for entry in config["clusters"]}
    port = urlparse(servers[CENTRAL1]).port
    http = urllib3.PoolManager(cert_reqs="CERT_NONE", assert_hostname=False)
    for headers in ({}, {"Authorization": "Bearer another"}, {"X-Remote-User": "system:admin"}):
        answer = http.request("GET", f"https://127.0.0.1:{port}/api/v1/secrets", headers=headers)
        assert answer.status == 401, headers
