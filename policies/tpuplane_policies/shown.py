"""Resources that Pulumi's policy SDK shows, as rules see them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi_policy.policy as sdk
from pulumi_policy.proxy import UnknownValueError

from tpuplane_policies.core.resources import Resource
from tpuplane_policies.core.values import SENTINELS, UNKNOWN


def shown(resource: sdk.ResourceValidationArgs | sdk.PolicyResource) -> Resource:
    """The resource as rules see it."""
    return Resource(
        type=resource.resource_type,
        name=resource.name,
        urn=resource.urn,
        load=lambda: written(resource) if isinstance(resource, sdk.PolicyResource) else plain(resource.props),
        protect=resource.opts.protect,
        delete_before_replace=resource.opts.delete_before_replace,
        ignore_changes=tuple(resource.opts.ignore_changes),
        parent=resource.opts.parent or "",
        provider=resource.provider.urn if resource.provider else "",
        sources=frozenset(
            source.urn for found in getattr(resource, "property_dependencies", {}).values() for source in found
        ),
        namespace=plain(resource.provider.props).get("namespace") if resource.provider else None,
    )


def written(resource: sdk.PolicyResource) -> dict[str, Any]:
    """The properties that the program set, from the outputs of a resource.

    An unknown output without dependencies is omitted: the provider chooses its value, not the program.
    """
    props: dict[str, Any] = plain(resource.props)
    return {
        name: value if resource.property_dependencies.get(name) else _known(value)
        for name, value in props.items()
        if value is not UNKNOWN or resource.property_dependencies.get(name)
    }


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _known(below) for key, below in value.items() if below is not UNKNOWN}
    if isinstance(value, list):
        return [_known(element) for element in value if element is not UNKNOWN]
    return value


def plain(props: Any) -> Any:
    """The SDK's properties as plain values, with UNKNOWN where access to the SDK's value would raise."""
    if isinstance(props, Mapping):
        return {key: _item(props, key) for key in props}
    if isinstance(props, Sequence) and not isinstance(props, str | bytes):
        return [_item(props, index) for index in range(len(props))]
    return UNKNOWN if isinstance(props, str) and props in SENTINELS else props


def _item(props: Any, key: Any) -> Any:
    try:
        return plain(props[key])
    except UnknownValueError:
        return UNKNOWN
