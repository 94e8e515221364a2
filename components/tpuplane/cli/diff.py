"""`tpuplane diff`."""

import json
from typing import Annotated

import typer

from tpuplane.cli.clusters import Kubeconfig
from tpuplane.cli.completion import change_classes, stack_files
from tpuplane.cli.exit_codes import FAILED_ON, UNREACHABLE, ended
from tpuplane.cli.loaded import mistakes_end_it


def diff_(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A stack file, or REVISION:PATH. A single file is compared with itself at HEAD.",
            autocompletion=stack_files,
        ),
    ],
    new: Annotated[
        str | None, typer.Argument(metavar="NEW", help="A stack file, or REVISION:PATH.", autocompletion=stack_files)
    ] = None,
    deployed: Annotated[
        str | None, typer.Option(metavar="STACK", help="Compare with the last update of this stack.")
    ] = None,
    kubeconfig: Kubeconfig = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the changes as Markdown.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Use the price of another region, if none is on record.")
    ] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS",
            help="Exit with code 4 if a change is of this class (such as deletes-work) or a worse one, or has the mark "
            "opens, closes or rejected; repeatable.",
            autocompletion=change_classes,
        ),
    ] = None,
) -> None:
    """Show the effects of a change to a stack file, field by field. Needs neither Pulumi nor Google Cloud.

    With --deployed, it also reads the clusters: the jobs on node pools that a change deletes or recreates, those in
    namespaces that it deletes, and those that hold quota which it takes from a queue.

    Exit code 0: compared. 1: mistakes, one on each line. 2: no such file, revision or class. 3: the stack cannot be
    read. 4: a change is of a class of --fail-on.
    """
    from tpuplane.cli.diff_text import diff_as_json, diff_as_markdown, diff_as_text  # noqa: PLC0415
    from tpuplane.cost import cost  # noqa: PLC0415
    from tpuplane.diff import MARKS, classes, diff  # noqa: PLC0415
    from tpuplane.former_stack import NoUpdate, load_deployed, load_last_commit, load_revision  # noqa: PLC0415
    from tpuplane.spec.core.errors import choice  # noqa: PLC0415

    for wanted in fail_on or ():
        if wanted not in (*classes(), *MARKS):
            raise typer.BadParameter(choice(wanted, "a class", (*classes(), *MARKS)), param_hint="--fail-on")
    if as_json_ and markdown:
        raise typer.BadParameter("cannot be used with --markdown; remove one", param_hint="--json")
    if deployed is not None and new is not None:
        raise typer.BadParameter("replaces OLD, so name only NEW", param_hint="--deployed")
    try:
        with mistakes_end_it(as_json_):
            later = load_revision(old if new is None else new)
            if deployed is not None:
                former = load_deployed(deployed)
            else:
                former = load_last_commit(old) if new is None else load_revision(old)
            found = diff(former, later)
    except NoUpdate as error:
        raise ended(f"--deployed: {error}", UNREACHABLE) from None
    if deployed is not None:
        from tpuplane.cli.held_work import with_held_work  # noqa: PLC0415

        found, unread = with_held_work(found, kubeconfig)
        for line in unread:
            typer.echo(line, err=True)
    costs = cost(found.before.plan, estimate=estimate), cost(found.after.plan, estimate=estimate)
    if as_json_:
        typer.echo(json.dumps(diff_as_json(found, costs), indent=2))
    else:
        typer.echo("\n".join((diff_as_markdown if markdown else diff_as_text)(found, costs)))
    if any(map(found.reaches, fail_on or ())):
        raise typer.Exit(FAILED_ON)
