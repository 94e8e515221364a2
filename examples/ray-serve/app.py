"""A Ray Serve application with a JAX function on every host of a slice: POST numbers, get their softmax."""

import os
from typing import Any

from ray import serve
from starlette.requests import Request


@serve.deployment
class Softmax:
    """One replica holds all chips of its host."""

    def __init__(self) -> None:
        import jax

        self._softmax = jax.jit(jax.nn.softmax)
        self._devices = [str(device) for device in jax.local_devices()]

    async def __call__(self, request: Request) -> dict[str, Any]:
        """One request: a JSON list of numbers."""
        import jax.numpy as jnp

        answer = self._softmax(jnp.asarray(await request.json(), dtype=jnp.float32))
        return {"softmax": [float(each) for each in answer], "host": os.environ["HOSTNAME"], "devices": self._devices}


app = Softmax.bind()
