"""The routes of the twin's clock."""

from collections.abc import Callable

from aiohttp import web

from tpuplane_twin.clock.clock import Clock
from tpuplane_twin.clock.times import LONGEST_SECONDS
from tpuplane_twin.gcp.errors import invalid
from tpuplane_twin.gcp.operations import HELD, OPERATION
from tpuplane_twin.gcp.own_routes import serve
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store

CLOCK = "clock"
"""The kind under which it is stored how far the clock is ahead: times of incidents are on the clock."""


def serve_clock(app: web.Application, clock: Clock, store: Store, acting: Callable[[], bool]) -> None:
    """GET /twin/clock shows the clock, POST stops it and moves it by `seconds`, DELETE lets it run again.

    The answer has the seconds until the next `due`, whether a call waits for a time (`waited`), and whether the twin is
    `busy`: with operations, because it is `acting` without one, or because a controller is late.
    """

    def show(_: Json) -> Json:
        due = None if clock.due is None else max(0.0, clock.due - clock())
        held = {found["operation"] for found in store.values(HELD) if not found.get("tries")}
        works = any(found["status"] != "DONE" and found["name"] not in held for found in store.values(OPERATION))
        busy = works or acting() or clock.late
        return {"now": clock(), "still": clock.still, "due": due, "waited": clock.waited, "busy": busy}

    def move(asked: Json) -> Json:
        seconds = asked.get("seconds")
        # NaN is in no range.
        if isinstance(seconds, bool) or not (isinstance(seconds, int | float) and 0 <= seconds <= LONGEST_SECONDS):
            raise invalid(f"seconds: {seconds!r} is not a number of seconds; allowed: 0 to {LONGEST_SECONDS}")
        clock.move(seconds)
        return show(asked)

    def run(asked: Json) -> Json:
        clock.run()
        store.put(CLOCK, CLOCK, {"ahead": clock.ahead})
        return show(asked)

    serve(app, "/twin/clock", get=show, post=move, delete=run)
