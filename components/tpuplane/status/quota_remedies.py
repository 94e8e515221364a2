"""Smaller requests, more quota and the end of other jobs, for a job that its queue has too little quota for. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tpuplane.labels import GPU, POOL_LABEL, TPU, plural
from tpuplane.plan.flavors import FLAVOR_LABEL
from tpuplane.quantities import counted
from tpuplane.status.case import DEVICES, Case, Obstacle
from tpuplane.status.fitting import Host, amount
from tpuplane.status.other_hosts import grown, host_of, with_hosts
from tpuplane.status.pools import slice_of
from tpuplane.status.quota import Offer, Quota
from tpuplane.tpu import Slice


def of_quota(case: Case, obstacle: Obstacle) -> Iterator[tuple[str, Case]]:
    """Changes of the requests, of the quota and its limits, or of other jobs, each with the case after it."""
    pods, block = case.pods[obstacle.number], obstacle.block
    offer, resource = case.offers[obstacle.group][obstacle.flavor or 0], block.resource
    quota = offer.quotas[resource]
    room = {name: own.unused if block.reason == "used" else own.further for name, own in offer.quotas.items()}
    lacking = {name: short for name in room if (short := case.asked(pods, name) - room[name]) > 0}
    if block.reason == "used":
        released = case.with_quotas(offer, lambda _, own: replace(own, used=own.held, taken=0))
        text = f"Kueue admits it when other jobs release {plural(resource)} of {offer.name}"
        yield text, with_hosts(released, case.hosts_of(offer), free=True)
        yield _more(case, offer, lacking)
        return
    own_lacking = [name for name in lacking if pods.requests.get(name)]
    count = pods.count - max((-(-lacking[name] // pods.requests[name]) for name in own_lacking), default=0)
    if (count := count - count % max(pods.size, pods.slice)) > 0:
        text = f"Request at most {amount(resource, count * pods.requests[resource])} of {offer.name}"
        yield text, case.with_pods(pods, count=count)
    elif pods.count == 1 and not set(own_lacking).intersection(DEVICES) and all(room[name] > 0 for name in own_lacking):
        less = {name: room[name] for name in own_lacking}
        amounts = " and ".join(amount(name, most) for name, most in less.items())
        yield f"Request at most {amounts} of {offer.name}", case.with_pods(pods, requests={**pods.requests, **less})
    if quota.borrowing is not None and quota.borrowing < quota.lent:
        raised = case.with_quotas(offer, lambda _, own: replace(own, borrowing=None))
        yield f"Raise the team's borrowing limit of {offer.name}", raised
    if quota.kept:
        raised = case.with_quotas(offer, lambda _, own: replace(own, lent=own.lent + own.kept, kept=0))
        yield f"Raise the lending limits of the other teams for {offer.name}", raised
    yield _more(case, offer, lacking)


def _more(case: Case, offer: Offer, lacking: Mapping[str, int]) -> tuple[str, Case]:
    """More quota of a flavor: of TPUs in whole slices. The other resources of GPUs grow with their number."""
    like = next(iter(case.hosts_of(offer)), None)
    shape = slice_of(like.labels if like else offer.labels) if TPU in offer.quotas else None
    if shape is not None:
        return _more_slices(case, offer, lacking, shape, like)
    own = {name: offer.quotas[name].nominal for name in ([GPU] if GPU in lacking else lacking)}
    amounts = (
        f"from {amount(name, nominal)} to {amount(name, nominal + lacking[name])}" for name, nominal in own.items()
    )
    after = case.with_quotas(offer, lambda name, quota: replace(quota, nominal=quota.nominal + lacking.get(name, 0)))
    return f"Raise the team's quota of {offer.name} {', and '.join(amounts)}", after


def _more_slices(
    case: Case, offer: Offer, lacking: Mapping[str, int], shape: Slice, like: Host | None
) -> tuple[str, Case]:
    """New slices, or the quota of more slices. `like` is a host of the flavor; None if it has none now.

    In a platform, teams and cohort have the quota of all slices of a pool: new slices are enough for a team that may
    borrow all of them. Other teams first get quota that is lent and not borrowable; the rest needs new slices.
    """
    capacity, nominal, whole = (like or host_of(shape)).capacity, offer.quotas[TPU].nominal, 1000 * shape.chips
    per_slice = {name: shape.hosts * capacity.get(name, 0) for name in offer.quotas} | {TPU: whole}
    slices = (-(-short // per_slice[name]) for name, short in lacking.items() if name != TPU and per_slice[name])
    short = max(lacking.get(TPU, 0), whole * max(slices, default=0))
    more = short + -(nominal + short) % whole
    number = -(-short // whole)

    def lent(name: str, quota: Quota) -> Quota:
        return replace(quota, lent=quota.lent + number * per_slice[name])

    text, after = _new_slices(case.with_quotas(offer, lent), offer, shape, like, number)
    borrows = all(own.borrowing is None or own.borrowing >= lent(name, own).lent for name, own in offer.quotas.items())
    if text and borrows and FLAVOR_LABEL in offer.labels:
        return text, after

    def raised(name: str, quota: Quota) -> Quota:
        added = more if name == TPU else -(-more // whole) * per_slice[name]
        unlent = 0 if quota.borrowing is None else min(added, max(0, quota.lent - quota.borrowing))
        return replace(quota, nominal=quota.nominal + added, lent=quota.lent - unlent)

    unlent = offer.quotas[TPU].lent - raised(TPU, offer.quotas[TPU]).lent
    text, after = _new_slices(case.with_quotas(offer, raised), offer, shape, like, -(-(more - unlent) // whole))
    quota = f"Raise the team's quota of {offer.name} from {amount(TPU, nominal)} to {amount(TPU, nominal + more)}"
    return f"{quota}, and {text[0].lower()}{text[1:]}" if text else quota, after


def _new_slices(case: Case, offer: Offer, shape: Slice, like: Host | None, number: int) -> tuple[str, Case]:
    """New slices of the pool of a flavor, which adds them itself if it is autoscaled; "" if it is not known."""
    pool = like.labels.get(POOL_LABEL) if like else None
    if number and not offer.placed and (pool or like is None):
        return f"Raise maxSlices of the {f'pool {pool}' if pool else 'pool of the flavor'} by {number}", case
    if number and like and pool:
        after = grown(case, like, number * shape.hosts, shape.hosts)
        return f"Add {counted(number, 'slice')} of {shape} to the pool {pool}", after
    return "", case
