"""What would let a job start: changes of the job, its quota or its hosts that are tried before they are shown. Pure."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tpuplane.labels import CLASS_LABEL, GKE_POOL_LABEL, MACHINE_LABEL, POOL_LABEL, QUEUED_LABEL, TPU, UNITS
from tpuplane.plan.flavors import ELASTIC, FLAVOR_LABEL
from tpuplane.status.case import DEVICES, SHOWN, Case, Found, some
from tpuplane.status.fitting import HOSTNAME, PERMANENT, Block, Host, Hosts, Pods, amount
from tpuplane.status.objects import Taint
from tpuplane.status.pools import slice_of
from tpuplane.status.quota import Offer
from tpuplane.tpu import Slice, catalogue
from tpuplane.tpu.catalogue import region_of

_RESERVED = (*DEVICES, QUEUED_LABEL)  # taints of hosts that are not for other jobs
_MOST = 5  # changes, the best first
_TRIED = 20  # changes of one kind, which bounds the time
_VALUE = re.compile(r"Set (\S+) to (\S+) in the node (selector|affinity)$")
_WAIT = "Wait until other jobs release their hosts"


def remedies(case: Case) -> Iterator[str]:
    """The best changes after which the first reason is gone and no permanent one remains, and pairs of changes.

    First are changes of the job, then of its quota, the end of other jobs, new hosts, and pairs.
    """
    found = case.found()
    if found is None:
        return
    single = list(_changes(case, found))
    enough = [text for text, after in single if _works(found, after)]
    for text, after in single[:_TRIED]:
        now = after.found()
        if now is not None and now.block.depth > found.block.depth and text not in enough:
            changes = (it for it in _changes(after, now) if not it[0].startswith(_WAIT))
            more = (other for other, last in changes if _works(now, last))
            enough += [f"{text}, and {other[0].lower()}{other[1:]}" for other in more]
    yield from (f"{it}." for it in islice(_joined(enough), _MOST))


def _joined(texts: Sequence[str]) -> Iterator[str]:
    """Each text once; the values of one label in one text."""
    values: dict[str, list[str]] = defaultdict(list)
    for text in dict.fromkeys(texts):
        label = _VALUE.match(text)
        values[f"Set {label[1]} to {{}} in the node {label[3]}" if label else text] += [label[2]] if label else []
    for text, those in values.items():
        more = [f"{len(those) - SHOWN} more"] if len(those) > SHOWN else []
        yield text.replace("{}", " or ".join([*those[:SHOWN], *more])) if those else text


def _works(found: Found, after: Case) -> bool:
    """Whether a job can start after a change, or only waits then if it could not start before."""
    now = after.found()
    if now is None or found.block.reason in ("used", "busy"):
        return now is None
    return now.block.reason not in PERMANENT and now.block.depth > found.block.depth


def _changes(case: Case, found: Found) -> Iterator[tuple[str, Case]]:
    """Changes that can remove a reason, each with the case after it."""
    pods, block = case.pods[found.number], found.block

    def but(**change: Any) -> Case:
        changed = replace(pods, **change)
        return replace(case, pods=[changed if it is pods else it for it in case.pods])

    yield from _of_spec(case, found, but)
    if block.reason in ("quota", "used") and found.flavor is not None:
        yield from _of_quota(case, found, but)
    if block.reason == "down":
        yield from _of_hosts(case, block)
    if case.again and (starts := case.again[1].found() is None):
        yield case.again
    if block.reason in ("busy", "pinned"):
        said = some({job for it in block.hosts for job in case.holders.get(it.name, ())})
        yield f"{_WAIT}{f': {said}' if said else ''}", _replaced(case, block.hosts, free=True)
    if case.again:
        yield from () if starts else (case.again,)
    elif HOSTNAME in pods.selector:
        selector = {key: value for key, value in pods.selector.items() if key != HOSTNAME}
        yield f"Remove {HOSTNAME} from the node selector", but(selector=selector)
    elif block.reason in ("labels", "hosts", "down", "busy"):
        yield from _new_hosts(case, found)


def _of_spec(case: Case, found: Found, but: Callable[..., Case]) -> Iterator[tuple[str, Case]]:
    """Other labels, tolerations, and smaller requests."""
    pods, block = case.pods[found.number], found.block
    if block.reason in ("labels", "size"):
        yield from _of_labels(case, pods, block, but)
    if block.reason == "taints":
        yield from _for_devices(pods, block, but)
        for taints in dict.fromkeys(tuple(pods.repelled_by(it)) for it in block.hosts):
            if not any(it.key in _RESERVED for it in taints):
                said = ", ".join(f"{it.key}={it.value}:{it.effect}" for it in taints)
                text = f"Add a toleration of {said}, if the job belongs on these hosts"
                yield text, but(tolerations=[*pods.tolerations, *taints])
    if block.reason == "size" and block.most:
        text = f"Request at most {amount(block.resource, block.most)} in each pod"
        yield text, but(requests={**pods.requests, block.resource: block.most})
    if block.reason == "hosts" and pods.domain and pods.size > 1 and not block.most:
        size = max(pods.by_domain(block.hosts), default=0)
        if size:
            text = f"Request at most {size} pods in each group with one {pods.domain}"
            yield text, but(count=pods.count // pods.size * size, size=size)
    if block.reason == "hosts" and block.most and not case.offers:
        yield f"Request at most {block.most} pods", but(count=block.most)


def _of_labels(case: Case, pods: Pods, block: Block, but: Callable[..., Case]) -> Iterator[tuple[str, Case]]:
    """Other values of labels, in the node selector or in the node affinity."""
    for key in block.labels or pods.selector:
        values = case.hosts.values(key, pods.selector.items()) if key != HOSTNAME else []
        others = [*values[:_TRIED], *(sorted(case.classes or ()) if key == CLASS_LABEL else ())]
        changes = [
            (f"Set {key} to {value} in the node selector", but(selector={**pods.selector, key: value}))
            for value in others
            if pods.selector.get(key) not in (None, value)
        ]
        yield from sorted(changes, key=lambda it: it[1].found() is not None)  # first those where the job starts now
        if block.reason == "labels" and not values and key != HOSTNAME:
            selector = {name: value for name, value in pods.selector.items() if name != key}
            yield f"Remove {key} from the node selector", but(selector=selector)
    if block.reason == "labels" and not block.labels:
        for it in case.hosts.unmet(pods):
            for value in case.hosts.values(it.key, pods.selector.items())[:_TRIED]:
                other = it.model_copy(update={"operator": "In", "values": [value]})
                terms = [[other if own == it else own for own in term] for term in pods.expressions]
                yield f"Set {it.key} to {value} in the node affinity", but(expressions=terms)


def _for_devices(pods: Pods, block: Block, but: Callable[..., Case]) -> Iterator[tuple[str, Case]]:
    """Requests for the chips or GPUs of the selected hosts, or other hosts than these."""
    for it in DEVICES:
        most = max((host.capacity.get(it, 0) for host in block.hosts), default=0)
        if most and it not in pods.requests:
            tolerated = [*pods.tolerations, Taint(key=it, operator="Exists")]
            changed = but(requests={**pods.requests, it: most}, tolerations=tolerated)
            yield f"Request {amount(it, most)} in each pod, if the job uses them", changed
            yield f"Remove {', '.join(sorted(pods.selector))} from the node selector", but(selector={})


def _of_quota(case: Case, found: Found, but: Callable[..., Case]) -> Iterator[tuple[str, Case]]:
    """Smaller requests, more quota or limits, and the end of other jobs."""
    pods, block = case.pods[found.number], found.block
    offer, resource = case.offers[found.group][found.flavor or 0], block.resource
    quota, each = offer.quotas[resource], pods.requests[resource]

    def with_quota(**change: int | None) -> Case:
        changed = replace(offer, quotas={**offer.quotas, resource: replace(quota, **change)})  # type: ignore[arg-type]
        return replace(case, offers=[[changed if it is offer else it for it in group] for group in case.offers])

    missing = case.asked(pods, resource) - block.most
    if block.reason == "used":
        released = f"Kueue admits it when other jobs release {UNITS.get(resource, resource)} of {offer.name}"
        same = [it for it in case.hosts.all if offer.labels.items() <= it.labels.items()]
        yield released, _replaced(with_quota(used=0, taken=0), same, free=True)
        yield _more(offer, quota.nominal, missing, resource, with_quota)
        return
    count = pods.count - -(-missing // each)
    if (count := count - count % pods.size) > 0:
        yield f"Request at most {amount(resource, count * each)} of {offer.name}", but(count=count)
    elif each > block.most > 0 and pods.count == 1 and resource not in DEVICES:
        less = {**pods.requests, resource: block.most}
        yield f"Request at most {amount(resource, block.most)} of {offer.name}", but(requests=less)
    if quota.borrowing is not None and quota.borrowing < quota.lent:
        yield f"Raise the team's borrowing limit of {offer.name}", with_quota(borrowing=None)
    if quota.kept:
        lent = quota.lent + quota.kept
        yield f"Raise the lending limits of the other teams for {offer.name}", with_quota(lent=lent, kept=0)
    yield _more(offer, quota.nominal, missing, resource, with_quota)


def _more(offer: Offer, nominal: int, missing: int, resource: str, with_quota: Callable[..., Case]) -> tuple[str, Case]:
    own = amount(resource, nominal + missing)
    text = f"Raise the team's quota of {offer.name} from {amount(resource, nominal)} to {own}"
    return text, with_quota(nominal=nominal + missing)


def _of_hosts(case: Case, block: Block) -> Iterator[tuple[str, Case]]:
    """Cordoned hosts that are scheduled on again, and hosts that are ready again."""
    cordoned = [it for it in block.hosts if it.cordoned and it.ready]
    if cordoned:
        names = " ".join(it.name for it in cordoned[:SHOWN])
        yield f"Uncordon the hosts after their maintenance: kubectl uncordon {names}", _replaced(case, cordoned)
    lost = [it for it in block.hosts if not it.ready]
    if lost:
        names = ", ".join(it.name for it in lost[:SHOWN])
        yield f"Wait until GKE has repaired the hosts, or delete their VMs: {names}", _replaced(case, lost)


def _replaced(case: Case, hosts: Sequence[Host], *, free: bool = False) -> Case:
    """The case with these hosts ready and schedulable, or also free."""
    good = {it.name: replace(it, ready=True, cordoned=False, free=it.capacity if free else it.free) for it in hosts}
    return replace(case, hosts=Hosts(good.get(it.name, it) for it in case.hosts.all))


def _new_hosts(case: Case, found: Found) -> Iterator[tuple[str, Case]]:
    """More slices or nodes of a pool that has such hosts, or a new pool with the slices of the node selector."""
    pods = case.pods[found.number]
    labels = case.offers[found.group][found.flavor].labels if case.offers and found.flavor is not None else {}
    like = next((it for it in case.hosts.all if labels.items() <= it.labels.items() and pods.suit(it)), None)
    shape = slice_of(like.labels if like else pods.selector, None if like else pods.requests.get(TPU, 0) // 1000)
    per_slice = shape.hosts if shape and shape.multi_host else 1
    missing = pods.count - (found.block.most if like else 0)
    if like is not None:
        number = -(-missing // max(1, pods.number(like.capacity)) // per_slice)
        pool = like.labels.get(POOL_LABEL) or like.labels.get(GKE_POOL_LABEL, "")
        if case.at_maximum:
            text = f"Raise {'maxSlices' if shape else 'maxNodes'} of the pool {pool} by {number}"
        elif like.labels.get(FLAVOR_LABEL, "").endswith(ELASTIC):
            return  # the cluster autoscaler adds hosts, or has stated why it does not
        else:
            what = f"slice{'s' * (number > 1)} of {shape}" if shape else f"node{'s' * (number > 1)}"
            text = f"Add {number} {what} to the pool {pool}"
    elif shape is not None and not case.offers and _available(shape, case.hosts):
        number = -(-missing // per_slice)
        text = f"Add a pool with {number} slice{'s' * (number > 1)} of {shape}"
        machine = shape.machine
        room = {TPU: machine.chips, "cpu": machine.vcpus, "memory": machine.memory_gb * 2**30, "pods": 100}
        own = {**shape.node_labels, MACHINE_LABEL: machine.name}
        like = Host("", own, (), {key: 1000 * it for key, it in room.items()}, {})
    else:
        return
    # Only hosts with a common label of a domain are one; a new slice is a new node pool.
    new = [
        replace(
            like,
            name=f"new-{index}",
            labels={**like.labels, HOSTNAME: f"new-{index}", GKE_POOL_LABEL: f"new-{index // per_slice}"},
            free=like.capacity,
            ready=True,
            cordoned=False,
        )
        for index in range(number * per_slice)
    ]
    yield text, replace(case, hosts=Hosts([*case.hosts.all, *new]))


def _available(shape: Slice, hosts: Hosts) -> bool:
    """Whether the region of the cluster has the generation."""
    regions = {it.labels.get("topology.kubernetes.io/region") for it in hosts.all}
    return any(region_of(zone) in regions for zone in catalogue().zones(shape.generation.name))
