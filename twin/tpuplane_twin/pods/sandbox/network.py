"""The pod network of one cluster: a network namespace that routes between those of its pods.

A pod has one address, a /32, and a pair of virtual interfaces whose other end is here. There is no route out of this
namespace, so connections to other networks fail at once.
"""

import contextlib
import socket
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

GATEWAY = "169.254.1.1"  # link-local: never the address of a pod or Service


def prepare(services: str) -> None:
    """Make this new namespace the cluster's router; packets to Services in the range `services` end here."""
    with IPRoute() as route:
        loopback = route.link_lookup(ifname="lo")[0]
        route.link("set", index=loopback, state="up")
        route.addr("add", index=loopback, address=GATEWAY, prefixlen=32)
        # Every Service address is local, so one listener serves all.
        route.route("add", dst=services, oif=loopback, type="local", scope="host", table=255)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def own(address: str) -> None:
    """Route packets for `address` to this namespace, as those for Services."""
    with IPRoute() as route:
        loopback = route.link_lookup(ifname="lo")[0]
        route.route("replace", dst=f"{address}/32", oif=loopback, type="local", scope="host", table=255)


def plug_in(name: str, address: str, pid: int) -> None:
    """Connect the network namespace of process `pid`, the pod at `address`, by an interface called `name`."""
    with IPRoute() as route:
        # The kernel deletes the pod's former interface with its namespace, but not at once.
        for index in route.link_lookup(ifname=name):
            with contextlib.suppress(NetlinkError):
                route.link("del", index=index)
        route.link("add", ifname=name, kind="veth", peer={"ifname": "eth0", "net_ns_pid": pid})
        index = route.link_lookup(ifname=name)[0]
        route.link("set", index=index, state="up")
        route.route("replace", dst=f"{address}/32", oif=index, scope="link")


def configure(address: str) -> None:
    """In the pod's namespace, after `plug_in`: set its address and route."""
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname="lo")[0], state="up")
        index = route.link_lookup(ifname="eth0")[0]
        route.addr("add", index=index, address=address, prefixlen=32)
        route.link("set", index=index, state="up")
        route.route("add", dst=f"{GATEWAY}/32", oif=index, scope="link")
        route.route("add", dst="default", gateway=GATEWAY, oif=index)


def new_socket(kind: str) -> socket.socket:
    """A socket of this namespace; `kind` is "tcp" or "udp"."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    if kind == "tcp":
        # Connections of a Service's former listener may still exist.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made
