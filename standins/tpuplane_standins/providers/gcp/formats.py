"""The string formats that the official plugin checks before it sends anything, with its messages."""

import ipaddress
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from importlib.resources import files
from typing import Final

import yaml

_PATTERNS: Final = yaml.safe_load(files(__package__).joinpath("data/formats.yaml").read_text("utf-8"))

_RFC1918: Final = tuple(map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))


def problems(name: str, path: str, value: str) -> Iterator[str]:
    """What is wrong with `value` for the format `name`; `path` is how the message calls the property."""
    for pattern, message in _PATTERNS.get(name, ()):
        if not re.search(pattern, value):
            yield message.format(path=path, value=value, pattern=pattern)
    if name not in _PATTERNS:
        yield from _FORMATS[name](path, value)


def _cidr(path: str, value: str) -> Iterator[str]:
    try:
        if "/" not in value:
            raise ValueError
        ipaddress.ip_interface(value)
    except ValueError:
        yield f'"{path}" is not a valid IP CIDR range: invalid CIDR address: {value}'


def _network(path: str, value: str, *, private: bool) -> Iterator[str]:
    """A network of RFC 1918, or one of 28 bits."""
    if not value:
        return
    low, high = (8, 32) if private else (28, 28)
    try:
        network = ipaddress.ip_network(value, strict=False)
    except ValueError:
        yield f'expected "{path}" to be a valid network Value, got {value}: invalid CIDR address: {value}'
        return
    if str(network) != value:
        yield f'expected "{path}" to be a valid network Value, expected {network}, got {value}'
    elif not low <= network.prefixlen <= high:
        yield (
            f'expected "{path}" to contain a network Value with between {low} and {high} significant bits, '
            f"got: {network.prefixlen}"
        )
    elif private and not any(network.network_address in allowed for allowed in _RFC1918):
        yield f'expected "{path}" to be an RFC1918-compliant CIDR, got: {value}'


def _rfc3339(path: str, value: str) -> Iterator[str]:
    try:
        if not re.fullmatch(r"[\d-]{10}T[\d:]{8}(\.\d+)?(Z|[+-]\d\d:\d\d)", value):
            raise ValueError
        datetime.fromisoformat(value)
    except ValueError:
        yield f'"{path}" ("{value}") is not a valid RFC3339 date'


def _private_asn(path: str, value: str) -> Iterator[str]:
    if not (
        value.isdigit() and (64512 <= int(value) <= 65534 or 4200000000 <= int(value) <= 4294967294 or value == "16550")
    ):
        yield (
            f'expected "{path}" to be a RFC6996-compliant Local ASN: must be either in the private ASN ranges: '
            "[64512..65534], [4200000000..4294967294]; or be the value of [16550]"
        )


def _iam_member(path: str, value: str) -> Iterator[str]:
    special = ("projectOwners", "projectReaders", "projectWriters", "allUsers", "allAuthenticatedUsers")
    if value.startswith("deleted"):
        yield f"invalid value for {path} (Terraform does not support IAM members for deleted principals)"
    elif not re.search(".+:.+", value) and not any(name in value for name in special):
        yield (
            f'invalid value "{value}" for {path} (IAM members must have one of the values outlined here: '
            "https://cloud.google.com/billing/docs/reference/rest/v1/Policy#Binding)"
        )


def _rotation_period(path: str, value: str) -> Iterator[str]:
    if value and not re.fullmatch(r"[0-9.]*\d", value.removesuffix("s")):
        yield f'"{path}" must end with a unit of s (seconds), such as 86401s'
    elif value and (not value.endswith("s") or float(value.removesuffix("s")) < 86400):
        yield "rotation period must be at least one day"


def _json(path: str, value: str) -> Iterator[str]:
    try:
        json.loads(value)
    except ValueError as error:
        yield f'"{path}" contains an invalid JSON: {error}'


_FORMATS: Final[dict[str, Callable[[str, str], Iterator[str]]]] = {
    "cidr": _cidr,
    "cidr28": partial(_network, private=False),
    "rfc1918": partial(_network, private=True),
    "rfc3339": _rfc3339,
    "privateAsn": _private_asn,
    "iamMember": _iam_member,
    "json": _json,
    "rotationPeriod": _rotation_period,
}
