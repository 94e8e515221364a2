"""A stack and Google's API: a fault, then the commands of a user until the stack is as its file says, or deleted."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from tpuplane.plan import plan
from tpuplane.preflight import Google, check_online
from tpuplane.spec import parse_platform
from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.machine.ports import PortBook

from tests.support.eventually import wait_until
from tests.support.matrix import gcloud
from tests.support.matrix.cloud import Strike, busy, identities, listed
from tests.support.matrix.engine import STACK, STACK_FILE, Ended, Engine
from tests.support.matrix.grid import ABSORBED, NEXT, TOLD, Cell
from tests.support.providers.google_api import GoogleApi, MemoryBackend, google_api

_ATTEMPTS = 5
TELLS = re.compile(r"run: (.+?)(?:; see .*)?$", re.MULTILINE)
"""The commands of a line that `tpuplane check` prints."""
# Google never deletes key rings, and Pulumi gives one another name each time. Google also keeps the grants of a service
# account that was deleted without them.
REMAINS = re.compile(r".*/keyRings/|.*[ /]deleted:serviceAccount:")


class Stack:
    """A stack in `folder` and Google's API. `commands` are all that were printed and followed."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._port = PortBook(folder / "ports.json").port("API")
        self._authority = Authority(folder / "pki", "matrix").pem  # Pulumi's provider of Kubernetes parses it
        self.engine = Engine(folder, f"http://127.0.0.1:{self._port}", patch)
        self.describe(yaml.safe_load(STACK_FILE.read_text())["config"]["tpuplane:platform"])
        self.commands: set[str] = set()
        self.without: set[str] = set()
        """What `listed` has of a project without a platform: the network `default` and its account."""

    def describe(self, platform: dict[str, Any]) -> None:
        """Write the stack file."""
        content = yaml.safe_load(STACK_FILE.read_text())
        content["config"]["tpuplane:platform"] = platform
        self.engine.stack_file.write_text(yaml.safe_dump(content))
        self._spec = parse_platform(platform, project=content["config"]["gcp:project"])
        self._plan = plan(self._spec)

    @property
    def database(self) -> Path:
        """The file of the API."""
        return self._folder / "api" / "api.db"

    @contextmanager
    def serving(self, deployed: Path | None = None) -> Iterator[GoogleApi]:
        """The API and the stack, both empty or with the platform of a folder."""
        shutil.rmtree(self.database.parent, ignore_errors=True)
        self.database.parent.mkdir()
        if deployed:
            shutil.copy(deployed / "api.db", self.database)
        self.engine.load(deployed)
        with google_api(self.database.parent, self._port, MemoryBackend(self._authority)) as api:
            yield api

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
        wait_until(lambda: busy(self.database), lambda found: not found)

    def converge(self, ended: Ended, command: Callable[[], Ended], api: GoogleApi, *, first: bool = False) -> str:
        """Repeat the command, after the commands that it and `tpuplane check` print, until nothing is to be done.

        `ended` is the one that met the fault. With `first`, a user asks `check` before the second (docs/destroy.md).
        """
        outcome = ABSORBED
        for attempt in range(_ATTEMPTS):
            printed = list(self._printed(ended, first=first)) if attempt or first or not ended.code else []
            # After Ctrl-C at its last resource, `destroy` succeeds and leaves components in the state.
            done = not ended.code and (command == self.engine.up or not self.in_state())
            if done and not printed and (attempt or not first):
                return outcome
            outcome = TOLD if printed or outcome == TOLD else NEXT
            for line in printed:
                self.follow(line, api, creating=command == self.engine.up)
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
            told = TELLS.search(finding.remedy)
            assert told is not None, f"no command in: {finding}"
            yield told[1]

    def follow(self, line: str, api: GoogleApi, *, creating: bool) -> None:
        """Type a printed line: its commands, but for the one that is typed next anyway."""
        for command in re.split(r"[;,] then: ", line):
            words = shlex.split(command)
            self.commands.add(command)
            if words[0] == "gcloud":
                gcloud.delete(words, api)
                self.settle(api)
                continue
            variables = dict(word.split("=", 1) for word in words[: words.index("pulumi")])
            words = [word for word in words[words.index("pulumi") + 1 :] if word != "--yes"]
            if words[0] != "up":
                ended = self.engine.run(*words, "--yes", **variables)
            elif creating and ("--replace" in words or variables):
                ended = self.engine.up(*words[3:], **variables)  # without the stack
            else:
                continue  # the next command
            assert not ended.code, f"{command}: {ended.output}"

    def rests(self) -> None:
        """No lock and no pending operation, and nothing in Google's API that the state lacks."""
        state = self.engine.state()
        begun = [each["resource"]["urn"] for each in state.get("pending_operations") or ()]
        assert not begun, f"pending operations: {begun}"
        assert not self.engine.locked
        recorded = {resource.get("id") for resource in state.get("resources") or ()}
        more = {found for found in identities(self.database) - recorded if not REMAINS.match(found)}
        assert not more, f"in no state: {more}"

    def agrees(self) -> None:
        """Google's API, the state and the file have the same."""
        self.rests()
        preview = self.engine.preview()
        assert not preview.code, preview.output
        assert {line for line in listed(self.database) if line.startswith("nodePool ")} == self._pools()

    def is_gone(self) -> None:
        """Google's API and the state have nothing."""
        self.rests()
        left = [line for line in listed(self.database) if line not in self.without and not REMAINS.match(line)]
        assert not left + self.in_state(), f"left: {left + self.in_state()}"

    def _pools(self) -> set[str]:
        return {
            f"nodePool projects/{self._plan.project}/locations/{cluster.location}/clusters/{cluster.name}"
            f"/nodePools/{pool.name}"
            for cluster in self._plan.clusters
            for pool in cluster.node_pools
        }

    def in_state(self) -> list[str]:
        """The URNs of the state."""
        return sorted(resource["urn"] for resource in self.engine.state().get("resources") or ())
