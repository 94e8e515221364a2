"""The end of a process with its parent. Linux only."""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends. A change of the user cancels it."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
