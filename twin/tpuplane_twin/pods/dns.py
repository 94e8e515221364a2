"""The names of a cluster's Services and pods, for what runs in its pods. It forwards no query."""

import asyncio
from typing import cast

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from tpuplane_twin.cluster.addresses import DOMAIN, dns_address
from tpuplane_twin.pods.services import Services

_SECONDS = 5  # for which an answer holds
_SMALLEST, _LARGEST = 512, 65_507  # bytes of a packet; a client can say how many it takes (RFC 6891)
_RECORD = 16  # bytes of an address, whose name refers to the question


def resolv_conf(services: str, namespace: str) -> str:
    """/etc/resolv.conf of a pod in `namespace`."""
    return (
        f"nameserver {dns_address(services)}\n"
        f"search {namespace}.svc.{DOMAIN} svc.{DOMAIN} {DOMAIN}\n"
        "options ndots:5 timeout:1 attempts:2\n"
    )


def answer(query: bytes, names: Services) -> bytes | None:
    """The answer to a query; None if it is not a query.

    It has as many addresses as fit. It is not marked as truncated: the client would ask again over TCP.
    """
    try:
        asked = dns.message.from_wire(query)
        response = dns.message.make_response(asked, recursion_available=True)
    except dns.exception.DNSException:
        return None
    response.flags |= dns.flags.AA
    if not asked.question:
        return response.to_wire()
    question = asked.question[0]
    found = lookup(question.name.to_text(omit_final_dot=True).lower(), names)
    if not found:
        response.set_rcode(dns.rcode.NXDOMAIN)
    elif question.rdtype in (dns.rdatatype.A, dns.rdatatype.ANY):
        largest = max(_SMALLEST, response.request_payload or _LARGEST)
        found = found[: (largest - len(response.to_wire())) // _RECORD]
        response.answer.append(
            dns.rrset.from_text_list(question.name, _SECONDS, dns.rdataclass.IN, dns.rdatatype.A, found)
        )
    return response.to_wire()


def lookup(name: str, names: Services) -> list[str]:
    """The addresses that `name` means: SERVICE.NAMESPACE.svc.cluster.local or HOST before it."""
    match name.removesuffix(f".svc.{DOMAIN}").split("."):
        case [service, namespace] if name.endswith(f".svc.{DOMAIN}"):
            return names.addresses(namespace, service)
        case [host, service, namespace] if name.endswith(f".svc.{DOMAIN}"):
            return names.host(namespace, service, host)
    return []


class NameServer(asyncio.DatagramProtocol):
    """Answers over UDP."""

    def __init__(self, names: Services) -> None:
        self._names = names
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It can answer now."""
        # No instance of it: asyncio's own datagram transports only have the same methods.
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """A query."""
        response = answer(data, self._names)
        if response is not None and self._transport is not None:
            self._transport.sendto(response, address)
