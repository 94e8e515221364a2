"""The reasons of `data/reasons.yaml`, and which of them applies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml
from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake
from pydantic.fields import FieldInfo

from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import ClusterPlan, NodePoolPlan
from tpuplane.spec import ClusterSpec, GpuPoolSpec, PoolSpec, SystemPoolSpec
from tpuplane.tpu import catalogue

# The C parser is ten times faster; it is missing only where PyYAML was built without libyaml.
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Kind = Literal["pool", "gpuPool", "systemPool", "cluster", "addon", "team", "class"]
Facts = Mapping[str, Any]
"""What is known about one thing of the plan. `written` holds the fields that the user's file sets."""


_MODELS: Mapping[Kind, tuple[type, type[BaseModel]]] = {
    "pool": (NodePoolPlan, PoolSpec),
    "gpuPool": (NodePoolPlan, GpuPoolSpec),
    "systemPool": (NodePoolPlan, SystemPoolSpec),
    "cluster": (ClusterPlan, ClusterSpec),
}
_THINGS_OF_THEIR_OWN = {"control_plane", "system_pool", "pools", "gpu_pools"}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a value is what it is, where `when` holds."""

    text: str
    when: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()

    @property
    def written(self) -> str | None:
        """The field of the user's file that the value comes from, if it does."""
        return self.when.get("written")

    def applies(self, facts: Facts) -> bool:
        """Whether all that `when` asks for is so."""
        return all(
            want in facts[fact] if fact == "written" else facts[fact] == want for fact, want in self.when.items()
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of the plan and its possible reasons, the first that applies counts."""

    name: str
    of: str
    reasons: tuple[Reason, ...]
    also: tuple[str, ...] = ()
    as_written: bool = False
    """Whether it has no entry in the data: its reason is the documentation of its field."""

    def reason(self, facts: Facts) -> Reason:
        """The reason that applies."""
        return next(reason for reason in self.reasons if reason.applies(facts))


@cache
def _data() -> dict[str, Any]:
    text = files("tpuplane.explain").joinpath("data/reasons.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=_Loader)  # noqa: S506  # a SafeLoader either way
    return loaded


@cache
def entries(kind: Kind) -> tuple[Entry, ...]:
    """What there is to say about a kind of thing: in the order of the file, then what is planned as it is written."""
    from_file = tuple(
        Entry(
            name=name,
            of=raw["of"],
            also=tuple(raw.get("also", ())),
            reasons=tuple(
                Reason(reason["text"], reason.get("when", {}), tuple(reason.get("sources", ())))
                for reason in raw["reasons"]
            ),
        )
        for name, raw in _data()[kind].items()
    )
    if kind not in _MODELS:
        return from_file  # the rest of it is shown as it is described
    plan, spec = _MODELS[kind]
    explained = _THINGS_OF_THEIR_OWN | {to_snake(name) for entry in from_file for name in (entry.name, *entry.also)}
    planned = {part.name for part in fields(plan)}
    same = {name: field for name, field in spec.model_fields.items() if name not in explained}
    return (*from_file, *(_as_written(name, field, name in planned) for name, field in same.items()))


def _as_written(name: str, field: FieldInfo, planned: bool) -> Entry:
    """A value that the plan has as the user wrote it: in a field of its own, or in its `settings`."""
    text = " ".join((field.description or "").split()).replace("{", "{{").replace("}", "}}")
    reasons = (Reason(f"You chose it. {text}", {"written": name}), Reason(f"Not set. {text}"))
    return Entry(to_camel(name), name if planned else f"settings.{name}", reasons, as_written=True)


def zone_offers() -> dict[str, str]:
    """In words, how well it is known that a zone offers a generation."""
    return dict(_data()["zone_offers"])


def citation(source: str) -> str:
    """What a source key stands for."""
    own: dict[str, str] = _data()["sources"]
    return {**gpu_catalogue().sources, **catalogue().sources, **own}[source]
