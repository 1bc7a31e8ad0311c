"""The address of the client: the socket's peer, or the one that a trusted proxy reports."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from entrypoints.setting_kinds import Network

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# More proxies than any deployment chains; of a longer header only the last hops are read.
HOPS_MAX: Final = 20
PEERS_REMEMBERED_MAX: Final = 1024


def client_address(peer: str | None, forwarded_for: str, trusted: Sequence[Network]) -> str | None:
    """Return the right-most address of the chain that is not a trusted proxy; None when the peer has no address.

    An invalid address in the header ends the search.
    """
    address = _peer_address(peer)
    if address is None:
        return None
    for hop in reversed(forwarded_for.split(",")[-HOPS_MAX:]):
        further = _parsed(_without_port(hop.strip())) if _is_within(address, trusted) else None
        if further is None:
            break
        address = further
    return str(address)


def is_trusted_peer(peer: str | None, trusted: Sequence[Network]) -> bool:
    """Return whether the peer is a trusted proxy, whose forwarding headers are used."""
    address = _peer_address(peer)
    return address is not None and _is_within(address, trusted)


@lru_cache(PEERS_REMEMBERED_MAX)
def _peer_address(peer: str | None) -> Address | None:
    """Parse the address of a socket's peer; cached, because a peer sends many requests."""
    return _parsed(peer or "")


def _is_within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _parsed(text: str) -> Address | None:
    """Parse an address; an IPv4-mapped IPv6 address, as dual-stack sockets report it, becomes an IPv4 address."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
