"""A certificate authority for each cluster, and the certificates it signs. Keys never leave the cluster's folder.

One authority of the twin signs each of them, too. It takes the place of the public authorities that sign GKE's DNS
endpoints: a client that trusts it needs no certificate of a cluster in its kubeconfig.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from tpuplane_twin.machine.files import write_atomic


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, as PEM files of mode 0600."""

    certificate: Path
    key: Path

    @property
    def exists(self) -> bool:
        """Whether both files are written."""
        return self.certificate.exists() and self.key.exists()

    def write(self, certificate: trustme.Blob, key: trustme.Blob) -> None:
        """Write both; the key first, because it is useless without its certificate."""
        write_atomic(self.key, key.bytes())
        write_atomic(self.certificate, certificate.bytes())


class Authority:
    """A certificate authority kept in a folder; it signs the certificate of a name once."""

    def __init__(self, folder: Path, name: str, *, signs_authorities: bool = False) -> None:
        """Load the authority called `name` from `folder`, or create it there. It is valid until 2038."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._name = name
        self.pair = KeyPair(folder / "ca.crt", folder / "ca.key")
        if not self.pair.exists:
            made = trustme.CA(path_length=int(signs_authorities), organization_name=name, organization_unit_name=name)
            self.pair.write(made.cert_pem, made.private_key_pem)
        self._authority = trustme.CA.from_pem(self.pair.certificate.read_bytes(), self.pair.key.read_bytes())

    @property
    def pem(self) -> str:
        """The authority's certificate."""
        return self.pair.certificate.read_text()

    def issue(self, name: str, *, hosts: Iterable[str] = ("127.0.0.1", "localhost")) -> KeyPair:
        """The key pair called `name`, for servers at `hosts` and for clients; created at the first call."""
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        if not pair.exists:
            made = self._authority.issue_cert(
                *hosts, common_name=name, organization_name=self._name, organization_unit_name=self._name
            )
            pair.write(made.cert_chain_pems[0], made.private_key_pem)
        return pair

    def chained(self, pair: KeyPair, above: Authority) -> Path:
        """The certificate of `pair` for a server whose clients trust either this authority or the one `above` it."""
        chain = pair.certificate.with_name(f"{pair.certificate.stem}-chain.crt")
        if not chain.exists():
            own, signer = (x509.load_pem_x509_certificate(authority.pem.encode()) for authority in (self, above))
            key = serialization.load_pem_private_key(above.pair.key.read_bytes(), password=None)
            builder = x509.CertificateBuilder(
                signer.subject,
                own.subject,
                own.public_key(),
                x509.random_serial_number(),
                own.not_valid_before_utc,
                own.not_valid_after_utc,
                list(own.extensions),
            )
            middle = builder.sign(cast(EllipticCurvePrivateKey, key), hashes.SHA256())
            write_atomic(chain, pair.certificate.read_bytes() + middle.public_bytes(serialization.Encoding.PEM))
        return chain


def signing_key(path: Path) -> Path:
    """The private key at `path` that signs service-account tokens; created when missing."""
    if not path.exists():
        write_atomic(path, trustme.CA().private_key_pem.bytes())
    return path
