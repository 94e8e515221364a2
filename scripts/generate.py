"""Write everything that is generated: `make generate`. With --check nothing is written; exit code 1 says what is stale.

In the documentation, a `console` block that starts with `$ tpuplane …` holds that command's output, and
`scripts/field_tables.py` writes the tables of fields.
"""

import re
import shlex
import sys
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from importlib.metadata import version
from pathlib import Path

from tpuplane.cli import app
from tpuplane.picture import draw
from tpuplane.plan import plan
from tpuplane.spec import PlatformSpec, load_stack
from tpuplane.spec.core.changes import unclassed
from tpuplane.spec.schema import schema_text
from typer.testing import CliRunner

from scripts import go_modules, python_lines
from scripts.error_tables import with_errors
from scripts.fidelity_tables import with_fidelity
from scripts.field_tables import with_tables
from scripts.provider_classes import provider_classes
from scripts.pulumi_template import template
from scripts.reliability_table import with_figures
from scripts.rule_tables import with_rules
from scripts.scale_table import with_scale
from scripts.times_table import with_times
from scripts.tpu_table import with_generations
from scripts.typed_args import typed_args
from tests.support.matrix.grid import played

ROOT = Path(__file__).resolve().parents[1]

PAGES = ("cli.md", "stacks.md", "gpu.md", "queues.md", "compute-classes.md", "monitoring.md", "own-addons.md")
PAGES += ("images.md",)

_BLOCK = re.compile(r"^```console\n\$ tpuplane (?P<command>[^\n]+)\n.*?^```$", re.DOTALL | re.MULTILINE)


def _plugin_schema() -> str:
    from tpuplane.plugin import PlatformProvider  # noqa: PLC0415 (reads the TypedDicts, which are written before it)

    return PlatformProvider().schema_text


def _page(name: str) -> str:
    """A page with its tables of fields and the outputs of its commands."""
    pages = {each: _read(f"docs/{each}") for each in PAGES}
    return _BLOCK.sub(lambda block: _output(block["command"]), with_tables(pages)[name])


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _output(command: str) -> str:
    result = CliRunner().invoke(app, shlex.split(command))
    lines = [line.rstrip() for line in result.output.rstrip().splitlines()]
    return "\n".join(("```console", f"$ tpuplane {command}", *lines, "```"))


def _policy_pack() -> str:
    return re.sub(r"(?m)^version: .*$", f"version: {version('tpuplane')}", _read("policies/PulumiPolicy.yaml"))


def _with_version(name: str) -> Callable[[], str]:
    """A project whose requirements are packages of this repository in the same version."""
    return lambda: re.sub(r'"(tpuplane[a-z-]*)==[^"]*"', rf'"\1=={version("tpuplane")}"', _read(name))


_ARGS = "components/tpuplane/args.py"

GENERATED: dict[str, Callable[[], str]] = {
    _ARGS: typed_args,
    "components/tpuplane/spec/platform.schema.json": schema_text,
    "components/schema.json": _plugin_schema,
    "components/tpuplane/diff/data/provider.yaml": provider_classes,
    "docs/policies.md": lambda: with_rules(_read("docs/policies.md")),
    "policies/PulumiPolicy.yaml": _policy_pack,
    **{name: _with_version(name) for name in ("policies/pyproject.toml", "twin/pyproject.toml")},
    "docs/pictures/acme.svg": lambda: draw(plan(load_stack(ROOT / "tests/unit/acme.yaml"))),
    "docs/errors.md": lambda: with_errors(_read("docs/errors.md"), ROOT),
    "docs/tpu.md": lambda: with_generations(_read("docs/tpu.md")),
    "docs/fidelity.md": lambda: with_fidelity(_read("docs/fidelity.md")),
    "docs/reliability.md": lambda: with_figures(_read("docs/reliability.md"), played()),
    "docs/scale.md": lambda: with_scale(_read("docs/scale.md")),
    "docs/twin-failures.md": lambda: with_times(_read("docs/twin-failures.md")),
    **{f"docs/{name}": partial(_page, name) for name in PAGES},
    **{name: partial(str, text) for name, text in template().items()},
}


def stale() -> list[str]:
    """The files that differ from what would be generated. Nothing can be generated from stale arguments."""
    with chdir(ROOT):
        modules = [str((source.go_mod_folder / "go.mod").relative_to(ROOT)) for source in go_modules.stale()]
        if _read(_ARGS) != typed_args():
            return [*modules, _ARGS]
        return modules + [name for name, text in GENERATED.items() if _read(name) != text()]


def main() -> int:
    """Generate, or only check."""
    if unknown := sorted(set(unclassed(PlatformSpec))):
        print(f"{', '.join(unknown)}: no class of a change; write the type as InPlace[…] or Annotated[…, Change(…)]")
        return 1
    if "--check" in sys.argv[1:]:
        found = stale()
        for name in found:
            print(f"{name} is stale; run make generate")
        return 1 if found else 0
    go_modules.update()
    with chdir(ROOT):
        for name, text in GENERATED.items():
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(text(), encoding="utf-8")
    python_lines.lower(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
