"""Faults of Google's API and of its clients at exact moments, and what exists behind the API."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from tpuplane_twin.gcp.errors import ApiError

from tests.support.providers.google_api import Handler

# Kinds of stored objects that are records of what happened, or faults.
_NOT_RESOURCES = re.compile(r".*operations?|work|held|fault")
_OF_EVERY_PROJECT = re.compile(
    r"/(networks|subnetworks)/default$|/firewalls/default-allow-[a-z]+$|-compute@developer[.]gserviceaccount[.]com$"
)
_GENERATED = re.compile(r"-[0-9a-f]{7}\b|(?<=/)\d{15,}|[0-9a-f]{8}-[0-9a-f-]{27}")


@dataclass
class Strike:
    """A fault at the first request that matches: `before` it is carried out, `during` it (it is carried out, and the
    fault takes the place of its answer), or `after` it: at the next request."""

    wanted: re.Pattern[str]
    """What to find in "METHOD PATH NAME"."""
    moment: str
    answer: dict[str, Any]
    """The fault: an answer as in the twin's faults.yaml."""
    act: Callable[[], Awaitable[None]] | None = None
    """What happens instead: to the engine, or to the operation of the request."""
    armed: bool = False
    struck: bool = False

    async def meet(self, request: web.Request, serve: Handler) -> web.StreamResponse:
        hit = not self.struck and (self.armed or bool(self.wanted.search(await _line(request))))
        if hit and self.moment == "after" and not self.armed:
            self.armed, hit = True, False
        if not hit:
            return await serve(request)
        self.struck = True
        served = await serve(request) if self.moment == "during" else None
        if self.act is not None:
            await self.act()
            return served or await serve(request)
        if "code" in self.answer:
            error = ApiError(
                self.answer["status"],
                self.answer["message"].format_map(_Names()),
                http_code=self.answer["code"],
                reason=self.answer.get("reason"),
            )
            headers = self.answer.get("headers")
            return web.json_response(error.body("rpc"), status=error.http_code, headers=headers)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


class _Names(dict[str, str]):
    """What stands for a name in a message."""

    def __missing__(self, name: str) -> str:
        return name


async def _line(request: web.Request) -> str:
    """The request as "METHOD PATH NAME": the name is that of a new resource, from the body or the query."""
    raw = await request.read()
    body = json.loads(raw) if raw else {}
    inner = [body, *(value for value in body.values() if isinstance(value, dict))]
    names = [str(part[key]) for part in inner for key in ("name", "accountId", "displayName") if key in part]
    names += [value for key, value in request.query.items() if key.endswith("Id")]
    return " ".join([request.method, request.path, *names])


def busy(file: Path) -> bool:
    """Whether an operation has not ended."""
    return bool(_rows(file, "work"))


def listed(file: Path) -> list[str]:
    """All existing objects, with the grants of policies, without the names that Pulumi and Google generate."""
    rows = [row for row in _rows(file) if not _NOT_RESOURCES.fullmatch(row[0])]
    found = [f"{kind} {key}" for kind, key, _ in rows]
    for kind, key, value in rows:
        stored = json.loads(value)
        for binding in stored.get("bindings", ()) if isinstance(stored, dict) else ():
            found += [f"{kind} {key} {binding['role']} {member}" for member in binding["members"]]
    return sorted(_GENERATED.sub("", line) for line in found)


def identities(file: Path) -> set[str]:
    """The IDs that Pulumi's state has of all existing objects, without those that each project has."""
    found: set[str] = set()
    for kind, key, value in _rows(file):
        if _NOT_RESOURCES.fullmatch(kind) or _OF_EVERY_PROJECT.search(key):
            continue
        stored = json.loads(value)
        if kind == "iamPolicy":
            owner = key.removeprefix("projects/") if key.count("/") == 1 else key
            bindings = stored.get("bindings", ())
            found |= {f"{owner}/{each['role']}/{member}" for each in bindings for member in each["members"]}
        elif kind not in ("project", "cloudkms.cryptoKeyVersions", "servicenetworking.connections"):
            found.add(key.partition("/metrics/")[2] or key)
        for nat in stored.get("nats", ()) if kind == "compute.routers" else ():
            _, project, _, region, _, router = key.split("/")
            found.add(f"{project}/{region}/{router}/{nat['name']}")
    return found


def copy(file: Path, folder: Path) -> None:
    """Copy the state of the API into a folder, also while the API runs."""
    with (
        contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as source,
        contextlib.closing(sqlite3.connect(folder / file.name)) as target,
    ):
        source.backup(target)


def _rows(file: Path, kind: str = "") -> list[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
        return database.execute("SELECT kind, key, value FROM objects WHERE ? IN ('', kind)", (kind,)).fetchall()
