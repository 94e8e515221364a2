"""A fault on a stack, then the commands of a user until the stack is as the file describes it, or deleted."""

from __future__ import annotations

import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.preflight import Google, check_online
from tpuplane.spec import parse_platform
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.machine.ports import PortBook

from tests.support.eventually import wait_until
from tests.support.matrix.cloud import Strike, busy, copy, listed
from tests.support.matrix.engine import IN_ORDER, STACK, STACK_FILE, Ended, Engine
from tests.support.matrix.grid import ABSORBED, NEXT, TOLD, Cell
from tests.support.providers.google_api import GoogleApi, google_api

_ATTEMPTS = 5
# The command that meets the fault, and the one that a user types afterwards.
_COMMANDS = {"create": ("up", "up"), "abandon": ("up", "destroy"), "delete": ("destroy", "destroy")}
# Google never deletes them, and Pulumi gives a key ring another name each time.
_REMAINS = re.compile(r".*/keyRings/")


class Player:
    """A stack in `folder` and Google's API. `commands` are all that were printed and followed."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._port = PortBook(folder / "ports.json").port("API")
        self._authority = Authority(folder / "pki", "matrix").pem  # Pulumi's provider of Kubernetes parses it
        self.engine = Engine(folder, f"http://127.0.0.1:{self._port}", patch)
        self.describe(yaml.safe_load(STACK_FILE.read_text())["config"]["tpuplane:platform"])
        self._deployed = folder / "deployed"
        self.commands: set[str] = set()
        self._deploy()

    def describe(self, platform: dict[str, Any]) -> None:
        """Write the stack file."""
        content = yaml.safe_load(STACK_FILE.read_text())
        content["config"]["tpuplane:platform"] = platform
        self.engine.stack_file.write_text(yaml.safe_dump(content))
        self._spec = parse_platform(platform, project=content["config"]["gcp:project"])
        self._plan = plan(self._spec)

    def play(self, cell: Cell) -> str:
        """The outcome of one cell. Fails if the stack does not become what the file describes."""
        first, again = _COMMANDS[cell.phase]
        with self.serving(deployed=cell.phase == "delete") as api:
            strike = self.strike(cell, api)
            ended = getattr(self.engine, first)(*IN_ORDER)
            self.settle(api)
            assert strike.struck, f"the fault met no request: {ended.output}"
            outcome = self.converge(ended, getattr(self.engine, again), api, first=cell.phase == "abandon")
            self.agrees(exists=cell.phase == "create")
            return outcome

    @property
    def _database(self) -> Path:
        return self._folder / "api" / "api.db"

    @contextmanager
    def serving(self, *, deployed: bool) -> Iterator[GoogleApi]:
        """The API and the stack, both empty or with the platform."""
        shutil.rmtree(self._database.parent, ignore_errors=True)
        self._database.parent.mkdir()
        if deployed:
            shutil.copy(self._deployed / "api.db", self._database)
        self.engine.load(self._deployed if deployed else None)
        with google_api(self._database.parent, self._port) as api:
            api.backend.authority = self._authority
            yield api

    def _deploy(self) -> None:
        """Create the platform without a fault, and keep it and its lists."""
        with self.serving(deployed=False):
            ended = self.engine.up(*IN_ORDER)
            assert not ended.code, ended.output
            self._exists, self._urns = listed(self._database), self._in_state()
            self.engine.save(self._deployed)
            copy(self._database, self._deployed)
            ended = self.engine.destroy()
            assert not ended.code, ended.output
            # The network `default` of the project, and keys.
            self._nothing = set(listed(self._database))
            assert not [line for line in self._nothing if "lab" in line], self._nothing

    def strike(self, cell: Cell, api: GoogleApi) -> Strike:
        """Let the fault of a cell meet its request."""
        if cell.of_operation:  # the fault must be there before the request is carried out
            strike = Strike(cell.wanted, "before", {}, partial(api.afflict, cell.kind))
        else:
            act = partial(self.engine.end, *cell.signals) if cell.signals else None
            strike = Strike(cell.wanted, cell.moment, cell.answer, act)
        api.meet = strike.meet
        return strike

    def settle(self, api: GoogleApi) -> None:
        """End the fault, and wait until Google has done what it has begun."""
        api.meet = None
        api.clear_faults()
        wait_until(lambda: busy(self._database), lambda found: not found)

    def converge(self, ended: Ended, command: Callable[[], Ended], api: GoogleApi, *, first: bool) -> str:
        """Repeat the command, after the commands that it and `tpuplane check` print, until nothing is to be done.

        `ended` is the one that met the fault. With `first`, a user asks `check` before the second (docs/destroy.md).
        """
        outcome = ABSORBED
        for attempt in range(_ATTEMPTS):
            printed = list(self._printed(ended, first=first)) if attempt or first or not ended.code else []
            # After Ctrl-C at its last resource, `destroy` succeeds and leaves components in the state.
            done = not ended.code and (command == self.engine.up or not self._in_state())
            if done and not printed and (attempt or not first):
                return outcome
            outcome = TOLD if printed or outcome == TOLD else NEXT
            for line in printed:
                self._follow(line, api, creating=command == self.engine.up)
            ended = command()
        raise AssertionError(f"after {_ATTEMPTS} times: {ended.output}")

    def _printed(self, ended: Ended, *, first: bool) -> Iterator[str]:
        """The commands that a user reads: of a lock in the output, then those of `tpuplane check`."""
        if "`pulumi cancel`" in ended.output or self.engine.locked:
            yield f"pulumi cancel --stack {STACK}"
            if not first:
                return
        state = self.engine.state()
        if not state.get("resources") and not state.get("pending_operations"):
            return
        for finding in check_online(self._spec, self._plan, Google(), state=state, stack=STACK).findings:
            told = re.search(r"run: (.+?)(?:; see .*)?$", finding.remedy)
            assert told is not None, f"no command in: {finding}"
            yield told[1]

    def _follow(self, line: str, api: GoogleApi, *, creating: bool) -> None:
        for command in re.split(r"[;,] then: ", line):
            words = shlex.split(command)
            self.commands.add(command)
            if words[0] == "gcloud":
                _delete(words, api)
                self.settle(api)
                continue
            words = [word for word in words[words.index("pulumi") + 1 :] if word != "--yes"]
            if words[0] != "up":
                ended = self.engine.run(*words, "--yes")
            elif "--replace" in words and creating:
                ended = self.engine.up(*words[words.index("--replace") :])
            else:
                continue  # the next command
            assert not ended.code, f"{command}: {ended.output}"

    def agrees(self, *, exists: bool) -> None:
        """Google's API, the state and the file have the same, or nothing."""
        found, state = listed(self._database), self.engine.state()
        begun = [each["resource"]["urn"] for each in state.get("pending_operations") or ()]
        assert not begun, f"pending operations: {begun}"
        assert not self.engine.locked
        if not exists:
            more = [line for line in found if line not in self._nothing and not _REMAINS.match(line)] + self._in_state()
            assert not more, f"left: {more}"
            return
        preview = self.engine.preview()
        assert not preview.code, preview.output
        if self._in_state() == self._urns:
            more, fewer = Counter(found) - Counter(self._exists), Counter(self._exists) - Counter(found)
            more = {line for line in more if not _REMAINS.match(line)}
            assert not more and not fewer, f"more: {more}, fewer: {fewer}"
        assert {line for line in found if line.startswith("nodePool ")} == self._pools()

    def _pools(self) -> set[str]:
        (cluster,) = self._plan.clusters
        name = f"projects/{self._plan.project}/locations/{cluster.location}/clusters/{cluster.name}"
        return {f"nodePool {name}/nodePools/{pool.name}" for pool in cluster.node_pools}

    def _in_state(self) -> list[str]:
        return sorted(resource["urn"] for resource in self.engine.state().get("resources") or ())


def _delete(words: list[str], api: GoogleApi) -> None:
    """What `gcloud GROUP VERB NAME --option=VALUE …` does, for the commands of the check."""
    options = dict(word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word)
    *group, verb, name = [word for word in words[1:] if not word.startswith("--")]
    if verb == "remove-iam-policy-binding":
        policy = api.ask("POST", f"/crm/v1/projects/{name}:getIamPolicy", {})
        (binding,) = (binding for binding in policy["bindings"] if binding["role"] == options["role"])
        binding["members"].remove(options["member"])
        api.ask("POST", f"/crm/v1/projects/{name}:setIamPolicy", {"policy": policy})
    elif group == ["compute", "routers", "nats"]:
        router = "/compute/v1/projects/{project}/regions/{region}/routers/{router}".format_map(options)
        nats = [nat for nat in api.ask("GET", router).get("nats", ()) if nat["name"] != name]
        api.ask("PATCH", router, {"nats": nats})
    else:
        path = _PATHS[" ".join(group)].format(**options, name=name, quoted=quote(name, safe=""))
        api.ask("POST" if verb == "destroy" else "DELETE", path, {} if verb == "destroy" else None)


_PATHS = {
    "container clusters": "/v1/projects/{project}/locations/{location}/clusters/{name}",
    "container node-pools": "/v1/projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}",
    "compute networks": "/compute/v1/projects/{project}/global/networks/{name}",
    "compute networks subnets": "/compute/v1/projects/{project}/regions/{region}/subnetworks/{name}",
    "compute routers": "/compute/v1/projects/{project}/regions/{region}/routers/{name}",
    "compute resource-policies": "/compute/v1/projects/{project}/regions/{region}/resourcePolicies/{name}",
    "iam service-accounts": "/iam/v1/projects/{project}/serviceAccounts/{name}",
    "kms keys versions": "/kms/v1/projects/{project}/locations/{location}/keyRings/{keyring}/cryptoKeys/{key}"
    "/cryptoKeyVersions/{name}:destroy",
    "logging metrics": "/logging/v2/projects/{project}/metrics/{quoted}",
    "monitoring dashboards": "/monitoring/v1/{name}",
    "monitoring policies": "/monitoring/v3/{name}",
}
