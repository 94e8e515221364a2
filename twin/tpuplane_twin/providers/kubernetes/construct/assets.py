"""Files that a program hands over as assets."""

from __future__ import annotations

from pathlib import Path

from google.protobuf import struct_pb2

from tpuplane_twin.providers.contract import ProviderError
from tpuplane_twin.providers.values import ASSET_SIGNATURE, SIGNATURE_KEY


def texts_of(files: struct_pb2.Value) -> list[str]:
    """The texts of a list of assets. Raises `ProviderError` for anything else, and for what cannot be read."""
    return [_text(each) for each in files.list_value.values]


def _text(value: struct_pb2.Value) -> str:
    fields = value.struct_value.fields
    if SIGNATURE_KEY not in fields or fields[SIGNATURE_KEY].string_value != ASSET_SIGNATURE:
        raise ProviderError("valueYamlFiles: a list of assets is wanted, such as pulumi.FileAsset('values.yaml')")
    if path := fields["path"].string_value:
        try:
            return Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise ProviderError(f"valueYamlFiles: {error}") from error
    if fields["uri"].string_value:
        raise ProviderError("valueYamlFiles: the twin's own Kubernetes provider takes files and texts, no addresses")
    return fields["text"].string_value
