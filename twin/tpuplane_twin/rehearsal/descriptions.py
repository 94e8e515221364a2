"""The stack files of a rehearsal, before a stack is brought up: their mistakes, and what only some of them have."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tpuplane.spec import CONFIG_KEY, PlatformSpec, load_stack
from tpuplane.spec.core.errors import choice
from tpuplane.spec.core.yaml_reader import read_yaml
from tpuplane.spec.queues.team_checks import namespaces_of

from tpuplane_twin.gcp.merge import at
from tpuplane_twin.rehearsal.scenario import EventSpec
from tpuplane_twin.rehearsal.trace import TraceJob


def described(file: Path) -> PlatformSpec | None:
    """The platform that a stack file describes; None if it describes none, or an encrypted one. Raises `SpecError`."""
    document, _ = read_yaml(file)
    found = at(document, f"config.{CONFIG_KEY}")
    return None if found is None or at(found, "secure") else load_stack(file)


def difference(stacks: Mapping[str, PlatformSpec], jobs: Iterable[TraceJob], events: Iterable[EventSpec]) -> str:
    """What a job or an event needs and only some of the stacks have; "" if there is nothing.

    A program can make more than its stack file describes. So what no file has is looked up on the twin.
    """
    names = {stack: _names(spec) for stack, spec in stacks.items()}
    for kind, name, by in _needed(jobs, events):
        without = [stack for stack, found in names.items() if name not in found[kind]]
        if without and len(without) < len(names):
            return f"{by}: {choice(name, f'a {kind} of the stack {without[0]!r}', names[without[0]][kind])}"
    return ""


def _needed(jobs: Iterable[TraceJob], events: Iterable[EventSpec]) -> Iterator[tuple[str, str, str]]:
    """Kind and name of what is needed, and the job or event that needs it."""
    for job in jobs:
        yield "team", job.team, f"the job {job.name!r}"
    for event in events:
        by = f"the event {event.text!r} at {event.at}"
        if cluster := event.given.get("cluster"):
            yield "cluster", str(cluster), by
        if pool := event.given.get("pool") or event.given.get("target"):
            yield "node pool", str(pool).partition("/")[0], by


def _names(spec: PlatformSpec) -> dict[str, list[str]]:
    """The names that jobs and events use."""
    clusters = spec.clusters.items()
    pools = [each for _, cluster in clusters for each in cluster.all_pools.items()]
    return {
        "team": [name for key, team in spec.teams.items() for name in namespaces_of(key, team)],
        "cluster": [cluster.gke_name(spec.name, key) for key, cluster in clusters],
        "node pool": [name for (_, key), pool in pools for name in pool.names(key).every()],
    }
