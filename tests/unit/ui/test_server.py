"""The page's server: loopback, its own names only, no writes, no secret; changes are sent as such."""

from __future__ import annotations

import copy
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tpuplane.cli import app
from tpuplane.status.reading import Cluster
from tpuplane.status.watching import State
from tpuplane.ui.server import Page
from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.rehearsal.chart import chart
from typer.testing import CliRunner

from tests.support.rehearsals import DAY
from tests.support.status.api_server import ApiServer, group, kubeconfig, serving
from tests.support.status.lists import LISTS

pytestmark = pytest.mark.unit


@contextmanager
def served(made: Page) -> Iterator[Page]:
    with made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()


@pytest.fixture
def page() -> Iterator[Page]:
    with served(Page()) as made:
        yield made


@pytest.fixture
def state(tmp_path: Path) -> State:
    with serving(LISTS) as server:
        return State("lab", Cluster(kubeconfig(tmp_path, server.server_port)).read(), "")


def ask(page: Page, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", page.server_port, timeout=30)
    connection.request(method, path, headers=headers)
    return connection.getresponse()


def test_it_listens_on_loopback_alone(page: Page) -> None:
    assert page.server_address[0] == "127.0.0.1"
    assert page.address == f"http://127.0.0.1:{page.server_port}/"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/page.css", "text/css"),
        *((f"/{name}.js", "text/javascript") for name in ("page", "slices", "panels", "detail")),
    ],
)
def test_its_files_need_no_other_site(page: Page, path: str, kind: str) -> None:
    answer = ask(page, path)
    text = answer.read().decode()
    assert (answer.status, answer.headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    assert "unsafe" not in policy
    assert "https://" not in text
    assert [line for line in text.splitlines() if "http://" in line and "www.w3.org/2000/svg" not in line] == []
    assert " style=" not in text
    assert "innerHTML" not in text


def test_another_name_is_another_site(page: Page) -> None:
    """A page of another site, whose name leads to 127.0.0.1, gets nothing (DNS rebinding)."""
    for host in ("evil.example", f"evil.example:{page.server_port}", "127.0.0.1", ""):
        answer = ask(page, "/clusters", Host=host)
        assert (answer.status, answer.read()) == (403, b"the page answers to 127.0.0.1 and localhost only\n")
    assert ask(page, "/", Host=f"localhost:{page.server_port}").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_written(page: Page, method: str) -> None:
    assert ask(page, "/", method).status == 501


@pytest.mark.parametrize(
    "path", ["/changes", "/none", "/../server.py", "//page.css/..", "/%2e%2e/view.py", "/why?context=none&job=a"]
)
def test_other_paths_do_not_exist(page: Page, path: str) -> None:
    assert ask(page, path).status == 404


def test_clusters_are_sent_after_each_change(page: Page, state: State) -> None:
    page.show([state])
    stream = ask(page, "/clusters")

    def sent() -> dict[str, Any]:
        while not (line := stream.readline()).startswith(b"data: "):
            pass
        assert b"secret" not in line
        (found,) = json.loads(line.removeprefix(b"data: "))
        return dict(found)

    assert [len(part) for part in sent().values() if isinstance(part, list)] == [
        1,
        0,
        1,
        2,
        0,
    ]  # slices, queues, works, events
    assert state.objects is not None
    first, *nodes = state.objects.nodes
    nodes.append(first.model_copy(update={"unschedulable": True}))
    page.show([state._replace(objects=replace(state.objects, nodes=nodes))])
    assert "cordoned" in [cell[2] for cell in sent()["slices"][0]["cells"]]
    page.show([state._replace(objects=None, problem="no cluster answers")])
    assert ((lost := sent())["problem"], lost["slices"]) == ("no cluster answers", [])
    stream.close()


def test_a_timeline_is_sent_after_each_change(tmp_path: Path) -> None:
    """Also while no cluster changes, and from before the file exists until after it is deleted."""
    file = tmp_path / "timeline.json"
    with served(Page(file=file)) as page:
        stream = ask(page, "/clusters")
        assert stream.readline() == b": alive\n"

        def sent() -> Any:
            while stream.readline() != b"event: timeline\n":
                pass
            return json.loads(stream.readline().removeprefix(b"data: "))

        write_atomic(file, json.dumps({"title": "night", "stacks": {}, "unmet": []}))
        assert (found := sent())["heading"].endswith(": night")
        assert (found["tables"], found["unmet"]) == ([], [])
        write_atomic(file, chart([DAY]))
        assert sent()["picture"] == chart([DAY])
        write_atomic(file, '{"title": "night", "sta')
        assert "cannot be read: it is not the timeline of a rehearsal" in sent()["heading"]
        file.unlink()
        assert sent() is None
        stream.close()
    assert page.timeline() is None, "no file, no timeline"


def test_an_object_that_cannot_be_read_is_named(page: Page, state: State) -> None:
    assert state.objects is not None
    page.show([state._replace(objects=replace(state.objects, left_out=["Node h9 cannot be read"]))])
    (cluster,) = page.clusters
    assert (cluster["problem"], len(cluster["slices"])) == ("Node h9 cannot be read", 1)


def test_it_says_why_as_the_command_does(page: Page, state: State) -> None:
    page.show([state])
    found = json.loads(ask(page, "/why?context=lab&kind=JobSet&namespace=research&job=waits").read())
    assert found["title"].startswith("JobSet research/waits waits for Kueue (since ")
    assert ["queue", "research, priority 500; jobs ahead of it: 0"] in found["rows"]
    assert found["helps"]


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[tuple[Page, ApiServer]]:
    """A page of a cluster whose pod p0 has a log."""
    with serving(copy.deepcopy(LISTS)) as server:
        server.lists["/api/v1/pods"][0]["spec"]["containers"][0]["name"] = "train"
        server.logs["/api/v1/namespaces/research/pods/p0/log"] = "line\n"
        cluster = Cluster(kubeconfig(tmp_path, server.server_port))
        with served(Page(clusters=[cluster])) as page:
            page.show([State("lab", cluster.read(), "")])
            yield page, server


def test_a_failed_pod_says_why_and_has_a_log(tmp_path: Path) -> None:
    """As for the command. The page does not watch failed pods, but reads them with the job."""
    with serving(copy.deepcopy(LISTS)) as server:
        server.groups.append(group("batch", "v1"))
        owner = {"kind": "Job", "name": "train", "uid": "train", "controller": True}
        failed = copy.deepcopy(LISTS["/api/v1/pods"][0])
        failed["metadata"] |= {"name": "train-0", "uid": "train-0", "annotations": {}, "ownerReferences": [owner]}
        failed["spec"]["containers"][0]["name"] = "main"
        ended = {"name": "main", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
        failed["status"] = {"phase": "Failed", "containerStatuses": [ended]}
        server.lists["/api/v1/pods"].append(failed)
        metadata = {"name": "train", "namespace": "research", "uid": "train"}
        server.lists["/apis/batch/v1/jobs"] = [{"metadata": metadata}]
        server.logs["/api/v1/namespaces/research/pods/train-0/log"] = "out of memory\n"
        cluster = Cluster(kubeconfig(tmp_path, server.server_port))
        asked = "/why?context=lab&kind=Job&namespace=research&job="
        log = "/log?context=lab&namespace=research&pod=train-0&container=main"
        with served(Page(clusters=[cluster])) as page:
            page.show([State("lab", cluster.read(), "")])
            server.asked.clear()
            assert json.loads(ask(page, asked + "none").read())["pods"] == []
            assert (ask(page, log).status, server.asked) == (404, [])
            found = json.loads(ask(page, asked + "train").read())
            assert found["title"].startswith("Job research/train has pods or hosts that fail")
            assert ["kubelet", "train-0, container main: Error, exit code 1"] in found["rows"]
            assert [pod["name"] for pod in found["pods"]] == ["train-0"]
            assert ask(page, log).read() == b"out of memory\n"
            json.loads(ask(page, asked + "train").read())
            assert server.asked.count("/api/v1/namespaces/research/pods") == 1
        with served(Page(clusters=[cluster])) as page:
            page.show([State("lab", cluster.read(), "")])
            server.forbidden.add("/api/v1/namespaces/research/pods")
            (problem,) = [
                text for name, text in json.loads(ask(page, asked + "train").read())["rows"] if name == "problem"
            ]
            assert problem.startswith("its failed pods cannot be read: http")


LOG = "/log?context=lab&namespace=research&pod=p0&container=train"


def test_the_end_of_a_log_is_read_and_no_more(logs: tuple[Page, ApiServer]) -> None:
    page, server = logs
    answer = ask(page, LOG)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert answer.read() == b"line\n"
    server.logs["/api/v1/namespaces/research/pods/p0/log"] = "x" * 1_000_000
    assert len(ask(page, LOG).read()) == 256 * 1024
    server.forbidden.add("/api/v1/namespaces/research/pods/p0/log")
    assert b"The log cannot be read: " in ask(page, LOG).read()


@pytest.mark.parametrize(
    "other",
    [
        LOG.replace("p0", "other"),
        LOG.replace("=train", "=other"),
        LOG.replace("=lab", "=none"),
        LOG.replace("research", "kube-system"),
        LOG.replace("p0", "../../../secrets/token"),
        LOG.replace("p0", "..%2F..%2Fsecrets"),
        "/log",
    ],
)
def test_only_logs_of_shown_pods_are_read(logs: tuple[Page, ApiServer], other: str) -> None:
    page, server = logs
    server.asked.clear()
    assert ask(page, other).status == 404
    assert server.asked == []


def test_use_is_counted_since_the_page_started(page: Page, state: State) -> None:
    page.show([state])
    found = json.loads(ask(page, "/use").read())
    assert [team["team"] for team in found["teams"]] == ["research"]
    assert found["points"][0]["held"] == [4]


def test_a_port_that_is_taken_and_a_missing_kubeconfig_are_usage_errors(tmp_path: Path) -> None:
    file = str(kubeconfig(tmp_path, 9))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = CliRunner().invoke(app, ["ui", "--kubeconfig", file, "--port", str(taken.getsockname()[1])])
    assert (result.exit_code, result.stderr.splitlines()[0].rpartition("; ")[2]) == (2, "choose another with --port")
    for arguments in (["--all", "--kubeconfig", "/none"], ["--context", "other", "--kubeconfig", file]):
        assert CliRunner().invoke(app, ["ui", *arguments]).exit_code == 2


def test_a_missing_timeline_is_an_error_unless_the_twin_has_played_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, missing = str(kubeconfig(tmp_path, 9)), str(tmp_path / "none")
    with socket.socket() as taken:  # a port that is taken ends the command after its check of the timeline
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = ["ui", "--kubeconfig", file, "--port", str(taken.getsockname()[1])]
        monkeypatch.setenv("COLUMNS", "500")
        result = CliRunner().invoke(app, [*command, "--timeline", missing])
        assert result.exit_code == 2
        assert f"--timeline: {missing} cannot be read: No such file or directory; name a file that" in result.stderr
        monkeypatch.setenv("TPUPLANE_TIMELINE", file)
        assert "it is not the timeline of a rehearsal; name" in CliRunner().invoke(app, command).stderr
        monkeypatch.setenv("TPUPLANE_TIMELINE", missing)
        assert CliRunner().invoke(app, command).stderr.startswith("error: port ")
