"""The checks of the parts of slices that a pool offers."""

from collections.abc import Iterator

from tpuplane.spec.core.errors import Mistake, Path, choice, repetitions
from tpuplane.spec.core.rules import broken
from tpuplane.spec.pools.tpu import PoolSpec
from tpuplane.tpu import SliceError, catalogue


def check_sub_slices(at: Path, pool: PoolSpec) -> Iterator[Mistake]:
    """The shapes are parts of the pool's slices, and the slices exist before jobs do."""
    try:
        shape = pool.slice
    except SliceError:
        return  # another check reports it
    if not pool.sub_slices:
        return
    if not shape.sub_slices:
        able = [generation.name for generation in catalogue().generations if generation.sub_slices]
        hosts = "have one host" if not shape.multi_host else "cannot be divided"
        yield broken("sub-slice-pools", at, shape=f"{shape}", why=hosts, generations=" or ".join(able))
        return
    twice = repetitions(at, pool.sub_slices)
    for index, topology in enumerate(pool.sub_slices):
        if topology not in shape.sub_slices:
            yield Mistake((*at, index), choice(topology, f"a part of {shape} slices", shape.sub_slices))
        elif index in twice:
            yield twice[index]
    if pool.autoscaling is not None:
        yield broken("sub-slice-autoscaling", at)
