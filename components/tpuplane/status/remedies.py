"""Changes to a job, its quota or its hosts that would let it start. Each is tried before it is shown. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from tpuplane.labels import (
    ACCELERATOR_LABEL,
    CLASS_LABEL,
    GKE_POOL_LABEL,
    GPU_LABEL,
    HOSTNAME,
    MODE_LABEL,
    POOL_LABEL,
    QUEUED_LABEL,
    REGION_LABEL,
    SLICE_TOPOLOGY,
    TOPOLOGY_LABEL,
    TPU,
)
from tpuplane.plan.flavors import ELASTIC, FLAVOR_LABEL
from tpuplane.quantities import counted
from tpuplane.status.case import DEVICES, SHOWN, Case, Obstacle, some
from tpuplane.status.fitting import PERMANENT, Block, Host, Hosts, Pods, amount
from tpuplane.status.objects import Taint
from tpuplane.status.other_hosts import grown, host_of, with_hosts
from tpuplane.status.pools import slice_of
from tpuplane.status.quota_remedies import of_quota
from tpuplane.tpu import Slice, catalogue
from tpuplane.tpu.catalogue import region_of

_RESERVED = (*DEVICES, QUEUED_LABEL)  # taints of hosts that are not for other jobs
_MOST = 5  # changes, the best first
_TRIED = 20  # changes of one kind, which bounds the time
_VALUE = re.compile(r"Set (\S+) to (\S+) in the node (selector|affinity)$")
_WAIT = "Wait until other jobs release their hosts"


def remedies(case: Case) -> Iterator[str]:
    """The best changes, single or in pairs, that remove the obstacle and leave no permanent reason.

    First are changes to the job, then to its quota, the end of other jobs, new hosts, and pairs.
    """
    if (obstacle := case.obstacle()) is None:
        return
    single = list(_changes(case, obstacle))
    enough = [text for text, after in single if _works(obstacle, after)]
    enough += _pairs(obstacle, [each for each in single[:_TRIED] if each[0] not in enough])
    if not enough:
        several = list(islice(_several(case, obstacle), _TRIED))
        enough = [text for text, after in several if _works(obstacle, after)] or list(_pairs(obstacle, several))
    yield from (f"{remedy}." for remedy in islice(_joined(enough), _MOST))


def _pairs(obstacle: Obstacle, changes: Iterable[tuple[str, Case]]) -> Iterator[str]:
    """The changes that need another one after them."""
    for text, after in changes:
        now = after.obstacle()
        if now is not None and now.block.depth > obstacle.block.depth:
            others = (other for other in _changes(after, now) if not other[0].startswith(_WAIT))
            yield from (_together([text, other]) for other, last in others if _works(now, last))


def _joined(texts: Sequence[str]) -> Iterator[str]:
    """Each text once; the values of one label in one text."""
    values: dict[str, list[str]] = defaultdict(list)
    for text in dict.fromkeys(texts):
        label = _VALUE.match(text)
        values[f"Set {label[1]} to {{}} in the node {label[3]}" if label else text] += [label[2]] if label else []
    for text, options in values.items():
        more = [f"{len(options) - SHOWN} more"] if len(options) > SHOWN else []
        yield text.replace("{}", " or ".join([*options[:SHOWN], *more])) if options else text


def _together(texts: Iterable[str]) -> str:
    first, *others = texts
    return ", and ".join([first, *(f"{other[0].lower()}{other[1:]}" for other in others)])


def _works(obstacle: Obstacle, after: Case) -> bool:
    """Whether a job can start after a change; if it could never start before, also whether it only waits then."""
    now = after.obstacle()
    if now is None or obstacle.block.reason in ("used", "busy"):
        return now is None
    return now.block.reason not in PERMANENT and now.block.depth > obstacle.block.depth


def _changes(case: Case, obstacle: Obstacle) -> Iterator[tuple[str, Case]]:
    """Changes that can remove a reason, each with the case after it."""
    pods, block = case.pods[obstacle.number], obstacle.block
    yield from _of_spec(case, pods, block)
    if block.reason in ("quota", "used") and obstacle.flavor is not None:
        yield from of_quota(case, obstacle)
    if block.reason in ("down", "busy"):
        yield from ((text, with_hosts(case, hosts)) for text, hosts in _causes(case, block).items())
    if case.again and (starts := case.again[1].obstacle() is None):
        yield case.again
    if block.reason in ("busy", "pinned"):
        usable = [host for host in block.hosts if host.usable]
        names = some({job for host in usable for job in case.holders.get(host.name, ())})
        yield f"{_WAIT}{f': {names}' if names else ''}", with_hosts(case, usable, free=True)
    if case.again:
        yield from () if starts else (case.again,)
    elif HOSTNAME in pods.selector:
        selector = {key: value for key, value in pods.selector.items() if key != HOSTNAME}
        yield f"Remove {HOSTNAME} from the node selector", case.with_pods(pods, selector=selector)
    elif block.reason in ("labels", "hosts", "down", "busy"):
        yield from _new_hosts(case, obstacle)


def _of_spec(case: Case, pods: Pods, block: Block) -> Iterator[tuple[str, Case]]:
    """Other labels, tolerations, and smaller requests."""
    if block.reason in ("labels", "size"):
        yield from _of_labels(case, pods, block)
    if block.reason == "taints":
        yield from _for_devices(case, pods, block)
        for taints in dict.fromkeys(tuple(pods.repelled_by(host)) for host in block.hosts):
            if [taint.key for taint in taints] == [CLASS_LABEL]:  # GKE adds the toleration
                text = f"Set {CLASS_LABEL} to {taints[0].value} in the node selector"
                selector = {**pods.selector, CLASS_LABEL: taints[0].value}
                yield text, case.with_pods(pods, selector=selector, tolerations=[*pods.tolerations, *taints])
            elif not any(taint.key in _RESERVED for taint in taints):
                described = ", ".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
                text = f"Add a toleration of {described}, if the job belongs on these hosts"
                yield text, case.with_pods(pods, tolerations=[*pods.tolerations, *taints])
    if block.reason == "size" and block.most:
        text = f"Request at most {amount(block.resource, block.most)} in each pod"
        yield text, case.with_pods(pods, requests={**pods.requests, block.resource: block.most})
    grouped = block.reason == "hosts" and pods.domain and pods.size > 1 and not block.most
    if grouped and (size := max(pods.by_domain(block.hosts).values(), default=0)):
        text = f"Request at most {counted(size, 'pod')} in each group with the same {pods.domain}"
        yield text, case.with_pods(pods, count=pods.count // pods.size * size, size=size)
    if block.reason == "hosts" and block.most and not case.offers:
        yield f"Request at most {counted(block.most, 'pod')}", case.with_pods(pods, count=block.most)


def _of_labels(case: Case, pods: Pods, block: Block) -> Iterator[tuple[str, Case]]:
    """Other values of labels, in the node selector or in the node affinity."""
    for key in block.labels or pods.selector:
        values = case.hosts.values(key, pods.selector.items()) if key != HOSTNAME else []
        others = [*values[:_TRIED], *(sorted(case.classes or ()) if key == CLASS_LABEL else ())]
        changes = []
        for value in (each for each in others if pods.selector.get(key) not in (None, each)):
            selector, text = {**pods.selector, key: value}, f"Set {key} to {value} in the node selector"
            if _fills(pods, selector):
                changes.append((text, case.with_pods(pods, selector=selector)))
            elif (wanted := slice_of(selector)) is not None and wanted.multi_host and pods.size == 1:
                chips = wanted.machine.chips
                text += f", and run {wanted.hosts} pods with {chips} chips each, one on each host of the slice"
                requests = {**pods.requests, TPU: 1000 * chips}
                changes.append((text, case.with_pods(pods, selector=selector, count=wanted.hosts, requests=requests)))
        # First those after which the job starts now.
        yield from sorted(changes, key=lambda change: change[1].obstacle() is not None)
        if block.reason == "labels" and not values and key != HOSTNAME:
            selector = {name: value for name, value in pods.selector.items() if name != key}
            near = (labels for labels in case.hosts.labels if labels.items() >= selector.items())
            cubes = key == TOPOLOGY_LABEL and slice_of(pods.selector) and any(MODE_LABEL in labels for labels in near)
            text = f", and set the annotation {SLICE_TOPOLOGY} of its pods to {pods.selector[key]}" if cubes else ""
            yield f"Remove {key} from the node selector{text}", case.with_pods(pods, selector=selector)
    if block.reason == "labels" and not block.labels:
        for expression in (each for each in case.hosts.unmet(pods) if each.key != HOSTNAME):
            for value in case.hosts.values(expression.key, pods.selector.items())[:_TRIED]:
                other = expression.model_copy(update={"operator": "In", "values": [value]})
                terms = [[other if own == expression else own for own in term] for term in pods.expressions]
                yield f"Set {expression.key} to {value} in the node affinity", case.with_pods(pods, expressions=terms)


def _several(case: Case, obstacle: Obstacle) -> Iterator[tuple[str, Case]]:
    """Changes of several labels, or of all hosts, for jobs to which no single change helps."""
    causes = _causes(case, obstacle.block)
    if obstacle.block.reason == "labels":
        yield from _of_several_labels(case, obstacle)
    elif obstacle.block.reason in ("down", "busy") and len(causes) > 1:
        # A command is last, so that it can be copied.
        yield _together(sorted(causes, key=lambda text: "kubectl" in text)), with_hosts(case, obstacle.block.hosts)


def _of_several_labels(case: Case, obstacle: Obstacle) -> Iterator[tuple[str, Case]]:
    """Node selectors in which several labels are those of existing hosts of this kind, the fewest changes first.

    Labels that no host has, and the names of other hosts and node pools, are removed.
    """
    pods = case.pods[obstacle.number]
    asked = pods.selector
    names = {HOSTNAME, GKE_POOL_LABEL} & asked.keys()
    kept = (set[str]().union(*case.hosts.labels) & asked.keys()) - names
    fixed = {(key, asked[key]) for key in (ACCELERATOR_LABEL, GPU_LABEL) if key in asked}
    near = (labels for labels in case.hosts.labels if labels.keys() >= kept and labels.items() >= fixed)
    found = {
        tuple((key, labels[key]) for key in asked if key in kept or labels.get(key) == asked[key]) for labels in near
    }
    for own in sorted(found, key=lambda own: (len(asked.items() - set(own)), own)):
        selector = dict(own)
        if not _fills(pods, selector):
            continue
        parts = [f"set {key} to {value}" for key, value in selector.items() if asked[key] != value]
        parts += [f"remove {key}" for key in asked if key not in selector]
        yield f"In the node selector, {', and '.join(parts)}", case.with_pods(pods, selector=selector)


def _fills(pods: Pods, selector: Mapping[str, str]) -> bool:
    """Whether the pods fill slices of these labels, of one host or of several as before: programs need all hosts."""
    chips, group = pods.requests.get(TPU, 0) // 1000 or None, pods.size if pods.size > 1 else pods.count
    before, after = slice_of(pods.selector, chips), slice_of(selector, chips) or slice_of(selector)
    if before is None or after is None:
        return True
    return before.multi_host == after.multi_host and (not after.multi_host or group % after.hosts == 0)


def _for_devices(case: Case, pods: Pods, block: Block) -> Iterator[tuple[str, Case]]:
    """Requests for the chips or GPUs of the selected hosts, or other hosts than these."""
    for device in DEVICES:
        most = max((host.capacity.get(device, 0) for host in block.hosts), default=0)
        if most and device not in pods.requests:
            tolerated = [*pods.tolerations, Taint(key=device, operator="Exists")]
            changed = case.with_pods(pods, requests={**pods.requests, device: most}, tolerations=tolerated)
            yield f"Request {amount(device, most)} in each pod, if the job uses them", changed
            yield f"Remove {', '.join(sorted(pods.selector))} from the node selector", case.with_pods(pods, selector={})


def _causes(case: Case, block: Block) -> dict[str, list[Host]]:
    """What makes hosts usable again: those that are cordoned, in maintenance, without devices, and lost."""
    changes: dict[str, list[Host]] = {}
    if cordoned := [host for host in block.hosts if host.cordoned and host.ready]:
        changes[f"Uncordon the hosts after their maintenance: kubectl uncordon {_selected(case, cordoned)}"] = cordoned
    if maintained := [host for host in block.hosts if host.maintained]:
        names = some(host.name for host in maintained)
        changes[f"Wait until the maintenance of the hosts ends: {names}"] = maintained
    # GKE does not repair a node that is ready.
    if faulty := [host for host in block.hosts if host.fault and not host.maintained]:
        names = some(host.name for host in faulty)
        text = (
            "Restart the device plugin of the hosts (its pods in kube-system), or delete their VMs when they are free"
        )
        changes[f"{text}: {names}"] = faulty
    if lost := [host for host in block.hosts if not (host.ready or host.fault or host.maintained)]:
        names = some(host.name for host in lost)
        changes[f"Wait until GKE has repaired the hosts, or delete their VMs: {names}"] = lost
    return changes


def _selected(case: Case, hosts: Sequence[Host]) -> str:
    """The arguments of kubectl for cordoned hosts: for many, their node pools if no other host there is cordoned."""
    pools = sorted({host.labels.get(GKE_POOL_LABEL, "") for host in hosts})
    cordoned = [host for host in case.hosts.all if host.cordoned and host.labels.get(GKE_POOL_LABEL) in pools]
    if len(hosts) > SHOWN and all(pools) and len(cordoned) == len(hosts):
        return f"--selector '{GKE_POOL_LABEL} in ({', '.join(pools)})'"
    return " ".join(host.name for host in hosts)


def _new_hosts(case: Case, obstacle: Obstacle) -> Iterator[tuple[str, Case]]:
    """More slices or nodes of a pool that has such hosts, or a new pool with the slices of the node selector."""
    pods = case.pods[obstacle.number]
    labels = case.offers[obstacle.group][obstacle.flavor].labels if case.offers and obstacle.flavor is not None else {}
    suitable = [host for host in case.hosts.all if labels.items() <= host.labels.items() and pods.suit(host)]
    rooms = pods.rooms(suitable, free=obstacle.block.reason == "busy")
    like = max(suitable, key=lambda host: rooms[host.labels.get(pods.within, "")], default=None)
    shape = slice_of(like.labels if like else pods.selector, None if like else pods.requests.get(TPU, 0) // 1000)
    per_slice = shape.hosts if shape and shape.multi_host else 1
    missing = pods.count - (obstacle.block.most if like else 0)
    if like is not None:
        number = -(-missing // max(1, pods.number(like.capacity)) // per_slice)
        pool = like.labels.get(POOL_LABEL) or like.labels.get(GKE_POOL_LABEL, "")
        if case.at_maximum:
            text = f"Raise {'maxSlices' if shape else 'maxNodes'} of the pool {pool} by {number}"
        elif like.labels.get(FLAVOR_LABEL, "").endswith(ELASTIC):
            return  # the cluster autoscaler adds hosts, or has stated why it does not
        else:
            added = f"{counted(number, 'slice')} of {shape}" if shape else counted(number, "node")
            text = f"Add {added} to the pool {pool}"
    elif shape is not None and not case.offers and _available(shape, case.hosts):
        number = -(-missing // per_slice)
        text = f"Add a pool with {counted(number, 'slice')} of {shape}"
        like = host_of(shape)
    else:
        return
    yield text, grown(case, like, number * per_slice, per_slice)


def _available(shape: Slice, hosts: Hosts) -> bool:
    """Whether the region of the cluster has the generation."""
    regions = {host.labels.get(REGION_LABEL) for host in hosts.all}
    return any(region_of(zone) in regions for zone in catalogue().zones(shape.generation.name))
