"""The options that answer the questions of `tpuplane new` and `tpuplane init` in advance."""

from typing import Annotated

import typer

Name = Annotated[str | None, typer.Option(help="Name of the platform.")]
Project = Annotated[str | None, typer.Option(help="Google Cloud project id.")]
Location = Annotated[str | None, typer.Option(help="Region or zone of the cluster.")]
Generation = Annotated[str | None, typer.Option(help="TPU generation, such as v6e.")]
Zone = Annotated[str | None, typer.Option(help="Zone of the chips, if the region has several.")]
Topology = Annotated[str | None, typer.Option(help="Topology of a slice, such as 4x4.")]
Capacity = Annotated[str | None, typer.Option(help="Capacity: on-demand, spot, flex-start or reservation.")]
Reservation = Annotated[str | None, typer.Option(help="Name of the reservation, for --capacity reservation.")]
ReservedChips = Annotated[str | None, typer.Option(help="Chips of the reservation.")]
Slices = Annotated[str | None, typer.Option(help="Slices: 2, or 0-4 for an autoscaled pool.")]
