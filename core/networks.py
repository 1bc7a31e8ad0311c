"""Networks of client addresses: which addresses share a limit, because one client can use all of them."""

from __future__ import annotations

import ipaddress
from typing import Final

LIMITED_IPV6_PREFIX_BITS: Final = 64
THROTTLED_IPV4_PREFIX_BITS: Final = 24
# The prefix of a whole site, which does not single out one of its people.
SHOWN_IPV6_PREFIX_BITS: Final = 48


def limited_network(address: str | None) -> str:
    """Return the network that shares a rate limit: the IPv4 address, or the /64 of an IPv6 address."""
    if address is None or ":" not in address:
        return address or "unknown"
    return str(ipaddress.ip_network(f"{address}/{LIMITED_IPV6_PREFIX_BITS}", strict=False))


def throttled_network(address: str | None) -> str:
    """Return the network by which attempts at an account are counted: an IPv4 /24 or an IPv6 /64."""
    if address is None or ":" in address:
        return limited_network(address)
    return str(ipaddress.ip_network(f"{address}/{THROTTLED_IPV4_PREFIX_BITS}", strict=False))


def shown_network(address: str | None) -> str:
    """Return the network that is shown in place of the address of a person: an IPv4 /24 or an IPv6 /48."""
    if address is None:
        return limited_network(address)
    bits = SHOWN_IPV6_PREFIX_BITS if ":" in address else THROTTLED_IPV4_PREFIX_BITS
    return str(ipaddress.ip_network(f"{address}/{bits}", strict=False))


def typed_network(typed: str) -> str | None:
    """Return the `throttled_network` of an address or a network that a person has typed; None for neither."""
    try:
        return throttled_network(str(ipaddress.ip_network(typed.strip(), strict=False).network_address))
    except ValueError:
        return None
