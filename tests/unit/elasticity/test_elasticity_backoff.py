"""What a failed scale-up excludes and for how long, as in the source of GKE's autoscaler."""

from __future__ import annotations

import pytest
from tpuplane_twin.elasticity.demand import Provisioning
from tpuplane_twin.elasticity.elasticity import InvalidSetting, stockout_scope
from tpuplane_twin.elasticity.failures import Failures
from tpuplane_twin.elasticity.groups import Group

from tests.support.elasticity.elastic_objects import cpu_group, group, pod
from tests.support.elasticity.provisioning_views import (
    CLASS,
    KEY,
    TPU,
    G,
    Json,
    cheap,
    cheap_hosts,
    look,
    made,
    of_class,
    there,
)

pytestmark = pytest.mark.unit

STOCKOUT = "[GCE_STOCKOUT]: no resources"
QUOTA = "[GCE_QUOTA_EXCEEDED]: Quota 'TPUS' exceeded."
WAIT = f"{G}/gke-capacity-check-wait-time-seconds"
RESERVATION_NAME = "compute.googleapis.com/reservation-name"
ZONES = ("us-east5-a", "us-east5-b")
MACHINES = [{"machineType": "ct6e-standard-8t"}, {"machineType": "ct6e-standard-8t", "spot": True}]


def declared(name: str, zone: str, **config: object) -> Group:
    machine: Json = {"machineType": "ct6e-standard-8t", "labels": {CLASS: "cheap"}, **config}
    limits = {"enabled": True, "maxNodeCount": 1}
    return group(name, "ct6e-standard-8t", zones=(f"us-east5-{zone}",), config=machine, autoscaling=limits)


def machines(**spec: object) -> Provisioning:
    """A class of on-demand machines, then of Spot ones, in declared pools."""
    given = {"priorities": MACHINES, "nodePoolAutoCreation": {"enabled": False}, **spec}
    return Provisioning(KEY, classes={"cheap": cheap(**given)})


def chosen(at: Provisioning, failures: Failures, now: float, *pools: Group, zone: str = "") -> set[str]:
    """The pools that grow for a pod of the class, in a zone if one is given."""
    selector = {CLASS: "cheap", **({"topology.kubernetes.io/zone": zone} if zone else {})}
    spec = {"nodeSelector": selector, "tolerations": [{"operator": "Exists"}]}
    waiting = pod("p", requests={"google.com/tpu": 8}, spec=spec)
    decision = look([waiting], *pools, at=at, now=now, backoff=failures.backoff(now), awaited=failures.awaited(now))
    return {growth.after.name for growth in decision.up.growths}


@pytest.mark.parametrize(
    ("scope", "cause", "elsewhere"),
    [("zone", STOCKOUT, "first-b"), ("zone", QUOTA, "second-b"), ("region", STOCKOUT, "second-b")],
)
def test_a_stockout_suspends_a_priority_in_its_zone_and_a_quota_error_in_its_region(
    scope: str, cause: str, elsewhere: str
) -> None:
    at, failures = machines(), Failures(stockout_scope=scope)
    first, second = (
        [declared(f"{n}-{zone}", zone, **spot) for zone in "ab"]
        for n, spot in (("first", {}), ("second", {"spot": True}))
    )
    twin = declared("first-too", "a")
    assert failures.failed(first[0], first[0].zones, 0, cause, rule=at.rule(first[0]))
    pools = (*first, *second, twin)
    assert chosen(at, failures, 299, *pools, zone="us-east5-b") == {elsewhere}
    assert chosen(at, failures, 299, *pools, zone="us-east5-a") == {"second-a"}, "of no pool of the priority"
    assert chosen(at, failures, 300, *pools, zone="us-east5-a") <= {"first-a", "first-too"}


def test_the_pods_of_a_zone_without_capacity_go_to_another_of_the_same_priority() -> None:
    """Also within one pool: each zone is an instance group of its own."""
    failures, wide = Failures(), cpu_group(zones=ZONES, maxNodeCount=2)
    failures.failed(wide, ZONES, 0, f"{STOCKOUT} in zones/{ZONES[0]}")
    decision = look([pod("p"), pod("q")], wide, at=Provisioning(), backoff=failures.backoff(1))
    (growth,) = decision.up.growths
    assert growth.zones == [ZONES[1]]
    failures.succeeded(wide, growth.zones)
    assert failures.backoff(1), "the other zone still has none"


@pytest.mark.parametrize("zone", ["us-central1-a", "us-central1-ai1a"])
def test_a_zone_is_not_another_one_whose_name_begins_like_it(zone: str) -> None:
    failures, wide = Failures(), cpu_group(zones=("us-central1-a", "us-central1-ai1a"))
    assert list(failures.failed(wide, wide.zones, 0, f"{STOCKOUT} in zones/{zone}")) == [f"{wide.key}/{zone}"]


def test_some_priorities_are_never_suspended() -> None:
    named: Json = {"nodepools": ["named"]}
    at, anyway = machines(priorities=[named, *MACHINES]), machines(whenUnsatisfiable="ScaleUpAnyway")
    last = declared("last", "b", spot=True)
    assert (at.rule(declared("named", "b")), at.rule(declared("middle", "b")), at.rule(last)) == ("", "cheap/1", "")
    assert anyway.rule(last) == "cheap/1"
    assert at.rule(cpu_group()) == ""


@pytest.mark.parametrize(("names", "rule"), [(["r"], "cheap/0"), (["r", "other"], "")])
def test_a_priority_of_one_reservation_is_suspended_and_one_of_several_never(names: list[str], rule: str) -> None:
    specific = {"affinity": "Specific", "specific": [{"name": name} for name in names]}
    at = machines(priorities=[{**MACHINES[0], "reservations": specific}, *MACHINES])
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": RESERVATION_NAME, "values": ["r"]}
    pool, failures = declared("reserved", "b", reservationAffinity=affinity), Failures()
    assert at.rule(pool) == rule
    failures.failed(pool, pool.zones, 0, QUOTA, rule=at.rule(pool))
    assert ("cheap/0/us-east5" in failures.backoff(1)) == bool(rule)
    failures.failed(pool, pool.zones, 300, STOCKOUT, rule=at.rule(pool))
    assert not [key for key in failures.backoff(301) if key.startswith("cheap/")], "only its reservation is full"


def test_a_stockout_of_made_pools_is_of_the_machine_and_its_provisioning_model() -> None:
    """On demand counts for Spot too; Spot counts for nothing else, and flex-start is separate."""
    excluded = {}
    for capacity in ("on-demand", "spot", "flex-start"):
        failures = Failures(real=lambda _: 0)
        failures.failed(there("made", capacity, 0), ["us-east5-b"], 0, STOCKOUT)
        priorities = [{"tpu": TPU}, {"tpu": TPU, "spot": True}, {"tpu": TPU, "flexStart": {"enabled": True}}]
        excluded[capacity] = []
        for priority in priorities:
            at = of_class(priorities=[priority])
            if not made(look(cheap_hosts(), at=at, backoff=failures.backoff(1))):
                excluded[capacity].append(next((key for key in priority if key != "tpu"), "on-demand"))
    assert excluded == {"on-demand": ["on-demand", "spot"], "spot": ["spot"], "flex-start": ["flexStart"]}


def test_pauses_double_up_to_half_an_hour_and_are_short_again_after_three_hours() -> None:
    failures, pool, now, pauses = Failures(), there("fails", "spot", 0), 0.0, list[float]()
    for _ in range(5):
        failures.failed(pool, pool.zones, now, STOCKOUT)
        failures.failed(pool, pool.zones, now + 1, STOCKOUT)  # at the same time: it extends nothing
        pauses.append(max(failures.dues()) - now)
        now = max(failures.dues())
    assert pauses == [300, 600, 1200, 1800, 1800]
    assert failures.report(now - 90) == [{"pool": "fails", "seconds": 90, "cause": STOCKOUT}]
    assert failures.report(now) == []
    failures.failed(pool, pool.zones, now + 10_800, STOCKOUT)
    assert max(failures.dues()) == now + 10_800 + 300
    failures.succeeded(pool, pool.zones)
    assert not failures.backoff(now - 1)


def test_a_priority_is_suspended_for_five_minutes_each_time() -> None:
    at, failures, pool = machines(), Failures(), declared("first-b", "b")
    for now in (0, 300, 900):
        failures.failed(pool, pool.zones, now, STOCKOUT, rule=at.rule(pool))
        assert "cheap/0/us-east5-b" in failures.backoff(now + 299)
        assert "cheap/0/us-east5-b" not in failures.backoff(now + 300)


def test_a_failure_extends_the_back_offs_of_the_other_priorities_of_the_class() -> None:
    at, failures = machines(priorities=[*MACHINES, {"machineType": "ct6e-standard-4t"}]), Failures()
    first, second = declared("first-b", "b"), declared("second-b", "b", spot=True)
    for now, pool in ((0, first), (200, second)):
        failures.failed(pool, pool.zones, now, STOCKOUT, rule=at.rule(pool))
    failures.failed(declared("other", "b"), ("us-east5-b",), 250, STOCKOUT, rule="other/0")
    suspended = {"cheap/0/us-east5-b", "cheap/1/us-east5-b"}
    assert suspended <= failures.backoff(499)
    assert not suspended & failures.backoff(500)
    failures.succeeded(first, first.zones)
    assert "cheap/0/us-east5-b" in failures.backoff(499), "a success does not end it"


def test_the_back_off_of_a_machine_type_is_short_again_three_hours_after_its_end() -> None:
    pauses = []
    for now in (300 + 10_799, 300 + 10_800):
        failures, pool = Failures(), there("made", "spot", 0)
        failures.failed(pool, pool.zones, 0, STOCKOUT)
        ends = failures.failed(pool, pool.zones, now, STOCKOUT)
        pauses.append(next(end for key, end in ends.items() if key.startswith("us-east5-b/")) - now)
    assert pauses == [600, 300]


def test_failures_of_a_reservation_count_each_and_end_ten_minutes_after_the_first() -> None:
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": RESERVATION_NAME, "values": ["r"]}
    pool, failures = declared("reserved", "b", reservationAffinity=affinity), Failures()
    ends = [failures.failed(pool, pool.zones, now, "full")[pool.signature] for now in (0, 100, 400, 600)]
    assert ends == [300, 600, 600, 900]


def test_another_error_is_one_of_the_pool_alone() -> None:
    failures, pool = Failures(), declared("first-b", "b")
    failures.failed(pool, pool.zones, 0, "The machines did not start.", rule="cheap/0")
    assert failures.backoff(1) == {"pools/first-b/us-east5-b"}


@pytest.mark.parametrize(
    ("capacity", "given", "wait"),
    [("flex-start", {}, 900), ("spot", {WAIT: "25"}, 25), ("flex-start", {WAIT: "soon"}, 900)],
)
def test_capacity_is_asked_for_again_until_the_wait_is_over(capacity: str, given: dict[str, str], wait: int) -> None:
    failures = Failures()
    pool = there("waits", capacity, 0, **given)
    assert not failures.failed(pool, pool.zones, 0, STOCKOUT)
    assert failures.awaited(0) == {pool.signature}
    assert pool.signature in failures.backoff(9)
    assert pool.signature not in failures.backoff(10)
    assert not failures.failed(pool, pool.zones, wait - 5, STOCKOUT)
    assert not failures.backoff(wait)
    assert not failures.awaited(wait)
    assert failures.failed(pool, pool.zones, wait, STOCKOUT)
    assert pool.signature in failures.backoff(wait + 299)
    assert not failures.backoff(wait + 300)


def test_a_single_tpu_host_has_no_waiting_time_of_its_own() -> None:
    labels = {CLASS: "cheap", WAIT: "25"}
    assert declared("host", "a", labels=labels).wait_seconds == 0
    assert declared("host", "a", labels=labels, flexStart=True).wait_seconds == 900


def test_a_wait_begins_anew_once_no_pod_needed_it() -> None:
    failures, pool = Failures(real=lambda seconds: seconds / 60), there("waits", "flex-start", 0)
    assert not failures.failed(pool, pool.zones, 0, STOCKOUT)
    failures.unneeded()
    assert not failures.failed(pool, pool.zones, 100, STOCKOUT)
    assert failures.failed(pool, pool.zones, 115, STOCKOUT)
    assert failures.failed(pool, pool.zones, 1000, STOCKOUT, waits=False)


def test_a_pod_that_waits_for_capacity_is_told_nothing() -> None:
    failures, pool = Failures(), there("waits", "flex-start", 0)
    at = of_class(priorities=[{"tpu": TPU, "flexStart": {"enabled": True}}, {"tpu": TPU}])
    failures.failed(pool, pool.zones, 0, STOCKOUT)
    decision = look(cheap_hosts(), pool, at=at, backoff=failures.backoff(1), awaited=failures.awaited(1))
    assert (decision.up.growths, decision.up.unhelped, decision.deleted) == ([], [], [])


def test_the_scope_of_a_stockout_is_a_setting() -> None:
    assert stockout_scope({}) == "zone"
    assert stockout_scope({"TPUPLANE_TWIN_STOCKOUT_SCOPE": "region"}) == "region"
    with pytest.raises(InvalidSetting, match="TPUPLANE_TWIN_STOCKOUT_SCOPE: 'world' is not a scope"):
        stockout_scope({"TPUPLANE_TWIN_STOCKOUT_SCOPE": "world"})
