"""The twin's certificate authority, and the bundle with which programs in a shell trust it and public authorities."""

import os
import ssl
from pathlib import Path

import certifi

from tpuplane_twin.cluster.pki import Authority
from tpuplane_twin.machine.files import write_atomic
from tpuplane_twin.machine.paths import TwinPaths

_VARIABLE = "SSL_CERT_FILE"
VARIABLES = (_VARIABLE, "REQUESTS_CA_BUNDLE")
"""They name the bundle: Go, OpenSSL, Python and httpx read the first, requests the second.
"""


def twin_authority(paths: TwinPaths) -> Authority:
    """Load or create the twin's authority, and write the bundle with it and this machine's certificates."""
    authority = Authority(paths.root / "authority", "tpuplane-twin-root", signs_authorities=True)
    write_atomic(paths.trusted, "\n".join(filter(None, (_trusted_here(), authority.pem))))
    return authority


def _trusted_here() -> str:
    """The certificates that programs on this machine trust; without any, those of the package certifi."""
    found = [os.environ.get(name) for name in VARIABLES]
    default = ssl.get_default_verify_paths()
    # In a twin's shell the variables name that twin's bundle, which may be deleted later.
    own = TwinPaths.of().trusted.name
    files = [Path(name) for name in found if name and Path(name).name != own] or [Path(default.openssl_cafile)]
    texts = [file.read_text() for file in dict.fromkeys(files) if file.is_file()]
    return "\n".join(texts or [certifi.contents()])
