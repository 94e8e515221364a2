"""CRDs without their prose: three quarters of them are descriptions, which the state would hold four times over."""

from collections.abc import Mapping
from typing import Any

# Where keys are names of fields, of which one may well be called "description".
_NAMES = frozenset({"properties", "patternProperties", "definitions"})


def without_descriptions(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CustomResourceDefinition whose schemas say what is allowed and no longer what it is for.

    Kueue's and JobSet's are 1.2 MB with their descriptions, and a backend that writes the whole state after each step
    writes that for each cluster, for each object. What the API server checks, defaults and prunes is unchanged.
    """
    return {**definition, "spec": _schema(definition["spec"])}


def _schema(value: Any) -> Any:
    match value:
        case Mapping():
            return {
                key: {name: _schema(field) for name, field in item.items()}
                if key in _NAMES and isinstance(item, Mapping)
                else _schema(item)
                for key, item in value.items()
                if not (key == "description" and isinstance(item, str))
            }
        case list() | tuple():
            return [_schema(item) for item in value]
        case _:
            return value
