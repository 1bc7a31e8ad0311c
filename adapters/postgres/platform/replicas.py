"""Where the primary is in its log of changes."""

from __future__ import annotations

from typing import Final

from adapters.postgres.driver.positions import POSITION
from adapters.postgres.transaction import Aggregate
from core.platform.replicas import PrimaryPlace

PLACE: Final = f"""
    SELECT system_identifier, current_database() AS database, ({POSITION}) AS position FROM pg_control_system()
"""


class PostgresPrimary(Aggregate):
    """The port `Primary`."""

    def place(self) -> PrimaryPlace:
        return self._only(PrimaryPlace, PLACE)
