"""Quota of Compute Engine: unlimited until a consumer override lowers it, as `gcloud alpha services quota update` does.

Node pools use the quota of TPU chips. The twin compares it with what all pools of a region have.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, partial

from tpuplane.data_files import read_data
from tpuplane.spec.quota_checks import COUNTS

from tpuplane_twin.gcp.backend import held_counts, node_counts
from tpuplane_twin.gcp.container.names import POOL
from tpuplane_twin.gcp.errors import invalid, not_found
from tpuplane_twin.gcp.handlers import Call
from tpuplane_twin.gcp.locations import region_of
from tpuplane_twin.gcp.schema import Json
from tpuplane_twin.gcp.store import Store
from tpuplane_twin.gcp.views import PoolView

_OVERRIDE = "quotaOverride"
_tables = cache(partial(read_data, "tpuplane.preflight", "quotas"))


def exceeded_quota(store: Store, key: str, pool: Json) -> Iterator[tuple[str, str]]:
    """The regions in which the pool `key` and the others use more chips than the project has, and what Google says.

    Reservations have their own quota, which counts when they are created.
    """
    row, project = _row(pool), key.split("/")[1]
    pools = {**dict(store.items(POOL)), key: {**pool, "status": "RUNNING"}}
    used: Counter[str] = Counter()
    for other, found in pools.items():
        tpu = PoolView(found).tpu
        if row and tpu and other.split("/")[1] == project and _row(found) == row:
            for zone, nodes in held_counts(found).items():
                used[region_of(zone)] += nodes * tpu.chips
    for region in {region_of(zone) for zone in node_counts(pool)}:
        place = {"region": region, **{name: value for name, value in row.items() if name != "metric"}}
        overrides = [
            override
            for override in store.values(_OVERRIDE, f"projects/{project}/compute.googleapis.com/{row.get('metric')}")
            if override.get("dimensions", {}).items() <= place.items()
        ]
        if not overrides:
            continue
        value = int(max(overrides, key=lambda override: len(override.get("dimensions", {})))["overrideValue"])
        if 0 <= value < used[region]:
            yield region, f"Quota '{row['metric'].upper()}' exceeded.  Limit: {value}.0 in region {region}."


def _row(pool: Json) -> dict[str, str]:
    """The metric of the quota that the pool's chips use, and the dimension that names their family; or nothing."""
    view = PoolView(pool)
    field = next((field for field, capacities in COUNTS.items() if view.capacity in capacities), "")
    if view.generation is None:
        return {}
    rows: dict[str, dict[str, str]] = _tables()["accelerators"].get(view.generation.name, {})
    return rows.get(field, {})


def quota_answer(store: Store, call: Call) -> Json:
    """The metric of Compute Engine that the path names, with its limit."""
    metric = call.params["consumerQuotaMetricsId"]
    if metric not in _units():
        raise not_found(f"Quota metric {metric} not found.")
    return _quota(store, call, metric)


def quota_list(store: Store, call: Call) -> Json:
    """All metrics of Compute Engine with their limits. Other services have none."""
    metrics = _units() if call.params["servicesId"] == "compute.googleapis.com" else ()
    return {"metrics": [_quota(store, call, metric) for metric in metrics]}


def _quota(store: Store, call: Call, metric: str) -> Json:
    """A metric with its limit: a bucket for each override, the least specific first."""
    limits: dict[str, Json] = {"": {"effectiveLimit": "-1"}}
    for override in store.values(_OVERRIDE, f"projects/{call.params['v1beta1Id1']}/{metric}"):
        dimensions = override.get("dimensions", {})
        limits[_place(dimensions)] = {"effectiveLimit": override["overrideValue"], "dimensions": dimensions}
    buckets = sorted(limits.values(), key=lambda bucket: len(bucket.get("dimensions", {})))
    return {"metric": metric, "unit": "1", "consumerQuotaLimits": [{"unit": _units()[metric], "quotaBuckets": buckets}]}


def limit(store: Store, call: Call) -> Json:
    """Set the limits of metrics, each for its dimensions."""
    for override in (found := call.body.get("inlineSource", {}).get("overrides", [])):
        metric, dimensions = override.get("metric", ""), override.get("dimensions", {})
        if not (known := re.findall(r"{(\w+)}", _units().get(metric, ""))):
            raise invalid(f"Quota metric {metric} not found.")
        if unknown := dimensions.keys() - set(known):
            named = ", ".join(sorted(unknown))
            raise invalid(f"Quota metric {metric} has no dimension {named}; allowed: {', '.join(known)}.")
        if not re.fullmatch(r"-?\d+", str(override.get("overrideValue"))):
            raise invalid(f"The override_value of {metric} must be a whole number; -1 removes the limit.")
        store.put(_OVERRIDE, f"projects/{call.params['v1beta1Id1']}/{metric}/{_place(dimensions)}", override)
    return {"name": f"operations/quf.p2-{call.path}", "done": True, "response": {"overrides": found}}


def limit_chips(store: Store, project: str, region: str, generation: str, field: str, chips: int | None) -> None:
    """Set the limit of a generation's chips in a region, or remove it. `field` is `onDemand` or `preemptible`."""
    if (row := _tables()["accelerators"][generation].get(field)) is None:
        known = (name for name in _tables()["accelerators"][generation] for name in COUNTS[name])
        raise invalid(f"{generation} has no quota of this capacity; allowed: {', '.join(known)}")
    metric = f"compute.googleapis.com/{row['metric']}"
    dimensions = {"region": region, **{name: value for name, value in row.items() if name != "metric"}}
    key = f"projects/{project}/{metric}/{_place(dimensions)}"
    if chips is None:
        store.delete(_OVERRIDE, key)
    else:
        store.put(_OVERRIDE, key, {"metric": metric, "dimensions": dimensions, "overrideValue": str(chips)})


def limits(store: Store) -> list[Json]:
    """Every limit, with its project. An override of -1 is none."""
    found = [{"project": key.split("/")[1], **override} for key, override in store.items(_OVERRIDE)]
    return [override for override in found if int(override["overrideValue"]) >= 0]


def clear_limits(store: Store) -> None:
    """Remove every limit."""
    for key, _ in store.items(_OVERRIDE):
        store.delete(_OVERRIDE, key)


def _place(dimensions: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(dimensions.items()))


@cache
def _units() -> dict[str, str]:
    """The unit of each metric: by region, and by family if it counts several."""
    tables = _tables()
    entries = [*tables["vcpus"].values(), *(entry for row in tables["accelerators"].values() for entry in row.values())]
    return {
        f"compute.googleapis.com/{entry['metric']}": "1/{project}/{region}"
        + "".join(f"/{{{key}}}" for key in entry if key != "metric")
        for entry in [*entries, {"metric": "cpus_per_vm_family", "vm_family": ""}]
    }
