"""How one queue spans several clusters, as plain frozen values: see `model`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ManagerPlan:
    """The cluster that takes the jobs and hands them on."""

    name: str  # in Google Cloud
    namespace: str  # Kueue's own
    workers: dict[str, str]  # names in Google Cloud, which Kueue knows them by, by their keys in the user's file
    dispatcher: str  # Kueue's name of the way in which workers are asked
    worker_lost_timeout: str


@dataclass(frozen=True, slots=True)
class KindPlan:
    """A kind of job that is handed on: its API group (empty for the core's) and resource."""

    group: str
    resource: str


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What the manager may do in a cluster that runs jobs: watch these kinds, and make them in these namespaces."""

    namespace: str  # Kueue's own
    kinds: tuple[KindPlan, ...]
    namespaces: tuple[str, ...]
