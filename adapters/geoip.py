"""Where addresses seem to be where no GeoIP database was given: nobody knows (decisions 4.3).

With a database it is `geoip_database.py`, which is loaded only then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from core.sign_in.risk import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """What a database is called, and when it was made."""

    kind: str
    made_at: datetime


class NoLocations:
    """The port `Locations` of an installation without a GeoIP database."""

    edition: Edition | None = None

    def find(self, ip_address: str | None) -> Location | None:  # noqa: ARG002 - the port's signature
        """Find nothing."""
        return None

    def close(self) -> None:
        """Let go of nothing."""
