"""The figures of rehearsals as a table for a terminal. Pure."""

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Column, Table
from tpuplane.ui.timeline import Summary, figures


def figures_table(every: Sequence[Summary]) -> Table:
    """The figures of one rehearsal by team, or of several side by side."""
    (_, *columns), *rows = figures(every)
    numbers = (Column(escape(column), justify="right", no_wrap=True) for column in columns)
    table = Table(Column("", no_wrap=True), *numbers, box=None, pad_edge=False)
    for label, *values in rows:
        table.add_row(escape(label) if values else f"[bold]{escape(label)}[/bold]", *values)
    return table
