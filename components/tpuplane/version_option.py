"""The option --version of each command line."""

from typing import Any

import typer


def version_option(tool: str, package: str | None = None) -> Any:
    """The option that prints the version of the package, which is called as the tool by default, and exits."""

    def show(asked: bool) -> None:
        if asked:
            from importlib.metadata import version  # noqa: PLC0415 (only this option needs it)

            typer.echo(f"{tool} {version(package or tool)}")
            raise typer.Exit

    return typer.Option("--version", callback=show, is_eager=True, help="Show the version and exit.")
