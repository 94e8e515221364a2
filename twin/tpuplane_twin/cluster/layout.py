"""Where a cluster's processes, files and ports are: what every part of a control plane needs to know."""

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import yaml
from aiohttp import web

from tpuplane_twin.cluster.identities import Credentials
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.machine.files import write_if_changed
from tpuplane_twin.machine.ports import PortBook
from tpuplane_twin.machine.processes import memory_steps
from tpuplane_twin.tools import Tools

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Layout:
    """One cluster's folder, credentials and ports. `key` starts the names of its processes, ports and logs."""

    key: str
    folder: Path
    tools: Tools
    ports: PortBook
    authority: Authority
    credentials: Credentials
    trusted: Authority | None = None
    """The twin's own authority, which clients of the DNS endpoint trust. None: there is no DNS endpoint."""

    def port(self, use: str) -> int:
        """The cluster's port for `use`, the same for as long as the cluster exists."""
        return self.ports.port(f"{self.key}/{use}")

    def address(self, use: str) -> str:
        """`127.0.0.1:PORT` for `use`."""
        return f"{LOOPBACK}:{self.port(use)}"

    def process(self, name: str) -> str:
        """The name of one of the cluster's processes in the process manager."""
        return f"{self.key}/{name}"

    def log(self, name: str) -> Path:
        """The log of the process called `name`."""
        return self.folder / "logs" / f"{name}.log"

    @property
    def buckets(self) -> Path:
        """The folder of Cloud Storage's buckets, which all clusters of the twin share."""
        return self.folder.parents[1] / "buckets"

    @property
    def aggregator(self) -> Authority:
        """The authority between the API server and the APIs that it aggregates.

        With the cluster's, each client with a certificate of it could act as any user.
        """
        return Authority(self.folder / "pki" / "front-proxy", "front-proxy-ca")

    @property
    def server(self) -> str:
        """The API server's URL."""
        return f"https://{self.address('apiserver')}"

    def kubeconfig(self, identity: str) -> Path:
        """The kubeconfig of one of the cluster's own processes."""
        return self.credentials.kubeconfig(identity, server=self.server, authority=self.authority.pair.certificate)

    def config(self, name: str, *documents: object) -> Path:
        """The file of a process's configuration, as YAML; written where it is not what it was."""
        path = self.folder / f"{name}.yaml"
        write_if_changed(path, yaml.safe_dump_all(documents, sort_keys=False))
        return path

    def environment(self, memory_mib: int) -> dict[str, str]:
        """The whole environment of one process. `memory_mib` is its limit in Go's collector for each 5 GiB of memory.

        The limit grows with the machine, because the collector never rests at it, and a large cluster with work reaches
        it. With more memory, the collector works less often. At GOGC=300, an API server needs an eighth less CPU while
        its operators are installed than at 100, and twice the memory for the next minutes.
        """
        steps = max(1, memory_steps())
        collector = {"GOMEMLIMIT": f"{steps * memory_mib}MiB", "GOGC": str(min(max(100, 50 * steps), 300))}
        return {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", **collector}

    def serving(
        self, use: str, authority: Authority | None = None, hosts: Iterable[str] = (LOOPBACK, "localhost")
    ) -> ssl.SSLContext:
        """How a server with the certificate called `use` answers: only to clients with one of the same authority.

        That is the cluster's unless another is given. Other users of this machine have no such certificate.
        """
        authority = authority or self.authority
        pair = authority.issue(use, hosts=hosts)
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.pair.certificate))
        tls.load_cert_chain(pair.certificate, pair.key)
        tls.verify_mode = ssl.CERT_REQUIRED
        return tls

    def tls(self) -> ssl.SSLContext:
        """What a client of the cluster's servers trusts: the cluster's authority and nothing else."""
        return ssl.create_default_context(cafile=str(self.authority.pair.certificate))


# Connections that wait to be accepted: the API server opens one for each request of many that it sends at once.
_BACKLOG = 1024


class LoopbackServer:
    """An application in the supervisor's process, which the API server alone reaches, over TLS on 127.0.0.1."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._runner: web.AppRunner | None = None

    async def listen(self, app: web.Application, port: str, tls: ssl.SSLContext, *, grace: float = 60) -> None:
        """Serve. Open requests have `grace` seconds after `stop`. Raises `OSError` where the port is taken."""
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=grace)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, self._layout.port(port), ssl_context=tls, backlog=_BACKLOG).start()
        self._runner = runner

    async def stop(self) -> None:
        """Stop listening, and end the open requests."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None


async def answers(url: str, *, tls: ssl.SSLContext, token: str | None = None) -> bool:
    """Whether `url` answers 200 now."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = aiohttp.ClientTimeout(total=2)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, headers=headers, ssl=tls) as response,
        ):
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False
