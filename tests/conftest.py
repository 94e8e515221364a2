"""What holds for every test."""

from __future__ import annotations

import gc
import signal
from pathlib import PurePosixPath

import pytest
from hypothesis import configuration, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling


def pytest_configure(config: pytest.Config) -> None:
    # A process that a shell starts in the background ignores Ctrl-C, and so would the commands that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Programs under mocks make many objects, and most tests free them at once: look for cycles less often.
    gc.set_threshold(100_000, 20, 20)
    # By default, Hypothesis keeps its tables of Unicode in the folder of the code. They take seconds to make.
    configuration.set_hypothesis_home_dir(config.rootpath / ".pytest_cache" / "hypothesis")
    # No deadline (machines differ), no example database left on disk.
    settings.register_profile("tpuplane", deadline=None, database=None)
    settings.load_profile("tpuplane")


_BY_FILE = ("tests/components", "tests/standins/gcp")


class _ByFolder(LoadScopeScheduling):
    """Gives a worker whole folders: the tests in one share a control plane or a platform, which is made once.

    In the folders of `_BY_FILE`, tests share nothing, and files are given one by one. The sweep of every field is given
    in parts, by the platform and the place of the changed field: it is the last file, and the other workers would wait.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = PurePosixPath(nodeid.partition("::")[0])
        if file.name == "test_gcp_changes.py":
            return ".".join(nodeid.split(".")[:5])
        return str(file if str(file.parent) in _BY_FILE else file.parent)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return _ByFolder(config, log)
