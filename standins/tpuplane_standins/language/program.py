"""Runs one Pulumi program. Started by the language host with the Python of the program's own environment.

That environment may have no other package than the Pulumi SDK, so this file imports nothing else and is run by path.
Settings are arguments; configuration, which may have secrets, is in the environment, where the SDK reads it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import runpy
import signal
import sys
import sysconfig
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType

# The error is reported already: the language host adds nothing. Official hosts use the same number.
EXIT_REPORTED = 32


def main() -> int:
    """Run the program that the command line names, and return the exit code."""
    # A cancelled program ends at once, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The SDKs are many objects that stay: to look through them for cycles takes a quarter of a small program's time.
    gc.set_threshold(100_000, 20, 20)
    arguments = _parse()
    try:
        from pulumi import RunError, log, runtime  # noqa: PLC0415
    except ImportError as error:
        print(
            f"{sys.prefix} has no Pulumi SDK ({error}). Add `pulumi` to the program's dependencies and run "
            "`pulumi install`",
            file=sys.stderr,
        )
        return 1
    runtime.set_all_config(runtime.get_config_env(), runtime.get_config_secret_keys_env())
    runtime.configure(
        runtime.Settings(
            project=arguments.project,
            stack=arguments.stack,
            monitor=arguments.monitor,
            engine=arguments.engine,
            parallel=arguments.parallel,
            dry_run=arguments.dry_run,
            organization=arguments.organization,
            root_directory=arguments.root_directory,
        )
    )
    os.chdir(arguments.directory)
    sys.argv = [arguments.program]

    try:
        program = partial(runpy.run_path, arguments.program, run_name="__main__")
        _run(program, runtime.run_in_stack, arguments.parallel)
    except RunError as error:
        log.error(str(error))
        return EXIT_REPORTED
    except Exception as error:
        log.error("Program failed with an unhandled exception:\n" + _user_traceback(error))
        return EXIT_REPORTED
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("project", "stack", "monitor", "engine", "organization", "root-directory", "directory"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("program")
    return parser.parse_args()


def _run(program: Callable[[], object], in_stack: Callable[..., object], parallel: int) -> None:
    # Outputs that never resolve after a failure are not worth a message.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Every resource waits for its call to the engine in one thread.
    with ThreadPoolExecutor(max_workers=max(parallel, 1) * 4) as executor:
        loop.set_default_executor(executor)
        try:
            loop.run_until_complete(in_stack(program))  # type: ignore[arg-type]
        finally:
            loop.close()
            sys.stdout.flush()
            sys.stderr.flush()


def _user_traceback(error: Exception) -> str:
    """The traceback from the program's first frame on, without the SDK and this file."""
    if isinstance(error, SyntaxError):
        return "".join(traceback.format_exception_only(error))
    frame: TracebackType | None = error.__traceback__
    while frame is not None and not _in_program(frame.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame or error.__traceback__))


def _in_program(file: str) -> bool:
    # Names such as "<frozen runpy>" are not files. The environment can be in the program's folder.
    path = Path(file).absolute()
    packages = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    return (
        not file.startswith("<")
        and path.is_relative_to(Path.cwd())
        and not any(path.is_relative_to(folder) for folder in packages)
    )


if __name__ == "__main__":
    sys.exit(main())
