"""The API's state: one SQLite file, every change atomic, safe against kill -9 at any moment."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tpuplane_twin.gcp.schema import Json

_TABLE = """
CREATE TABLE IF NOT EXISTS objects (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (kind, key)
)
"""
# A power cut may lose the last transactions, but never a part of one; a kill loses nothing.
_PRAGMAS = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA busy_timeout = 5000")


class StoreError(Exception):
    """The state file could not be read or written; the change was not made."""


class Store:
    """JSON objects by kind and key, listed in the order of their creation.

    Keys are Google's resource names ("projects/p/locations/l/clusters/c"), so a prefix names a parent. Values are
    copies. The file has mode 0600. A reader (`read_only`) may be another process.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._depth = 0
        self._begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"
        try:
            if read_only:
                self._db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
                return
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Created before SQLite does it: its journal files inherit this mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            path.chmod(0o600)
            self._db = sqlite3.connect(path, isolation_level=None)
            for pragma in _PRAGMAS:
                self._db.execute(pragma)
            self._db.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot open the twin's API state {path}: {error}") from error

    def close(self) -> None:
        """Close the file. Optional: no data depends on it."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes inside, or none if an exception is raised. Transactions nest."""
        self._depth += 1
        try:
            if self._depth == 1:
                self._execute(self._begin)
            yield
            if self._depth == 1:
                self._execute("COMMIT")
        except BaseException:
            # SQLite rolls back by itself after some errors, such as a full disk.
            if self._depth == 1 and self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        finally:
            self._depth -= 1

    @property
    def changes(self) -> int:
        """A number that grows with every change through this store."""
        return self._db.total_changes

    def get(self, kind: str, key: str) -> Json | None:
        """The object, or None."""
        rows = self._execute("SELECT value FROM objects WHERE kind = ? AND key = ?", kind, key)
        return json.loads(rows[0][0]) if rows else None

    def put(self, kind: str, key: str, value: Json) -> None:
        """Write the object, whole."""
        self._execute(
            "INSERT INTO objects (kind, key, value) VALUES (?, ?, ?)"
            " ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
            kind,
            key,
            json.dumps(value, separators=(",", ":")),
        )

    def delete(self, kind: str, key: str) -> None:
        """Delete the object if it exists."""
        self._execute("DELETE FROM objects WHERE kind = ? AND key = ?", kind, key)

    def items(self, kind: str, parent: str = "", text: str = "") -> list[tuple[str, Json]]:
        """The objects of a kind, all or below `parent`, as (key, value); with `text`, those that contain it."""
        sql = (
            "SELECT key, value FROM objects WHERE kind = ? AND substr(key, 1, ?) = ?"
            " AND instr(value, ?) > 0 ORDER BY seq"
        )
        prefix = f"{parent}/" if parent else ""
        return [(key, json.loads(value)) for key, value in self._execute(sql, kind, len(prefix), prefix, text)]

    def values(self, kind: str, parent: str = "", text: str = "") -> list[Json]:
        """The values of `items`."""
        return [value for _, value in self.items(kind, parent, text)]

    def projects(self) -> list[str]:
        """The projects that have resources. Some keys have a project's number."""
        sql = (
            "SELECT DISTINCT substr(rest, 1, instr(rest, '/') - 1) FROM"
            " (SELECT substr(key, 10) || '/' AS rest FROM objects WHERE key LIKE 'projects/%') ORDER BY 1"
        )
        rows = self._execute(sql)
        return [project for (project,) in rows if not project.isdecimal()]

    def trim(self, kind: str, keep: int = 1000) -> None:
        """Delete all but the newest `keep` objects of a kind."""
        sql = (
            "DELETE FROM objects WHERE kind = ? AND seq NOT IN"
            " (SELECT seq FROM objects WHERE kind = ? ORDER BY seq DESC LIMIT ?)"
        )
        self._execute(sql, kind, kind, keep)

    def _execute(self, sql: str, *values: object) -> list[tuple[str, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"cannot use the twin's API state {self.path}: {error}") from error
