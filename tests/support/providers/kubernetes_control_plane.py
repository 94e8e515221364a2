"""A real API server for the tests: etcd, kube-apiserver, and the controller manager that deletes what owners leave."""

from __future__ import annotations

import base64
import os
import secrets
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tpuplane_twin.machine.ports import PortBook

NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager")


@dataclass(frozen=True)
class ControlPlane:
    server: str
    ca_certificate: Path
    token: str

    def kubeconfig(self, **user: Any) -> str:
        authority = base64.b64encode(self.ca_certificate.read_bytes()).decode()
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
                "clusters": [
                    {"name": "test", "cluster": {"server": self.server, "certificate-authority-data": authority}}
                ],
                "users": [{"name": "admin", "user": user or {"token": self.token}}],
            }
        )


def binaries() -> dict[str, Path]:
    """From PATH if all are there, else the ones that the twin builds."""
    found = {name: shutil.which(name) for name in NEEDED}
    if all(found.values()):
        return {name: Path(str(path)) for name, path in found.items()}
    from tpuplane_twin import tools

    with tools.show() as progress:
        built = tools.ensure(list(NEEDED), progress)
    return {name: built.binary(name) for name in NEEDED}


@contextmanager
def running(folder: Path) -> Iterator[ControlPlane]:
    commands, processes = binaries(), []
    ports = PortBook(folder / "ports.json")
    client, peer, secure, manager = map(ports.port, ("client", "peer", "secure", "manager"))
    token = secrets.token_hex(16)
    (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (folder / "sa.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )

    def start(name: str, *flags: str) -> subprocess.Popen[bytes]:
        log = (folder / f"{name}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [commands[name], *flags], stdout=log, stderr=log, cwd=folder, start_new_session=True
            )
        processes.append(process)
        return process

    plane = ControlPlane(f"https://127.0.0.1:{secure}", folder / "certs" / "apiserver.crt", token)
    kubeconfig = folder / "kubeconfig"
    try:
        start(
            "etcd",
            f"--data-dir={folder / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
        )
        api_server = start(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{client}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={secure}",
            f"--cert-dir={folder / 'certs'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            f"--service-account-key-file={folder / 'sa.key'}",
            f"--service-account-signing-key-file={folder / 'sa.key'}",
            "--service-account-issuer=https://test",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=RBAC",
            "--endpoint-reconciler-type=none",
            "--disable-admission-plugins=ServiceAccount",
        )
        _wait_ready(plane, api_server, folder / "kube-apiserver.log")
        kubeconfig.write_text(plane.kubeconfig())
        start(
            "kube-controller-manager",
            f"--kubeconfig={kubeconfig}",
            "--bind-address=127.0.0.1",
            f"--secure-port={manager}",
            "--leader-elect=false",
            "--kube-api-qps=1000",
            "--kube-api-burst=1000",
            "--controllers=deployment-controller,replicaset-controller,statefulset-controller,job-controller,"
            "garbage-collector-controller,namespace-controller,endpoints-controller",
        )
        yield plane
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_ready(plane: ControlPlane, process: subprocess.Popen[bytes], log: Path) -> None:
    import ssl

    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            context = ssl.create_default_context(cafile=str(plane.ca_certificate))
            request = urllib.request.Request(
                f"{plane.server}/readyz", headers={"Authorization": f"Bearer {plane.token}"}
            )
            with urllib.request.urlopen(request, context=context, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the API server did not become ready:\n{log.read_text()[-3000:]}")
