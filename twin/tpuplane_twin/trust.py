"""The twin's own certificate authority, and the bundle by which a shell's programs trust it beside the public ones."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.files import write_atomic
from tpuplane_twin.paths import TwinPaths

VARIABLE = "SSL_CERT_FILE"
"""Go, Python and OpenSSL read the certificates that they trust from the file that it names."""


def twin_authority(paths: TwinPaths) -> Authority:
    """Load or create the twin's authority, and write the bundle with it and what this machine trusts."""
    authority = Authority(paths.root / "authority", "tpuplane-twin-root", stands_above=True)
    write_atomic(paths.trusted, "\n".join(filter(None, (_trusted_here(), authority.pem))))
    return authority


def _trusted_here() -> str:
    """The certificates that programs on this machine trust; empty where they lie in a folder alone."""
    found = os.environ.get(VARIABLE) or ssl.get_default_verify_paths().cafile
    # A shell of a twin names that twin's bundle, which may be gone tomorrow.
    if not found or Path(found).name == TwinPaths.of().trusted.name or not Path(found).is_file():
        found = ssl.get_default_verify_paths().openssl_cafile
    return Path(found).read_text() if Path(found).is_file() else ""
