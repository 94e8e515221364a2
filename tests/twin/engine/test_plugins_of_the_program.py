"""Policy packs and component plugins, which the engine runs through the language host."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path

import pytest
from tpuplane_twin.shell.plugins import install_plugin

from tests.support.pulumi_program import Program

pytestmark = pytest.mark.twin


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("_yaml", ".yaml").replace("main_py", "__main__.py")).write_text(textwrap.dedent(text))
    return folder


RUNTIME = f"runtime: {{name: python, options: {{toolchain: uv, virtualenv: {json.dumps(sys.prefix)}}}}}\n"

PACK = """
    from helper import LIMIT
    from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

    def small(args, report):
        if args.resource_type == "demo:index:Thing" and args.props["size"] > LIMIT:
            report(f"size {args.props['size']} is more than {LIMIT}")

    PolicyPack("demo", [ResourceValidationPolicy("small", "Things are small.", small, EnforcementLevel.MANDATORY)])
"""

PROGRAM = """
    import pulumi
    size = pulumi.Config().require_int("size")
    pulumi.ComponentResource("demo:index:Thing", "one", {"size": size})
"""


def test_a_policy_pack_runs(stack: Program, tmp_path: Path) -> None:
    pack = write(tmp_path / "my pack", PulumiPolicy_yaml=RUNTIME + "version: 0.2.0\n", main_py=PACK)
    (pack / "helper.py").write_text("LIMIT = 4\n")
    stack.write(PROGRAM)
    stack.output("config", "set", "size", "4")
    assert "demo@v0.2.0" in stack.output("preview", "--policy-pack", str(pack))
    stack.output("config", "set", "size", "8")
    rejected = stack.output("preview", "--policy-pack", str(pack), fails=True)
    assert re.search(r"size 8(\.0)? is more than 4", rejected)
    assert "[mandatory]" in rejected


def test_a_broken_policy_pack_is_shown(stack: Program, tmp_path: Path) -> None:
    pack = write(tmp_path / "pack", PulumiPolicy_yaml=RUNTIME, main_py="raise ValueError('no pack today')")
    assert "no pack today" in stack.output("preview", "--policy-pack", str(pack), fails=True)


COMPONENT = """
    import pulumi
    from pulumi.provider.experimental import component_provider_host

    class ThingArgs:
        size: pulumi.Input[int]

    class Thing(pulumi.ComponentResource):
        size: pulumi.Output[int]

        def __init__(self, name: str, args: ThingArgs, opts=None) -> None:
            super().__init__("things:index:Thing", name, {}, opts)
            self.size = pulumi.Output.from_input(args["size"])
            self.register_outputs({"size": self.size})

    component_provider_host(name="things", version="1.2.3", components=[Thing])
"""


@pytest.fixture
def providers(stack: Program) -> None:
    """The engine installs the providers of a plugin's environment if they are missing; here it finds them."""
    for name in ("gcp", "kubernetes"):
        home = Path(stack.variables["PULUMI_HOME"])
        install_plugin(home, "resource", name, version(f"pulumi-{name}"), ["false"])


@pytest.mark.usefixtures("providers")
def test_a_component_plugin_runs(stack: Program, tmp_path: Path) -> None:
    plugin = write(tmp_path / "my plugin", PulumiPlugin_yaml=RUNTIME, main_py=COMPONENT)
    said = stack.pulumi("package", "get-schema", str(plugin)).stdout
    schema = json.loads(said[said.index("{") :])
    assert (schema["name"], schema["version"]) == ("things", "1.2.3")
    assert schema["resources"]["things:index:Thing"]["requiredInputs"] == ["size"]


@pytest.mark.usefixtures("providers")
def test_a_folder_without_plugin_is_rejected(stack: Program, tmp_path: Path) -> None:
    plugin = write(tmp_path / "plugin", PulumiPlugin_yaml=RUNTIME)
    said = stack.output("package", "get-schema", str(plugin), fails=True)
    assert "it needs a __main__.py, or a pyproject.toml with a name and a build backend" in said
