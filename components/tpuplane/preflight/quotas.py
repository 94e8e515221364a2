"""Whether Google grants the quota that a platform at full scale needs, and the quota that its stack file declares.

Service Usage has every quota of Compute Engine, including those of TPU and GPU families, which `regions.get` omits.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from tpuplane.cpu import CpuError, cpu_catalogue
from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import PlatformPlan
from tpuplane.preflight.findings import Finding, asked
from tpuplane.preflight.google import Google, Json, reading
from tpuplane.spec import PlatformSpec
from tpuplane.spec.core.errors import Path, dotted
from tpuplane.spec.core.locations import is_zone, region_of
from tpuplane.spec.quota_checks import COUNTS, quota_uses
from tpuplane.tpu import catalogue

_UNLIMITED = -1
_WORDS = {"onDemand": "on-demand chips", "preemptible": "preemptible chips", "vcpus": "vCPUs"}


class Use(NamedTuple):
    """An amount of hardware in a zone, or in a region if no zone is known. `field` is its row in the data file."""

    path: Path
    field: str
    hardware: str
    place: str
    amount: int

    def __str__(self) -> str:
        words = _WORDS[self.field]
        return f"{words.replace('chips', 'GPUs') if self.hardware.startswith('nvidia-') else words} of {self.hardware}"


Demand = list[Use]
"""The uses of one kind of hardware, which count against the same quota."""

_data: Callable[[], dict[str, dict[str, Any]]] = cache(partial(read_data, "tpuplane.preflight", "quotas"))


def demands(spec: PlatformSpec, plan: PlatformPlan) -> list[Demand]:
    """The demands: the quotas in the file, the other pools at full scale, and the system pools. A pure function."""
    found: dict[tuple[str | Path, ...], Demand] = defaultdict(list)
    for use in _declared(spec):
        found[use.path, use.hardware].append(use)
    covered = {(use.field, use.hardware, use.place) for use in _declared(spec)}
    for need in quota_uses(spec):
        for field, capacities in COUNTS.items():
            places = (need.zones[0], region_of(need.zones[0]))
            if need.capacity in capacities and not covered & {(field, need.hardware, place) for place in places}:
                found[field, need.hardware].append(Use(need.path, field, need.hardware, places[0], need.amount))
    for cluster in plan.clusters:
        if (pool := cluster.system_pool) is not None:
            try:
                machine = cpu_catalogue().machine(pool.machine_type)
            except CpuError:  # the machine type of an adopted pool, which already has its quota
                continue
            path = ("clusters", cluster.key, "systemPool")
            uses = (Use(path, "vcpus", machine.family, zone, pool.max_nodes * machine.vcpus) for zone in pool.zones)
            found["vcpus", machine.family].extend(uses)
    return list(found.values())


def _declared(spec: PlatformSpec) -> Iterator[Use]:
    for location, quotas in spec.quotas.items():
        for name, quota in quotas.items():
            known = gpu_catalogue().accelerator if name.startswith("nvidia-") else catalogue().generation
            for field, amount in (("onDemand", quota.on_demand), ("preemptible", quota.preemptible)):
                if amount is not None:
                    yield Use(("quotas", location, name, field), field, known(name).name, location, amount)


def check_quotas(wanted: list[Demand], project: str, google: Google, rejected: str) -> Iterator[Finding]:
    """Every demand above Google's limit."""
    for demand in wanted:
        yield from asked("quota", demand[0].path, rejected, _compare(demand, project, google))


def _compare(demand: Demand, project: str, google: Google) -> Iterator[Finding]:
    use = demand[0]
    if use.field == "vcpus":
        others = {"metric": "cpus_per_vm_family", "vm_family": use.hardware.upper()}
        family = dict(_data()["vcpus"].get(use.hardware, others))
    else:
        family = dict(_data()["accelerators"].get(use.hardware, {}).get(use.field, {}))
    if not family:
        quota = dotted(("quotas", region_of(use.place), use.hardware, use.field))
        remedy = f"compare it with Google's quota page, then declare {quota}"
        if use.path[0] != "quotas":  # without a quota of Google, there is nothing to compare a declared quota with
            yield Finding("quota", use.path, f"no quota is known for {use}", remedy, undecided=True)
        return
    metric = family.pop("metric")
    name = f"projects/{project}/services/compute.googleapis.com/consumerQuotaMetrics/compute.googleapis.com%2F{metric}"
    answer = google.ask("serviceusage.v1beta1.services.consumerQuotaMetrics.get", name=name)
    with reading():
        if not answer or not answer["consumerQuotaLimits"]:
            raise ValueError(f"no quota {metric}")
        needed = [
            (place, amount, _granted(limit["quotaBuckets"], dict(place)))
            for limit in answer["consumerQuotaLimits"]
            for place, amount in _amounts(demand, family, limit["unit"]).items()
        ]
    for place, amount, granted in needed:
        if granted != _UNLIMITED and amount > granted:
            yield _short(use, metric, place, amount, granted, project)


_Place = tuple[tuple[str, str], ...]


def _amounts(demand: Demand, family: Mapping[str, str], unit: str) -> dict[_Place, int]:
    """The demand in each place that has its own value of a limit such as `1/{project}/{region}`."""
    keys = sorted(set(re.findall(r"{(\w+)}", unit)) - {"project"})
    sums: dict[_Place, int] = defaultdict(int)
    for use in demand:
        if is_zone(use.place) or "zone" not in keys:  # else the file declares a quota of the region only
            place = {"zone": use.place, "region": region_of(use.place), **family}
            sums[tuple((key, place[key]) for key in keys)] += use.amount
    return sums


def _granted(buckets: list[Json], place: Mapping[str, str]) -> int:
    """The limit of the most specific bucket; Google omits zeros."""
    if unknown := {key for bucket in buckets for key in bucket} - set(_data()["bucket"]):
        raise ValueError(f"{sorted(unknown)} in a quota")
    fitting = [bucket for bucket in buckets if bucket.get("dimensions", {}).items() <= place.items()]
    return int(max(fitting, key=lambda bucket: len(bucket.get("dimensions", {}))).get("effectiveLimit", 0))


def _short(use: Use, metric: str, place: _Place, amount: int, granted: int, project: str) -> Finding:
    scope = next((f"-{key}" for key, _ in place if key in ("region", "zone")), "")
    dimensions = ",".join(f"{key}={value}" for key, value in place)
    command = (
        f"gcloud beta quotas preferences create --service=compute.googleapis.com --project={project}"
        f" --quota-id={metric.upper().replace('_', '-')}-per-project{scope} --preferred-value={amount}"
        f" --dimensions={dimensions} --email=ADDRESS"
    )
    message = f"{amount} {use}, but Google grants {granted} in {dimensions} ({metric})"
    return Finding("quota", use.path, message, f"run: {command}")
