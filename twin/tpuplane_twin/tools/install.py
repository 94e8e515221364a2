"""`ensure`: the requested tools, from the cache, from a bundle, from the projects' releases, or built."""

import os
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tpuplane_twin.machine.paths import cache_root, users_path
from tpuplane_twin.tools import bundle, releases
from tpuplane_twin.tools.build import Build
from tpuplane_twin.tools.catalogue import Platform, Source, ToolError, catalogue
from tpuplane_twin.tools.golang import find_go
from tpuplane_twin.tools.official import brings, find_official
from tpuplane_twin.tools.progress import WAITING, Estimate, ProgressCallback, Status
from tpuplane_twin.tools.store import Store, copy_writable

_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Tools:
    """The paths of the tools. `official_pulumi` is set when an installed Pulumi is used instead of a built one."""

    binaries: Mapping[str, Path]
    modules: Mapping[str, Path]
    official_pulumi: Path | None = None

    def binary(self, name: str) -> Path:
        """The executable of the tool called `name`, such as "kube-apiserver"."""
        return self._of(self.binaries, name, "program")

    def module(self, name: str) -> Path:
        """The folder with those parts of the Go module that `tools.yaml` names: CRDs, RBAC, charts, samples."""
        return self._of(self.modules, name, "manifests")

    @staticmethod
    def _of(known: Mapping[str, Path], name: str, what: str) -> Path:
        if name not in known:
            raise ToolError(f"the {what} of {name!r} is not installed here; installed: {', '.join(known)}")
        return known[name]


def ensure(
    names: Iterable[str] | None = None,
    progress: ProgressCallback = lambda status: None,
    *,
    cache: Path | None = None,
    more: Iterable[Source] = (),
) -> Tools:
    """The tools called `names`; missing ones come from the bundle of TPUPLANE_TOOLS, else from releases, or are built.

    The default is all, of those on request only what is built. With everything cached it starts no process and takes
    milliseconds. Of two calls at once, the second waits for the first. After a kill, the next call builds again.
    `cache` defaults to the user's; `more` are sources in addition to those of the twin. Raises `ToolError`.
    """
    known = replace(catalogue(), sources=(*catalogue().sources, *more))
    root = (cache or cache_root()).absolute()
    store = Store(root, Platform.here())
    here = (source for source in known.sources if not source.on_request or store.has(source))
    wanted = set(names if names is not None else (name for source in here for name in source.tools))
    official = None
    if "pulumi" in wanted:
        official = find_official(users_path(), root)
        if official:
            wanted -= {name for name in wanted if brings(official, name)} - {"pulumi"}
    sources = known.sources_of(wanted - ({"pulumi"} if official else set()))
    if not all(store.has(source) for source in sources):

        def came_meanwhile() -> bool:
            progress(WAITING)
            return all(store.has(source) for source in sources)

        with store.locked(came_meanwhile) as ours:
            missing = tuple(source for source in sources if not store.has(source))
            if ours and missing:
                _provide(missing, store, progress)
    return _tools(wanted, sources, store, official)


def write_bundle(file: Path, *, cache: Path | None = None) -> str:
    """Write all tools to a bundle for other machines, also a Pulumi that this one does not need. Returns its digest.

    Missing tools are built. Raises `ToolError`.
    """
    store = Store((cache or cache_root()).absolute(), Platform.here())
    with store.locked(lambda: False):
        missing = tuple(source for source in catalogue().usual if not store.has(source))
        if missing:
            _provide(missing, store, lambda status: None)
        return bundle.write(file, store)


def _provide(missing: tuple[Source, ...], store: Store, progress: ProgressCallback) -> None:
    if place := os.environ.get(bundle.VARIABLE):
        bundle.unpack(place, missing, store, progress)
        return
    rest = releases.install(missing, store, progress)
    if rest:
        _build(rest, store, progress)


def _tools(wanted: set[str], sources: Iterable[Source], store: Store, official: Path | None) -> Tools:
    folders = {source.name: store.folder(source) for source in sources}
    binaries = {
        name: folders[source.name] / "bin" / name for source in sources for name in source.binaries if name in wanted
    }
    if official:
        binaries["pulumi"] = official
    modules = {source.name: folders[source.name] / "module" for source in sources if source.folders}
    return Tools(binaries, modules, official)


def _build(missing: tuple[Source, ...], store: Store, progress: ProgressCallback) -> None:
    progress(Status("preparing the Go toolchain"))
    go = find_go(missing, store.cache, store.system)
    _check_disk(missing, (store.cache, *go.caches()))
    estimate = Estimate(missing, progress)
    builds = {source.name: Build(go, source, store.log(source)) for source in missing}
    compiled: set[str] = set()
    # One thread downloads modules ahead of the compiler, which needs processors and no network.
    with ThreadPoolExecutor(1, thread_name_prefix="modules") as fetcher:
        fetched = {source.name: fetcher.submit(builds[source.name].dependencies) for source in missing}
        try:
            for source in missing:
                estimate.downloading(source)
                packages = fetched[source.name].result()
                expected = len(packages - compiled)
                build = builds[source.name]
                with store.publishing(source) as folder:
                    build.run(folder / "bin", partial(estimate.compiled, source, expected=expected))
                    if source.folders:
                        module = build.module_folder()
                        for name in source.folders:
                            copy_writable(module / name, folder / "module" / name)
                compiled |= packages
                estimate.finished(source)
        except BaseException:
            fetcher.shutdown(wait=False, cancel_futures=True)
            raise


def _check_disk(missing: tuple[Source, ...], folders: Iterable[Path]) -> None:
    share = sum(source.seconds for source in missing) / sum(source.seconds for source in catalogue().usual)
    needed = catalogue().disk_gib * share
    for folder in folders:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free / _GIB
        if free < needed:
            raise ToolError(
                f"building the tools takes about {needed:.1f} GiB, and the disk of {folder} has {free:.1f} GiB "
                "free. Free some space there, or set TPUPLANE_CACHE, GOCACHE and GOMODCACHE to folders on a disk "
                "that has it"
            )
