"""What a platform finds in its project because people put it there: on a twin somebody has to, too."""

from __future__ import annotations

from aiohttp import web

from tpuplane_twin.controls import Json, answering
from tpuplane_twin.gcp import Store, give_channel


class Given:
    """The route below /twin that puts things into a project as its administrator would have."""

    def __init__(self, store: Store, app: web.Application) -> None:
        self._store = store
        self._app = app

    def serve(self) -> None:
        """Add the route to the application."""
        self._app.router.add_post("/twin/given", answering(self._give))

    async def _give(self, asked: Json) -> Json:
        with self._store.transaction():
            made = [name for name in asked.get("notificationChannels", ()) if give_channel(self._store, name)]
        return {"made": made}
