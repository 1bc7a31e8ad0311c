"""Locations without a GeoIP database: every address is unknown, and location adds nothing to the risk of a sign-in.

`geoip_database.py` implements the port with a database, and is loaded only then.
"""

from __future__ import annotations

from datetime import datetime

from core.lazy_dataclasses import dataclass
from core.sign_in.risk import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """The type of a database, and when it was built."""

    kind: str
    made_at: datetime


class NoLocations:
    """The port `Locations` of an installation without a GeoIP database."""

    edition: Edition | None = None

    def find(self, ip_address: str | None) -> Location | None:  # noqa: ARG002 - the port's signature
        """Return None."""
        return None

    def close(self) -> None:
        """Do nothing."""
