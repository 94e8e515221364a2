"""The page of `tpuplane ui` in a headless Chromium, with 19 to 12,736 simulated TPU hosts behind real API requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from tpuplane.status.reading import Cluster
from tpuplane.status.watching import watch
from tpuplane.ui.server import Page
from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.rehearsal.chart import chart
from tpuplane_twin.rehearsal.summary import summary

from tests.support import REPOSITORY
from tests.support.eventually import wait_until
from tests.support.preflight.google_cloud import google_cloud
from tests.support.rehearsals import DAY
from tests.support.simulated import google, huge, prod
from tests.support.status.api_server import KUEUE, ApiServer, group, serving

pytestmark = pytest.mark.browser

PICTURES = REPOSITORY / "docs" / "pictures"
NODES = "/api/v1/nodes"
SLICES = "/apis/accelerator.gke.io/v1beta1/slices"
Show = Callable[..., tuple[Page, list[ApiServer]]]


def soon(look: Callable[[], object]) -> None:
    """Wait in a thread, because Playwright has the event loop of this one."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(wait_until, look, pause=0.1).result()


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Show]:
    """Serve clusters by API servers and Google's API, and the page by `watch`, as the command does."""
    with ExitStack() as stack:

        def run(clusters: dict[str, Any], *, known: bool = True) -> tuple[Page, list[ApiServer]]:
            servers = [stack.enter_context(serving(lists, page_size=500)) for lists in clusters.values()]
            for server in (server for server in servers if SLICES in server.lists):
                server.groups.append(group("accelerator.gke.io", "v1beta1"))
            file = tmp_path / "kubeconfig"
            config = {
                "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": "me"}} for cluster in clusters],
                "clusters": [
                    {"name": name, "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
                    for name, server in zip(clusters, servers, strict=True)
                ],
                "users": [{"name": "me", "user": {"token": "secret"}}],
            }
            file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "", **config}))
            stack.enter_context(google_cloud(google(clusters) if known else {})).setenv(monkeypatch)
            sources = [Cluster(file, cluster) for cluster in clusters]
            page = stack.enter_context(Page(clusters=sources, file=tmp_path / "timeline.json"))
            threading.Thread(target=page.serve_forever, daemon=True).start()
            stack.callback(page.shutdown)
            followed = watch(sources, pause=0.1)
            threading.Thread(target=lambda: [page.show(clusters_) for clusters_ in followed], daemon=True).start()
            soon(lambda: any(cluster["slices"] for cluster in page.clusters))
            return page, servers

        yield run


def totals(page: Any) -> dict[str, str]:
    names, values = (page.locator(f"#totals {name}").all_inner_texts() for name in ("dt", "dd"))
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize(
    ("name", "clusters", "hosts", "slices"),
    [("19", partial(prod, "local"), 23, 10), ("594", prod, 598, 22), ("12736", huge, 12_740, 200)],
)
def test_every_slice_is_shown_and_readable(
    show: Show, opened: Any, tools: Path, name: str, clusters: Callable[[], Any], hosts: int, slices: int
) -> None:
    served, _ = show(clusters())
    for scheme in ("light", "dark"):
        opened_page = opened(served.address, color_scheme=scheme)
        assert totals(opened_page.page)["TPU hosts ready"].endswith(f" of {hosts:,}")
        assert opened_page.page.locator(".tile").count() == slices
        assert opened_page.page.locator("*").count() < 30 * slices + 1_500  # quick: not an element for each host
        assert opened_page.violations(tools) == []
        assert {request.startswith(served.address) or request == "data:," for request in opened_page.requests} == {True}
    opened_page.page.emulate_media(color_scheme="light")
    opened_page.page.set_viewport_size({"width": 1280, "height": 800})
    picture = PICTURES / f"see-{name}.jpg"
    opened_page.page.screenshot(path=picture, type="jpeg", quality=50)
    assert picture.stat().st_size < 200_000


def test_a_wide_window_is_full(show: Show, opened: Any) -> None:
    """Hosts are larger in a larger window, and nothing needs scrolling to the side."""
    served, _ = show(prod("local"))
    areas = []
    for width, height in ((1280, 800), (1920, 1080)):
        page = opened(served.address, viewport={"width": width, "height": height}).page
        box = page.locator(".tile svg").first.bounding_box()
        areas.append(box["width"] * box["height"])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        last = page.locator("#more section").last.bounding_box()
        assert last["x"] + last["width"] > (width - 60 if width > 1600 else 0)
    assert areas[0] < areas[1]


def test_every_panel_is_in_a_wide_window(show: Show, opened: Any) -> None:
    """No one scrolls a screen on a wall: long lists scroll in their panels, and no panel is below the window."""
    served, _ = show(prod())
    page = opened(served.address, viewport={"width": 1920, "height": 1080}).page
    page.wait_for_selector("#use table")
    for section in page.locator("aside > section:visible").all():
        box = section.bounding_box()
        assert box["height"] > 80
        assert box["y"] + box["height"] <= 1080, section.get_attribute("aria-labelledby")


def test_the_chart_shows_the_chips_that_exist_below_a_much_larger_demand(show: Show, opened: Any) -> None:
    served, _ = show(prod("local"))
    page = opened(served.address).page
    page.wait_for_selector("#use svg path", state="attached", timeout=30_000)
    held = sum(resource.bounding_box()["height"] for resource in page.locator("#use svg .own").all())
    assert held > page.locator("#use svg").bounding_box()["height"] / 2
    assert "up to 6,152. Top: 80 chips." in page.locator("#use p").inner_text()


def test_states_of_pools_jobs_and_times(show: Show, opened: Any) -> None:
    served, _ = show(prod())
    page = opened(served.address, timezone_id="Asia/Tokyo").page
    assert page.locator("#clock").inner_text().endswith("local time (Asia/Tokyo)")
    first = page.locator("#attention li").first.inner_text()
    assert "spare-0" in first
    assert "ERROR since 23 Nov, 19:00:00: Node scale up" in first  # 10:00 UTC
    assert page.locator(".tile.bad").count() == 1
    assert page.locator(".tile.moving").count() == 1
    about = page.locator(".about").first.inner_text()
    assert "GKE 1.35.4-gke.1000000, REGULAR" in about
    assert "UPGRADE_NODES of system since 23 Nov, 19:00:00 · pools from Google's API, project acme" in about
    counted = totals(page)
    lists = {name: page.locator(f"#{name} li").count() for name in ("stuck", "waiting", "running")}
    names = {"stuck": "jobs that cannot run", "waiting": "jobs waiting", "running": "jobs running"}
    assert lists == {key: int(counted[name]) for key, name in names.items()}
    assert "can get at most 1024" in page.locator("#stuck li").first.inner_text()
    row = page.locator("#running li").first.inner_text()
    assert "queue product" in row
    assert "normal" in row
    assert "on pretrain-0" in row
    page.locator(".tile.bad").click()
    page.wait_for_selector("#facts dl")
    facts = page.locator("#facts").inner_text()
    assert "ERROR since 23 Nov, 19:00:00" in facts
    assert page.locator("a[href*='console']").count() == 0  # another endpoint than Google's


def test_the_page_has_the_links_of_status(show: Show, opened: Any, tools: Path) -> None:
    """Google's API does not know the cluster here. A twin's endpoint, which knows its clusters, means no links."""
    served, _ = show(huge(3), known=False)
    opened_page = opened(served.address)
    page, console = opened_page.page, "https://console.cloud.google.com/"

    def shown(place: str) -> list[tuple[str, str, str]]:
        found = page.locator(f"{place} a").all()
        assert {(link.get_attribute("target"), link.get_attribute("rel")) for link in found} == {
            ("_blank", "noopener noreferrer")
        }
        addresses = [(link.inner_text(), urlsplit(link.get_attribute("href"))) for link in found]
        return [(text, f"{to.scheme}://{to.netloc}/", f"{unquote(to.path)}?{to.query}") for text, to in addresses]

    cluster = shown(".about")
    assert [(text, site) for text, site, _ in cluster] == [("logs", console), ("dashboards", console)]
    page.click(".tile >> nth=0")
    page.wait_for_selector("#facts dl")
    logs, own = shown("#facts")
    assert (logs[:2], own[:2]) == (("logs", console), ("page", console))
    assert 'resource.labels.nodepool_name="pretrain-0"?project=acme' in logs[2]
    assert own[2] == "/kubernetes/nodepool/us-east5/huge/pretrain-0?project=acme"
    page.keyboard.press("Escape")
    page.locator("#running li button").first.click()
    page.wait_for_selector("#facts .pods")
    namespace, _, name = page.locator("#detail-title").inner_text().partition("/")
    ((text, site, query),) = shown("#facts")
    assert (text, site) == ("logs", console)
    assert f'resource.labels.namespace_name="{namespace}"\nresource.labels.pod_name=~"^{name}(-|$)"?' in query
    assert opened_page.violations(tools) == []
    assert {request.startswith(served.address) or request == "data:," for request in opened_page.requests} == {True}


def test_the_log_of_a_pod_is_shown(show: Show, opened: Any, tools: Path) -> None:
    served, (server,) = show(huge())
    opened_page = opened(served.address)
    opened_page.page.click("#waiting >> text=default/lonely")
    server.logs["/api/v1/namespaces/default/pods/lonely-0/log"] = "step 1\n<b>step 2</b>\n"
    opened_page.page.click("text=log of train")
    opened_page.page.wait_for_selector("#log pre:has-text('step 1')")
    assert opened_page.page.locator("#log pre").inner_text() == "step 1\n<b>step 2</b>\n"
    assert opened_page.page.locator("#log b").count() == 0
    assert opened_page.violations(tools) == []


def test_the_use_of_chips_is_counted(show: Show, opened: Any) -> None:
    served, _ = show(huge())
    page = opened(served.address).page
    page.wait_for_selector("#use table")
    teams = page.locator("#use tbody th").all_inner_texts()
    assert {team.split()[-1] for team in teams} >= {"research", "product", "vision", "free", "usable"}
    assert page.locator("#use-title").inner_text().startswith("Use of chips since ")


def test_slices_of_cubes_are_a_table(show: Show, opened: Any) -> None:
    clusters = huge(2)
    state = {"type": "Ready", "status": "False", "reason": "FAILED", "message": "a host is lost"}
    made = {
        "metadata": {"name": "research-train-0", "resourceVersion": "1"},
        "spec": {"topology": "4x4x8", "partitionIds": ["0123456789abcdef", "fedcba9876543210"]},
        "status": {"conditions": [state]},
    }
    served, _ = show(clusters)
    page = opened(served.address).page
    page.wait_for_selector("#use table")
    assert page.locator("#cubes").is_hidden()
    clusters["gke_acme_us-east5_huge"][SLICES] = [made]
    served, _ = show(clusters)
    page = opened(served.address).page
    page.wait_for_selector("#cubes tbody tr")
    cells = page.locator("#cubes tbody").locator("th, td").all_inner_texts()
    assert cells == ["research-train-0", "4x4x8", "FAILED: a host is lost", "01234567, fedcba98", ""]


def test_a_change_is_drawn_at_once(show: Show, opened: Any) -> None:
    served, (server,) = show(huge())
    page = opened(served.address).page
    node: dict[str, Any] = deepcopy(
        next(manifest for manifest in server.lists[NODES] if manifest["metadata"]["name"] == "gke-pretrain-1-0000")
    )
    before = page.locator(".tile").nth(1).get_attribute("title")
    assert "64 of 64 hosts ready" in before
    soon(lambda: server.watches.get(NODES))
    node["status"]["conditions"] = [{"type": "Ready", "status": "False", "message": "kubelet is stopped"}]
    page.locator(".tile").nth(1).focus()
    server.change(NODES, "MODIFIED", node)
    page.wait_for_selector(".tile[title*='pretrain-1: v6e 16x16, 63 of 64 hosts ready']")
    assert page.evaluate("document.activeElement.title").startswith("pretrain-1: ")  # the focus remains
    page.keyboard.press("Enter")
    assert "gke-pretrain-1-0000 is not ready: kubelet is stopped" in page.locator("#detail").inner_text()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1920), ("light", 320)])
def test_a_rehearsal_is_shown_replaced_and_removed(
    show: Show, opened: Any, tools: Path, tmp_path: Path, scheme: str, width: int
) -> None:
    served, _ = show(prod("local"))
    opened_page = opened(served.address, color_scheme=scheme, viewport={"width": width, "height": 900})
    page, file = opened_page.page, tmp_path / "timeline.json"
    assert page.locator("#timeline").is_hidden()
    result = {"title": "A night", "stacks": {"acme": summary(DAY)}, "unmet": ["overall.succeeded is <b>1</b>"]}
    write_atomic(file, json.dumps(result | {"picture": chart([DAY])}))
    page.wait_for_selector("#timeline img")
    page.wait_for_function("document.querySelector('#timeline img').naturalWidth > 800")
    assert "Chips over time" not in page.locator("#timeline").inner_text()
    assert page.locator("#timeline-title").inner_text().endswith(": A night")
    assert "not as expected: overall.succeeded is <b>1</b>" in page.locator("#timeline").inner_text()
    assert page.locator("#timeline .time tbody tr").nth(1).inner_text().split("\t") == [
        "1h 00m",
        "trainer-1 lost a host",
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#timeline img").bounding_box()["width"] <= width
    page.locator("#timeline .figure").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == "Events on acme"
    assert opened_page.violations(tools) == []
    write_atomic(file, json.dumps({"title": "A day", "stacks": {"a": summary(DAY), "b": summary(DAY)}, "unmet": []}))
    page.wait_for_selector("#timeline-title:has-text(': A day')")
    assert page.locator("#timeline img").count() == 0
    assert page.locator("#timeline .heading").all_inner_texts() == [
        "platform",
        "all jobs",
        "jobs of product",
        "jobs of research",
    ]
    assert opened_page.violations(tools) == []
    file.unlink()
    page.wait_for_selector("#timeline", state="hidden")


def test_the_keyboard_reaches_everything(show: Show, opened: Any) -> None:
    served, _ = show(huge())
    page = opened(served.address).page

    def at() -> str:
        return str(page.evaluate("document.activeElement.title || document.activeElement.id")).partition(":")[0]

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the slices"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert at() == "pretrain-0"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    below = int(at().rpartition("-")[2])
    assert below > 5
    page.keyboard.press("ArrowUp")
    assert at() == "pretrain-1"
    page.keyboard.press("End")
    assert at() == "spare-0"
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_selector("#detail h2")
    assert (at(), page.locator("#detail h2").inner_text()) == ("close", "pretrain-0")
    page.keyboard.press("Escape")
    page.wait_for_selector("#detail", state="hidden")
    assert at() == "pretrain-0"
    page.fill("#filter", "pretrain-17")
    page.locator(".tile").nth(11).wait_for(state="detached")
    assert page.locator(".tile").count() == 11


def test_a_waiting_job_joins_all_reasons(show: Show, opened: Any, tools: Path) -> None:
    served, _ = show(huge())
    opened_page = opened(served.address)
    opened_page.page.click("#waiting >> text=default/lonely")
    opened_page.page.wait_for_selector("#detail dl")
    said = opened_page.page.locator("#detail").inner_text()
    assert "Insufficient google.com/tpu" in said
    assert "failed: GCE_STOCKOUT" in said
    assert "Google Cloud has no such hosts in this zone now" in said
    assert opened_page.violations(tools) == []


def test_each_workload_of_a_job_is_listed_once(show: Show, opened: Any) -> None:
    """A LeaderWorkerSet has a workload for each replica."""
    clusters = huge(2)
    ((_, lists),) = clusters.items()
    (first,) = (one for one in lists[KUEUE + "workloads"] if one["metadata"]["name"] == "jobset-waits-0")
    lists[KUEUE + "workloads"].append({**first, "metadata": {**first["metadata"], "name": "second", "uid": "second"}})
    served, _ = show(clusters)
    page = opened(served.address).page
    for _ in range(3):
        page.evaluate("draw()")
    assert page.locator("#waiting li:has-text('research/waits-0')").count() == 2


def test_a_job_that_holds_a_slice_is_opened_from_it(show: Show, opened: Any) -> None:
    served, _ = show(huge(9))
    page = opened(served.address).page
    page.locator(".tile[title*='held by']").first.click()
    page.locator("#detail li button").first.click()
    page.wait_for_selector("#detail p:has-text('JobSet ')")


def test_missing_hosts_are_not_free(show: Show, opened: Any) -> None:
    clusters = huge(1)
    ((_, lists),) = clusters.items()
    pods = lists["/api/v1/pods"]
    lists[NODES] = [
        node for node in lists[NODES] if any(pod["spec"].get("nodeName") == node["metadata"]["name"] for pod in pods)
    ][:60]
    served, _ = show(clusters)
    assert totals(opened(served.address).page)["of it on free hosts"].endswith("$0.00")


def test_a_lost_cluster_is_said(show: Show, opened: Any) -> None:
    served, servers = show(prod())
    page = opened(served.address).page
    servers[0].rejection = 403
    servers[0].cut()
    page.wait_for_selector("text=a cluster cannot be read")
    page.wait_for_selector(".problem:has-text('rejects the request')")
    assert page.locator(".tile").count() == 22


@pytest.mark.parametrize("width", [320, 800])
def test_a_narrow_window_needs_no_scrolling_to_the_side(show: Show, opened: Any, width: int) -> None:
    served, _ = show(prod())
    page = opened(served.address, viewport={"width": width, "height": 700}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
