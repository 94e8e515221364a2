"""One `go build`, with its progress, and its failure as one message."""

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from tpuplane_twin.tools.catalogue import COMPILE_FLAGS, Source, ToolError, catalogue
from tpuplane_twin.tools.golang import Go


class Build:
    """Builds one source into a folder; Go's output goes to `log`."""

    def __init__(self, go: Go, source: Source, log: Path) -> None:
        self._go = go
        self._source = source
        self._log = log

    def dependencies(self) -> set[str]:
        """The folders of all packages that the build compiles; downloads missing modules.

        Sources that share folders share compiled packages. Raises `ToolError`.
        """
        if not self._source.packages:
            self._go_output("mod", "download", self._source.module)
            return set()
        return set(self._go_output("list", "-deps", "-f", "{{.Dir}}", *self._source.packages))

    def module_folder(self) -> Path:
        """The module's folder in Go's module cache, read-only."""
        return Path(self._go_output("list", "-m", "-f", "{{.Dir}}", self._source.module)[0])

    def run(self, folder: Path, report: Callable[[int], None]) -> None:
        """Write the programs into `folder`. `report` gets the number of packages compiled so far.

        Raises `ToolError`. An interruption stops Go first.
        """
        names = list(self._source.binaries)
        if not names:
            return
        # Several programs are written into a folder, under the last part of their import paths.
        target = f"{folder}/" if len(names) > 1 else str(folder / names[0])
        command = ["build", "-v", *COMPILE_FLAGS, "-ldflags", self._source.ldflags, "-o", target]
        process = subprocess.Popen(
            [self._go.command, *command, *self._source.packages],
            cwd=self._source.go_mod_folder,
            env=dict(self._go.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            said = self._follow(process, report)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if process.returncode:
            raise self._failed("could not be built", said)

    def _follow(self, process: subprocess.Popen[str], report: Callable[[int], None]) -> list[str]:
        said: list[str] = []
        compiled = 0
        with self._log.open("a") as log:
            for line in process.stderr or ():
                log.write(line)
                log.flush()
                said.append(line.rstrip())
                # With -v, Go prints the import path of each package before compiling it, and nothing else.
                if " " not in line.strip():
                    compiled += 1
                    report(compiled)
        process.wait()
        return said

    def _go_output(self, *arguments: str) -> list[str]:
        result = subprocess.run(
            [self._go.command, *arguments],
            cwd=self._source.go_mod_folder,
            env=dict(self._go.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        with self._log.open("a") as log:
            log.write(result.stderr)
        if result.returncode:
            raise self._failed("cannot be built: its modules are not available", result.stderr.splitlines())
        return result.stdout.split("\n")[:-1]

    def _failed(self, what: str, said: Iterable[str]) -> ToolError:
        telling = [line for line in said if " " in line.strip()]
        tail = "\n".join(f"  {line}" for line in telling[-6:])
        text = "\n".join(telling)
        remedy = next(known["remedy"] for known in catalogue().remedies if any(sign in text for sign in known["signs"]))
        return ToolError(
            f"{self._source.name} {self._source.version} {what}. Go's output:\n{tail}\nFull log: {self._log}\n{remedy}."
        )
