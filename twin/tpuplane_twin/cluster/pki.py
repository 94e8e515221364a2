"""A certificate authority per cluster, and the certificates it signs. Keys never leave the cluster's folder.

Above them stands one authority of the twin, which signs each of them too. It takes the place of the public authorities
that sign GKE's DNS endpoints: a client that trusts it needs no cluster's certificate in its kubeconfig.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tpuplane_twin.machine.files import write_atomic

# A twin's folder may lie unused for long; nothing outside this machine trusts these certificates.
_LIFETIME = dt.timedelta(days=3650)

_Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, as PEM files of mode 0600."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority kept in a folder; what it has signed once is signed only once."""

    def __init__(self, folder: Path, name: str, *, stands_above: bool = False) -> None:
        """Load the authority called `name` from `folder`, or create it there.

        One that `stands_above` may sign other authorities.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self.pair = KeyPair(folder / "ca.crt", folder / "ca.key")
        if not (self.pair.certificate.exists() and self.pair.key.exists()):
            key = ec.generate_private_key(ec.SECP256R1())
            certificate = _authority_certificate(name, key, depth=1 if stands_above else 0)
            _write_key(self.pair.key, key)
            _write_certificate(self.pair.certificate, certificate)
        self._certificate = x509.load_pem_x509_certificate(self.pair.certificate.read_bytes())
        loaded = serialization.load_pem_private_key(self.pair.key.read_bytes(), password=None)
        if not isinstance(loaded, _Key):
            raise ValueError(f"{self.pair.key} does not hold the authority's key")
        self._key = loaded

    @property
    def pem(self) -> str:
        """The authority's certificate."""
        return self.pair.certificate.read_text()

    def issue(self, name: str, *, hosts: Iterable[str] = ("127.0.0.1", "localhost")) -> KeyPair:
        """The key pair called `name`, for servers at `hosts` and for clients; created at the first call."""
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        if not (pair.certificate.exists() and pair.key.exists()):
            key = ec.generate_private_key(ec.SECP256R1())
            _write_key(pair.key, key)
            _write_certificate(pair.certificate, self._sign(name, key, hosts))
        return pair

    def chained(self, pair: KeyPair, above: Authority) -> Path:
        """The certificate of `pair` for a server whose clients trust either this authority or the one `above` it."""
        chain = pair.certificate.with_name(f"{pair.certificate.stem}-chain.crt")
        if not chain.exists():
            subject = self._certificate.subject
            middle = (
                _builder(subject, above._certificate.subject, self._key)
                .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
                .add_extension(_key_usage(signs_certificates=True), critical=True)
                .add_extension(
                    x509.AuthorityKeyIdentifier.from_issuer_public_key(above._key.public_key()), critical=False
                )
                .sign(above._key, hashes.SHA256())
            )
            own = pair.certificate.read_bytes()
            write_atomic(chain, own + middle.public_bytes(serialization.Encoding.PEM))
        return chain

    def _sign(self, name: str, key: _Key, hosts: Iterable[str]) -> x509.Certificate:
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        return (
            _builder(_named(name), self._certificate.subject, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.SubjectAlternativeName([_alternative(host) for host in hosts]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def signing_key(path: Path) -> Path:
    """The private key at `path` that signs service-account tokens; created when missing."""
    if not path.exists():
        _write_key(path, ec.generate_private_key(ec.SECP256R1()))
    return path


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _authority_certificate(name: str, key: _Key, depth: int) -> x509.Certificate:
    return (
        _builder(_named(name), _named(name), key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=depth), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )


def _builder(subject: x509.Name, issuer: x509.Name, key: _Key) -> x509.CertificateBuilder:
    # An hour back: other programs on this machine may read the clock through a virtual machine's lag.
    start = dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write_key(path: Path, key: _Key) -> None:
    write_atomic(
        path,
        key.private_bytes(
            serialization.Encoding.PEM,
            # "EC PRIVATE KEY": the API server reads no elliptic-curve key in PKCS #8 as a signing key.
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ),
    )


def _write_certificate(path: Path, certificate: x509.Certificate) -> None:
    write_atomic(path, certificate.public_bytes(serialization.Encoding.PEM))
