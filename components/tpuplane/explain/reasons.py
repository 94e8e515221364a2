"""The reasons of `data/reasons.yaml`, and the selection of the one that applies."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.alias_generators import to_camel, to_snake
from pydantic.fields import FieldInfo

from tpuplane.data_files import read_data
from tpuplane.gpu import gpu_catalogue
from tpuplane.plan import ClusterPlan, NodePoolPlan
from tpuplane.spec import ClusterSpec, GpuPoolSpec, PoolSpec, SystemPoolSpec
from tpuplane.spec.core.changes import described
from tpuplane.spec.core.documentation import documented
from tpuplane.spec.core.fields import Spec
from tpuplane.tpu import catalogue

Kind = Literal["pool", "gpuPool", "systemPool", "cluster", "addon", "team", "class"]
Facts = SimpleNamespace
"""Facts about a planned object. `written` has the fields that the user's file sets."""

_MODELS: Mapping[Kind, tuple[type, type[BaseModel]]] = {
    "pool": (NodePoolPlan, PoolSpec),
    "gpuPool": (NodePoolPlan, GpuPoolSpec),
    "systemPool": (NodePoolPlan, SystemPoolSpec),
    "cluster": (ClusterPlan, ClusterSpec),
}
_data: Callable[[], dict[str, Any]] = cache(partial(read_data, "tpuplane.explain", "reasons"))
_SEPARATE_OBJECTS = {"control_plane", "system_pool", "pools", "gpu_pools"}


class Reason(Spec):
    """The reason for a value if `when` holds."""

    text: str
    when: Mapping[str, Any] = {}
    sources: tuple[str, ...] = ()

    @property
    def written(self) -> str | None:
        """The field of the user's file that sets the value, if any."""
        return self.when.get("written")

    def applies(self, facts: Facts) -> bool:
        """Whether the facts match `when`."""
        return all(
            want in facts.written if fact == "written" else attrgetter(fact)(facts) == want
            for fact, want in self.when.items()
        )


class Entry(Spec):
    """A planned value and its possible reasons. The first one that applies counts."""

    name: str
    of: str
    reasons: tuple[Reason, ...]
    also: tuple[str, ...] = ()
    as_written: bool = False
    """Whether it has no entry in the data, so that the reason is the documentation of the field."""
    planned: bool = True
    """Whether the plan has the value. Otherwise only the description has it."""

    def reason(self, facts: Facts) -> Reason:
        """The reason that applies."""
        return next(reason for reason in self.reasons if reason.applies(facts))


@cache
def entries(kind: Kind) -> tuple[Entry, ...]:
    """The entries of a kind: in the order of the data, then values that the plan copies from the description."""
    from_file = tuple(Entry(name=name, **raw) for name, raw in _data()[kind].items())
    if kind not in _MODELS:
        return from_file  # other fields are shown as in the description
    plan, spec = _MODELS[kind]
    explained = _SEPARATE_OBJECTS | {to_snake(name) for entry in from_file for name in (entry.name, *entry.also)}
    planned = {part.name for part in fields(plan)}
    same = {name: field for name, field in documented(spec).items() if name not in explained}
    return (*from_file, *(_as_written(name, field, name in planned) for name, field in same.items()))


def _as_written(name: str, field: FieldInfo, planned: bool) -> Entry:
    """A value of the user's file, which the plan has under the same name or not at all."""
    text = described(field).replace("{", "{{").replace("}", "}}")
    reasons = Reason(text=f"You chose it. {text}", when={"written": name}), Reason(text=f"Not set. {text}")
    return Entry(name=to_camel(name), of=name, reasons=reasons, as_written=True, planned=planned)


def zone_offers() -> dict[str, str]:
    """Texts for the evidence that a zone offers a generation."""
    return dict(_data()["zone_offers"])


def citation(source: str) -> str:
    """The citation of a source key."""
    own: dict[str, str] = _data()["sources"]
    return {**gpu_catalogue().sources, **catalogue().sources, **own}[source]
