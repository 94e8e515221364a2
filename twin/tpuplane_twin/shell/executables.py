"""Executables of a twin's shell, charts of add-ons, and Pulumi's providers."""

import sysconfig
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from tpuplane_twin.machine.files import link_atomic, write_if_changed
from tpuplane_twin.machine.paths import TwinPaths, commands, users_path
from tpuplane_twin.shell import engine, plugins
from tpuplane_twin.tools import Tools
from tpuplane_twin.tools.addons import own_addons

# The engine requires the version of the SDK package `pulumi-NAME`.
_PROVIDERS = ("gcp", "kubernetes")
# The version that the built provider reports: the engine warns about one that is older than the SDK.
_SDK_VERSION = "TPUPLANE_SDK_VERSION"
# The project's commands, which run in the current environment.
_COMMANDS = ("tpuplane", "tpuplane-plan-gate", "tpuplane-twin")
# Charts in the modules of the tools that the twin builds. KubeRay's module has none.
_CHARTS = ("kueue", "jobset")


def install(paths: TwinPaths, tools: Tools) -> None:
    """Write missing and outdated files. Idempotent, also while the twin is up."""
    engine.install_engine(paths, tools)
    link_atomic(paths.bin / "kubectl", tools.binary("kubectl"))
    plugin = files(__package__).joinpath("data/gke-gcloud-auth-plugin.sh").read_text(encoding="utf-8")
    write_if_changed(paths.bin / "gke-gcloud-auth-plugin", plugin, mode=0o700)
    install_commands()
    for name in _CHARTS:
        link_atomic(paths.charts / name, tools.module(name) / "charts" / name)
    for addon in own_addons():
        link_atomic(paths.charts / addon.chart, addon.folder / addon.chart)
    for name in _PROVIDERS:
        _install_provider(engine.pulumi_home(paths), name, version(f"pulumi-{name}"), tools)


def install_commands() -> None:
    """Links to the commands of this installation. Each one has a folder of its own: a twin can be another one's."""
    commands().mkdir(parents=True, exist_ok=True)
    for name in _COMMANDS:
        link_atomic(commands() / name, Path(sysconfig.get_path("scripts")) / name)


def _install_provider(home: Path, name: str, wanted: str, tools: Tools) -> None:
    """The official provider, if it is on PATH or among Pulumi's plugins, else the built one or the stand-in."""
    users = engine.users_home()
    found = plugins.find_installed("resource", name, wanted, users_path(), [] if users == home else [users])
    if found is None:
        built = f"pulumi-resource-{name}"
        command: list[str | Path]
        if built in tools.binaries:
            command = ["env", f"{_SDK_VERSION}={wanted}", tools.binary(built)]
        else:
            command = [*plugins.stand_in("resource", name)]
        plugins.install_plugin(home, "resource", name, wanted, command)
    elif found.is_relative_to(users):
        plugins.install_plugin(home, "resource", name, wanted, [found])
    else:
        # The engine finds it on PATH.
        plugins.remove_plugin(home, "resource", name)
