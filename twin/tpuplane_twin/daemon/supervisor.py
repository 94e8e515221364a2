"""The one process of a twin: Google's API, and the parent of every other process."""

import asyncio
import json
import logging
import os
import signal
import sys
from functools import partial

import psutil
from aiohttp import web

from tpuplane_twin.clock.times import InvalidTime, Times
from tpuplane_twin.daemon import described
from tpuplane_twin.daemon.certificates import twin_authority
from tpuplane_twin.daemon.client import TwinError
from tpuplane_twin.daemon.clock import CLOCK, serve_clock
from tpuplane_twin.daemon.faults import Faults
from tpuplane_twin.daemon.fleet import Fleet
from tpuplane_twin.daemon.log_rotation import upkeep
from tpuplane_twin.daemon.status import describe
from tpuplane_twin.elasticity.autoscaler import ClusterAutoscaler
from tpuplane_twin.elasticity.elasticity import Elasticity, InvalidSetting, scale_down_after, stockout_scope
from tpuplane_twin.elasticity.failures import Failures as FailedScaleUps
from tpuplane_twin.elasticity.scaling import Actions
from tpuplane_twin.failures.disruptions import Disruptions
from tpuplane_twin.failures.incidents import Incidents
from tpuplane_twin.failures.routes import Failures
from tpuplane_twin.failures.targets import Targets, client_of
from tpuplane_twin.failures.upgrades import AutoUpgrades
from tpuplane_twin.gcp.app import RECONCILER, create_app, create_pool, delete_pool, repair_pool, resume, upgrade
from tpuplane_twin.gcp.backend import BackendError
from tpuplane_twin.gcp.own_routes import serve
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store, StoreError
from tpuplane_twin.machine.files import DiskFull, try_lock, write_atomic
from tpuplane_twin.machine.paths import TwinPaths, all_twins, name_option
from tpuplane_twin.machine.ports import PortBook, PortTaken
from tpuplane_twin.machine.processes import ProcessManager
from tpuplane_twin.pods.images import Images, images_of_addons, images_of_extras
from tpuplane_twin.slices.controllers import SliceControllers
from tpuplane_twin.tools import ToolError, ensure_everything

logger = logging.getLogger("tpuplane_twin")

_API_PORT = "Google API"
_RECORD_SECONDS = 2.0


class Supervisor:
    """Runs one twin until SIGTERM."""

    def __init__(self, paths: TwinPaths, token: str) -> None:
        others = [TwinPaths.of(name).ports for name in all_twins() if name != paths.name]
        self.paths = paths
        self.state = "starting"
        self.waiting = ""
        self.ports = PortBook(paths.ports, others=others)
        self.processes = ProcessManager()
        extra = images_of_extras()
        self.real_ray = any(image.tool == "ray" for image in extra)
        trusted, images = twin_authority(paths), Images([*extra, *images_of_addons()])
        self.fleet = Fleet(paths, self.processes, self.ports, ensure_everything(), token, self._report, trusted, images)
        self.store = Store(paths.gcp / "state.db")
        times = Times.of()
        self.clock = times.clock
        self.clock.ahead = (self.store.get(CLOCK, CLOCK) or {"ahead": 0.0})["ahead"]
        self.app = create_app(self.store, self.fleet, token, times)
        pools = self.app[RECONCILER]
        create, delete, repair = (partial(change, self.app) for change in (create_pool, delete_pool, repair_pool))
        actions = Actions(pools.resize, create, delete, pools.replace, repair)
        autoscaler = partial(
            ClusterAutoscaler,
            actions=actions,
            scale_down_after=scale_down_after(),
            repair_after=partial(times.seconds, "auto-repair"),
            now=times.clock,
            failures=partial(FailedScaleUps, times.real, stockout_scope()),
        )
        self.elasticity = Elasticity(self.store, self.fleet.client, autoscaler)
        serve(self.app, "/twin/status", get=self._status)
        self.faults = Faults(self.store, self.app, self.elasticity.backoff)
        self.faults.serve()
        client = partial(client_of, self.store, self.fleet.client)
        self.incidents = Incidents(self.store, client, pools, times)
        serve_clock(self.app, times.clock, self.store, lambda: self.elasticity.busy() or self.incidents.acting)
        self.slices = SliceControllers(self.fleet.planes, times)
        Failures(self.incidents, Targets(self.store, client)).serve(self.app)
        Disruptions(self.fleet.planes).serve(self.app)
        AutoUpgrades(self.store, partial(upgrade, self.app), times).serve(self.app)
        described.serve(self.app, self.store)
        self.api = f"http://127.0.0.1:{self.ports.check(_API_PORT)}"

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT, then stop every process and return."""
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        runner = web.AppRunner(self.app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.ports.port(_API_PORT)).start()
        record = {"pid": os.getpid(), "created": psutil.Process().create_time(), "api": self.api}
        write_atomic(self.paths.record, json.dumps(record))
        tasks = [
            asyncio.create_task(self._resume()),
            asyncio.create_task(self.elasticity.run()),
            asyncio.create_task(self.slices.run()),
            asyncio.create_task(self._watch_record(stopped)),
            asyncio.create_task(upkeep(self.paths)),
            asyncio.create_task(self.fleet.watch_kubeconfig()),
        ]
        try:
            await stopped.wait()
        finally:
            self.state = "stopping"
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self.incidents.stop()
            await runner.cleanup()
            await self.fleet.close()
            await self.processes.stop_all()
            self.store.close()
            self.paths.record.unlink(missing_ok=True)

    async def _watch_record(self, stopped: asyncio.Event) -> None:
        # A user who deletes the twin's folder wants to end the twin; without the record no command would find it.
        while self.paths.record.exists():  # noqa: ASYNC110  (files have no portable event)
            await asyncio.sleep(_RECORD_SECONDS)
        logger.warning("the twin's folder was deleted")
        stopped.set()

    async def _resume(self) -> None:
        try:
            await resume(self.app)
        except BackendError as error:
            self.state, self.waiting = "failed", str(error)
            logger.error("%s", error)
            return
        except Exception as error:
            self.state, self.waiting = "failed", f"Internal error: {type(error).__name__}: {error}"
            logger.exception("the twin could not be restored")
            return
        self.incidents.resume()
        self.state, self.waiting = "ready", ""

    def _status(self, _: Json) -> Json:
        status: Json = {
            "name": self.paths.name,
            "state": self.state,
            "waiting": self.waiting,
            "pid": os.getpid(),
            "api": self.api,
            "realRay": self.real_ray,
            "clockStill": self.clock.still,
        }
        status |= describe(self.store, self.processes) | self.faults.shortages() | self.faults.of_api()
        return status | {"incidents": self.incidents.report()}

    def _report(self, waiting: str) -> None:
        if self.state == "starting":
            self.waiting = waiting
        logger.info("%s", waiting)


def main(name: str) -> None:
    """Run the twin `name`; errors that the user can fix are printed as one `error:` line."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    paths = TwinPaths.of(name).make()
    # Held until the process ends: two supervisors never share a folder.
    lock = os.open(paths.root / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    if not try_lock(lock):
        sys.exit(f"error: another supervisor runs the twin {name!r}; see `tpuplane-twin status{name_option(name)}`")
    try:
        token = paths.token_file.read_text().strip()
        asyncio.run(Supervisor(paths, token).run())
    except (TwinError, InvalidSetting, InvalidTime, PortTaken, DiskFull, StoreError, ToolError) as error:
        sys.exit(f"error: {error}")
    finally:
        os.close(lock)


if __name__ == "__main__":
    main(sys.argv[1])
