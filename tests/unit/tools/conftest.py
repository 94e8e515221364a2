from __future__ import annotations

from pathlib import Path

import pytest
from tpuplane_twin import tools
from tpuplane_twin.tools.catalogue import catalogue

from tests.support.executables import Script


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hosts of the projects are not asked."""
    monkeypatch.setenv("TPUPLANE_RELEASES", "none")
    monkeypatch.delenv("TPUPLANE_TOOLS", raising=False)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Writes executables into a folder that is put first on PATH, before the shell's own programs."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.delenv("UV", raising=False)

    def write(name: str, body: str) -> Path:
        file = folder / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
        return file

    return write


@pytest.fixture
def go(script: Script, tmp_path: Path) -> Path:
    """A `go` that is new enough, knows one module, and "compiles" two packages.

    What it was told is in calls.log; it fails where the file `fails` says how.
    """
    module = tmp_path / "module"
    (module / "config" / "crd").mkdir(parents=True)
    (module / "config" / "crd" / "kind.yaml").write_text("kind: CustomResourceDefinition\n")
    (module / "config" / "crd" / "kind.yaml").chmod(0o444)
    (module / "charts").mkdir()
    return script(
        "go",
        f"""
echo "$* GOFLAGS=$GOFLAGS GOTOOLCHAIN=$GOTOOLCHAIN" >> {tmp_path}/calls.log
case "$*" in
  "env GOVERSION") echo go1.99.0;;
  "env GOCACHE GOMODCACHE") echo {tmp_path}/gocache; echo {tmp_path}/gomodcache;;
  get*) touch go.sum;;
  list*-m*) echo {module};;
  list*) printf '%s\\n' /src/a /src/b;;
  build*)
    echo example.com/a >&2; echo example.com/b >&2
    if [ -f {tmp_path}/fails ]; then cat {tmp_path}/fails >&2; exit 1; fi
    while [ "$1" != -o ]; do shift; done
    target=$2; shift 2
    case "$target" in
      */) for program; do echo built > "$target${{program##*/}}"; done; chmod +x "$target"*;;
      *) echo built > "$target"; chmod +x "$target";;
    esac;;
esac
""",
    )


@pytest.fixture
def packed(go: Path, tmp_path: Path) -> tuple[Path, str]:
    """A bundle of all tools, its digest, and no compiler on PATH."""
    for folder in {name for source in catalogue().sources for name in source.folders}:
        (tmp_path / "module" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "module" / folder / "object.yaml").write_text("kind: Namespace\n")
    file = tmp_path / "tools.zip"
    digest = tools.write_bundle(file, cache=tmp_path / "built")
    go.unlink()
    return file, digest
