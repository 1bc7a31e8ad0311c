"""Locations from a database in MaxMind's format (GeoIP2, GeoLite2, DB-IP and others), mapped into memory once.

All processes of a machine share the mapped pages, and a lookup takes microseconds. A newer database replaces the
file by renaming, as the usual updaters do, and is used from the next start on.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

import maxminddb
import structlog

from adapters.geoip import Edition
from core.sign_in.risk import Location

# In `traits` of the databases about locations, and at the top of those about anonymous networks.
_PROXY_FLAGS: Final = (
    "is_anonymous",
    "is_anonymous_proxy",
    "is_anonymous_vpn",
    "is_public_proxy",
    "is_residential_proxy",
    "is_tor_exit_node",
)

log = structlog.get_logger(__name__)


class GeoipDatabaseInvalid(Exception):
    """The file cannot be used; the message tells the operator why."""


class MaxMindLocations:
    """The port `Locations`."""

    def __init__(self, path: Path) -> None:
        try:
            self._reader = maxminddb.open_database(path)  # pyright: ignore[reportUnknownMemberType] - a loose annotation
        except OSError as error:
            raise GeoipDatabaseInvalid(f"{path} cannot be read: {error.strerror or 'it is not a file'}.") from error
        except (maxminddb.InvalidDatabaseError, TypeError, ValueError) as error:
            # The pure Python reader raises the last two for files with arbitrary content.
            raise GeoipDatabaseInvalid(f"{path} is not a database in MaxMind's format (.mmdb).") from error
        self._knows_ipv6 = self._reader.metadata().ip_version == 6
        self._has_logged = False

    @property
    def edition(self) -> Edition:
        """The edition of the database."""
        metadata = self._reader.metadata()
        return Edition(kind=metadata.database_type, made_at=datetime.fromtimestamp(metadata.build_epoch, UTC))

    def find(self, ip_address: str | None) -> Location | None:
        """Return the location of an address; None when it is unknown or that part of the database is damaged."""
        address = _parsed(ip_address)
        if address is None or (address.version == 6 and not self._knows_ipv6):
            return None
        try:
            record = cast("object", self._reader.get(address))  # pyright: ignore[reportUnknownMemberType] - likewise
        except maxminddb.InvalidDatabaseError as broken:
            # A damaged database does not prevent signing in, and one line in the log is enough.
            if not self._has_logged:
                log.warning("geoip.database_broken", reason=str(broken))
            self._has_logged = True
            return None
        return _location(_parts(record)) if record is not None else None

    def close(self) -> None:
        """Unmap the database."""
        self._reader.close()


def _parsed(ip_address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address((ip_address or "").partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _location(record: Mapping[str, object]) -> Location:
    names = _parts(_parts(record.get("city")).get("names"))
    flags = {**_parts(record.get("traits")), **record}
    return Location(
        country=_text(_parts(record.get("country")).get("iso_code")),
        city=_text(names.get("en")),
        is_proxy=any(flags.get(flag) is True for flag in _PROXY_FLAGS),
    )


def _parts(value: object) -> Mapping[str, object]:
    """Return a part of a record; empty when a database of another vendor has a different type there."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
