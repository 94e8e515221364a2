"""A slice to scale: its chips as squares in hosts, and its layers side by side."""

import math

from tpuplane.picture.layout import Box, columns, number
from tpuplane.tpu import Slice
from tpuplane.tpu.topology import grid

CHIP = 5.0
"""Edge of a chip."""
_BETWEEN_CHIPS = 1.0
_HOST_PADDING = 1.5
_BETWEEN_HOSTS = 2.0
_BETWEEN_LAYERS = 7.0
_SLICE_PADDING = 4.0
NODE = 2 * CHIP + _BETWEEN_CHIPS + 2 * _HOST_PADDING
"""Edge of a CPU node, which is as large as a host with four chips."""


def slice_shape(shape: Slice) -> Box:
    """All slices of a shape: a frame with hosts, which have chips. The third axis is a row of layers.

    The use of the drawing sets its colours.
    """
    rows, cols, layers = grid(shape.topology)
    host_rows, host_cols, _ = grid(shape.machine.layout)
    host_width, host_height = _host(host_cols), _host(host_rows)
    across, down = cols // host_cols, rows // host_rows
    layer_width = across * (host_width + _BETWEEN_HOSTS) - _BETWEEN_HOSTS
    layer_height = down * (host_height + _BETWEEN_HOSTS) - _BETWEEN_HOSTS
    hosts: list[str] = []
    chips: list[str] = []
    per_row = columns(layers, (layer_width, layer_height), (0, math.inf), _BETWEEN_LAYERS)
    for layer in range(layers):
        left = _SLICE_PADDING + layer % per_row * (layer_width + _BETWEEN_LAYERS)
        top = _SLICE_PADDING + layer // per_row * (layer_height + _BETWEEN_LAYERS)
        for host in range(across * down):
            x = left + host % across * (host_width + _BETWEEN_HOSTS)
            y = top + host // across * (host_height + _BETWEEN_HOSTS)
            hosts.append(_rectangle(x, y, host_width, host_height))
            for chip in range(host_rows * host_cols):
                at_x = x + _HOST_PADDING + chip % host_cols * (CHIP + _BETWEEN_CHIPS)
                at_y = y + _HOST_PADDING + chip // host_cols * (CHIP + _BETWEEN_CHIPS)
                chips.append(_rectangle(at_x, at_y, CHIP, CHIP))
    width = per_row * (layer_width + _BETWEEN_LAYERS) - _BETWEEN_LAYERS + 2 * _SLICE_PADDING
    height = math.ceil(layers / per_row) * (layer_height + _BETWEEN_LAYERS) - _BETWEEN_LAYERS + 2 * _SLICE_PADDING
    return Box(
        width,
        height,
        (
            f'<rect class="frame" width="{number(width)}" height="{number(height)}" rx="4"/>',
            f'<path class="host" d="{"".join(hosts)}"/>',
            f'<path class="chip" d="{"".join(chips)}"/>',
        ),
    )


def node_shape() -> Box:
    """A node without chips."""
    return Box(NODE, NODE, (f'<rect class="frame host" width="{number(NODE)}" height="{number(NODE)}" rx="2"/>',))


def _host(chips: int) -> float:
    """Edge of a host with this number of chips along it."""
    return chips * (CHIP + _BETWEEN_CHIPS) - _BETWEEN_CHIPS + 2 * _HOST_PADDING


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f"M{number(x)} {number(y)}h{number(width)}v{number(height)}h-{number(width)}z"
