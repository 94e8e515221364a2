"""The models for arguments of programs, and the names of their TypedDicts in `tpuplane.args`."""

from collections.abc import Iterator

from pydantic import BaseModel

from tpuplane.spec import ClusterSettingsSpec, PlatformSpec
from tpuplane.spec.addons.addons import NamedDefinition
from tpuplane.spec.core.fields import unwrap_all
from tpuplane.workloads import MultisliceSpec, RayClusterSpec, RayJobSpec, RayServiceSpec

Model = type[BaseModel]

ROOTS: tuple[Model, ...] = (
    PlatformSpec,
    ClusterSettingsSpec,
    RayClusterSpec,
    RayJobSpec,
    RayServiceSpec,
    MultisliceSpec,
)

# The arguments of components have the names ClusterArgs, ComputeClassArgs and ExistingClusterArgs.
_OF_THE_PLATFORM = ("ClusterSpec", "ComputeClassSpec", "ExistingClusterSpec")


def models() -> tuple[Model, ...]:
    """All models, each after the models of its fields."""
    found: dict[Model, None] = {}
    for root in ROOTS:
        found |= dict.fromkeys(_within(root))
    return tuple(found)


def args_name(model: Model) -> str:
    """Name of the TypedDict with the model's fields."""
    front = "Platform" if model.__name__ in _OF_THE_PLATFORM else ""
    return f"{front}{model.__name__.removesuffix('Spec')}Args"


def _within(model: Model) -> Iterator[Model]:
    for field in model.model_fields.values():
        kind = unwrap_all(field.annotation)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not NamedDefinition:
            yield from _within(kind)
    yield model
