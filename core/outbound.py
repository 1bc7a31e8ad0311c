"""Outbound targets: the addresses that Gatehouse may connect to on behalf of an organization.

An organization names targets (webhooks, SIEM, metadata, mail servers) that Gatehouse connects to from inside the
operator's network. `checked_url` judges what is typed; `is_allowed` judges each address that a name resolves to, at the
moment of connecting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from core.errors import BadRequest
from core.wording import Wording

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

URL_CHARACTERS_MAX: Final = 2000
_SCHEMES: Final = frozenset({"http", "https"})
_LOOPBACK: Final = ip_address("127.0.0.1")
_PORT_MAX: Final = 65535
# What resolvers read as an address although it is not four decimal numbers: 2130706433, 0x7f.1, 0177.0.0.1.
_NUMERIC_LABEL: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_IPV4_COMPATIBLE: Final = IPv6Network("::/96")
_IPV4_BITS: Final = 0xFFFF_FFFF


def is_allowed(address: Address, allowed: Iterable[Network]) -> bool:
    """Return whether a connection to this address is allowed: to a public one, or one that the operator has allowed."""
    judged = _ipv4_within(address) or address
    if any(judged in network for network in allowed):
        return True
    if isinstance(judged, IPv6Address) and (judged.is_site_local or judged in _LOCAL_NAT64):
        return False
    return judged.is_global and not judged.is_multicast and not judged.is_reserved


def checked_url(text: str, allowed: Iterable[Network], *, field: str = "url") -> str:
    """Return the URL of a target as it is stored; raise `BadRequest` for the field when it can be no target."""
    url = text.strip()
    if not url or len(url) > URL_CHARACTERS_MAX or any(ord(character) <= ord(" ") for character in url):
        raise BadRequest.of_field(
            field,
            Wording(
                "This must be a URL of at most %(maximum)s characters, without spaces.", maximum=URL_CHARACTERS_MAX
            ),
        )
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise BadRequest.of_field(field, "This is not a valid URL.") from None
    if parts.scheme.lower() not in _SCHEMES or not host or port == 0:
        raise BadRequest.of_field(field, "This must be a URL that starts with http:// or https:// and names a host.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise BadRequest.of_field(field, "This URL must have no user name, password or fragment.")
    if "\\" in url or not url.isascii():
        raise BadRequest.of_field(field, "Write this URL in ASCII: an international host in its xn-- form.")
    check_host(host, allowed, field=field)
    return url


def check_host(host: str, allowed: Iterable[Network], *, field: str) -> None:
    """Raise `BadRequest` for the field when the host is a private address or no host name at all."""
    address = address_of(host)
    if address is None and host.rstrip(".").rpartition(".")[2] == "localhost":
        address = _LOOPBACK
    if address is not None:
        if not is_allowed(address, allowed):
            raise BadRequest.of_field(
                field, "This is a private address. Use a public one, or ask the operator to allow this network."
            )
    elif not _HOST.fullmatch(host):
        raise BadRequest.of_field(field, "This is no valid name of a host.")
    elif _NUMERIC_LABEL.fullmatch(host.rstrip(".").rpartition(".")[2]):
        raise BadRequest.of_field(field, "Write this address as four decimal numbers, such as 203.0.113.7.")


def address_of(host: str) -> Address | None:
    """Return the address that a host is written as; None when it is a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _ipv4_within(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to; None when it leads to none."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or (address in _IPV4_COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & _IPV4_BITS)
    return None
