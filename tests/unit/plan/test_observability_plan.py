"""Dashboards, alerts and collected metrics: nothing is asked for that the data does not know, with its source."""

from __future__ import annotations

import json
import re
from string import Formatter
from typing import Any

import pytest
from tpuplane.plan import PlatformPlan, plan
from tpuplane.plan.observability import ObservabilityPlan, promql
from tpuplane.spec import SpecError, parse_platform
from tpuplane.spec.core.rules import spec_data
from tpuplane.tpu import catalogue

pytestmark = pytest.mark.unit

DATA = spec_data("observability")
QUERIES = [*DATA["tiles"], *DATA["alerts"].values(), DATA["libtpu"]]


def planned(observability: Any, **addons: Any) -> PlatformPlan:
    network = {"nodesCidr": "10.1.0.0/20", "podsCidr": "10.68.0.0/14", "servicesCidr": "10.33.0.0/20"}
    clusters = {
        "one": {"location": "us-central1", "addons": addons},
        "two": {"location": "us-east5", "network": network},
    }
    described = {"name": "lab", "project": "tpuplane-lab", "labels": {"team": "ml"}, "clusters": clusters}
    if observability is not None:
        described["observability"] = observability
    return plan(parse_platform(described))


def observed(observability: Any, **addons: Any) -> ObservabilityPlan:
    return planned(observability, **addons).observability


def queries_of_the_dashboard(made: ObservabilityPlan) -> set[str]:
    assert made.dashboard is not None
    charts = [tile["widget"].get("xyChart") for tile in made.dashboard["mosaicLayout"]["tiles"]]
    return {data["timeSeriesQuery"]["prometheusQuery"] for chart in charts if chart for data in chart["dataSets"]}


def placeholders(query: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(query) if name}


@pytest.mark.parametrize("entry", QUERIES, ids=lambda entry: str(entry["title"]))
def test_a_query_names_metrics_of_the_data_only(entry: dict[str, Any]) -> None:
    named = placeholders(entry["query"]) - {"minutes", "percent"}
    assert named
    assert named <= DATA["metrics"].keys()
    # What only Kueue measures is asked for only where Kueue is.
    of_prometheus = {name for name in named if "resource" not in DATA["metrics"][name]}
    assert bool(of_prometheus) == (entry.get("needs") == "kueue")


def test_every_metric_is_used_and_has_a_source() -> None:
    used = set().union(*(placeholders(entry["query"]) for entry in QUERIES))
    assert DATA["metrics"].keys() <= used
    for entry in [*DATA["metrics"].values(), *DATA["scrapes"].values()]:
        assert entry["sources"]
        assert set(entry["sources"]) <= set(catalogue().sources)


def test_a_metric_has_the_name_that_promql_gives_it() -> None:
    # The example of https://docs.cloud.google.com/monitoring/promql/promql-mapping
    assert promql("logging.googleapis.com/user/my-metric") == "logging_googleapis_com:user_my_metric"


def test_only_metrics_with_a_topology_are_grouped_by_one() -> None:
    grouped = [entry["query"] for entry in QUERIES if "tpu_topology" in entry["query"]]
    assert set().union(*map(placeholders, grouped)) == {"tensorcore", "bandwidth"}


def test_nothing_is_made_unasked() -> None:
    nothing = planned(None)
    assert not nothing.observability.wanted
    assert not any(cluster.scrapes for cluster in nothing.clusters)


def test_queries_are_about_the_platforms_clusters() -> None:
    made = observed({}, kueue={}, monitoring={})
    assert [alert.key for alert in made.alerts] == ["slice-down", "idle-chips", "starved-queue"]
    down, idle, starved = (alert.query for alert in made.alerts)
    assert 'cluster_name=~"lab-one|lab-two"' in down
    assert "[5m]" in down
    assert "[60m]) < 5 " in idle
    # Only the first has a Kueue whose metrics are collected.
    assert 'cluster=~"lab-one"' in starved
    assert "[120m:1m]" in starved
    assert '"lab-one" OR "lab-two"' in next(iter(made.log_metrics.values()))
    assert made.labels == {"team": "ml"}


def test_what_waits_is_counted_over_both_statuses_and_by_one_replica() -> None:
    made = observed({}, kueue={}, monitoring={})
    waiting = 'sum by (cluster, cluster_queue) (kueue_pending_workloads{cluster=~"lab-one",replica_role!="follower"})'
    # One of the statuses is 0 whenever the other is not: a minimum over them would never rise.
    assert made.alerts[-1].query.startswith(f"min_over_time({waiting}[120m:1m]) > 0 ")
    assert waiting in queries_of_the_dashboard(made)


@pytest.mark.parametrize(
    ("alert", "metric", "minutes"),
    [("sliceDown", "available", 5), ("idleChips", "duty", 60), ("starvedQueue", "pending", 120)],
)
def test_an_alert_needs_a_sample_from_before_the_period_and_a_current_one(
    alert: str, metric: str, minutes: int
) -> None:
    # Otherwise one sample of a new series is the minimum and the maximum of its period, and so is one of a deleted one.
    assert re.search(
        rf"and [^{{]*{{{metric}}} and [^{{]*{{{metric}}} offset {{minutes}}m", DATA["alerts"][alert]["query"]
    )
    planned = {made.key: made.query for made in observed({}, kueue={}, monitoring={}).alerts}
    assert f"}} offset {minutes}m" in planned[re.sub("[A-Z]", lambda found: f"-{found[0].lower()}", alert)]


def test_the_first_workload_of_a_queue_counts_as_admitted() -> None:
    # Its series begins at 1, so that nothing increases.
    assert DATA["alerts"]["starvedQueue"]["query"].endswith("or ({admitted} unless {admitted} offset {minutes}m))")


def test_interruptions_between_two_points_of_the_chart_are_in_it() -> None:
    (chart,) = [query for query in queries_of_the_dashboard(observed({})) if "interruption_count" in query]
    assert re.search(r"\(sum_over_time\(kubernetes_io:node_pool_interruption_count{.*}\[\${__interval}\]\)\)$", chart)


def test_who_is_notified_of_a_starved_queue_has_no_twin() -> None:
    text = observed({}, kueue={}, monitoring={}).alerts[-1].text
    assert "`tpuplane status`" in text
    assert "twin" not in text


def test_two_platforms_of_a_project_have_a_log_metric_each() -> None:
    made = observed({})
    assert list(made.log_metrics) == ["tpuplane/lab/libtpu_errors"]
    assert "logging_googleapis_com:user_tpuplane_lab_libtpu_errors{" in json.dumps(made.dashboard)


def test_a_queue_is_watched_only_where_its_metrics_are_collected() -> None:
    for addons in ({"kueue": {}}, {"monitoring": {}}):
        made = observed({}, **addons)
        assert [alert.key for alert in made.alerts] == ["slice-down", "idle-chips"]
        assert "kueue" not in json.dumps(made.dashboard)


def test_thresholds_and_switches() -> None:
    alerts = {"sliceDown": {"enabled": False}, "idleChips": {"afterMinutes": 15, "dutyCyclePercent": 20}}
    made = observed({"dashboard": False, "libtpuErrors": False, "alerts": alerts})
    (idle,) = made.alerts
    assert "[15m]) < 20 " in idle.query
    assert "20 % of their time for 15 minutes" in idle.text
    assert made.dashboard is None
    assert made.log_metrics == {}


LINES = {
    "E1120 21:04:49.831234    1234 tpu_hal.cc:448] Failed to open /dev/vfio/0": (True, True),
    "F0000 00:00:1731234567.123456     123 slice_builder.h:12] Check failed: ok": (True, True),
    "I1120 21:04:49.831234 1234 deepsea_compiler_hlo_passes.cc:99] XLA::TPU running hlo passes": (True, False),
    # Kubernetes' own programs write the same form, from Go.
    "E1120 21:04:49.831234       1 controller.go:114] no nodes": (False, False),
    "loss 0.1 at step 448": (False, False),
}


def test_libtpus_lines_are_known_by_their_form() -> None:
    made = observed({})
    assert made.dashboard is not None
    tiles = made.dashboard["mosaicLayout"]["tiles"]
    (panel,) = [tile["widget"]["logsPanel"] for tile in tiles if "logsPanel" in tile["widget"]]
    patterns = []
    for filtered in (panel["filter"], next(iter(made.log_metrics.values()))):
        (pattern,) = re.findall(r'textPayload=~"([^"]+)"', filtered)
        # A backslash would be Cloud Logging's to read before it is the expression's.
        assert "\\" not in pattern
        patterns.append(pattern)
    found = {line: tuple(re.search(pattern_, line) is not None for pattern_ in patterns) for line in LINES}
    assert found == LINES


def test_tiles_are_next_to_each_other() -> None:
    dashboard = observed({}, kueue={}, monitoring={}).dashboard
    assert dashboard is not None
    layout = dashboard["mosaicLayout"]
    cells = [
        (x, y)
        for tile in layout["tiles"]
        for x in range(tile.get("xPos", 0), tile.get("xPos", 0) + tile["width"])
        for y in range(tile.get("yPos", 0), tile.get("yPos", 0) + tile["height"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < layout["columns"]


@pytest.mark.parametrize(
    ("addons", "collected"),
    [
        ({}, {"tpu-device-plugin"}),
        ({"kueue": {}}, {"tpu-device-plugin", "kueue"}),
        ({"ray": {"mode": "operator"}, "certManager": {}}, {"tpu-device-plugin", "ray"}),
        ({"ray": {"mode": "none"}}, {"tpu-device-plugin"}),
    ],
)
def test_what_is_collected_follows_the_add_ons(addons: dict[str, Any], collected: set[str]) -> None:
    one, two = planned(None, monitoring={"intervalSeconds": 60}, **addons).clusters
    assert not two.scrapes
    assert {scrape.name for scrape in one.scrapes} == collected
    assert {scrape.spec["endpoints"][0]["interval"] for scrape in one.scrapes} == {"60s"}


def test_a_channel_is_named_in_full() -> None:
    with pytest.raises(SpecError) as rejected:
        observed({"notificationChannels": ["pager"]})
    assert str(rejected.value).startswith("observability.notificationChannels[0]: 'pager' is not the name of a")
