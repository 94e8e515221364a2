"""The modules that a program loads, in an interpreter of its own."""

import subprocess
import sys


def imported(program: str, *prefixes: str) -> list[str]:
    """The names of the modules with one of these prefixes after `program` has run."""
    code = f"import sys\n{program}\nprint(*(name for name in sys.modules if name.startswith({prefixes!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()
