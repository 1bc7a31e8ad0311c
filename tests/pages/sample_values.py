"""The values that the samples of pages share."""

from datetime import UTC, datetime
from typing import Final

NOW: Final = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
EMAIL: Final = "somebody.with.a.long.name@an.even.longer.name.of.a.host.example.com"
NAME: Final = "The Royal Society of <b>Shipwrights</b> & Daughters, established in 1612"
PROBLEM: Final = "The passwords do not match."
ID: Final = "0191d3c1-0000-7000-8000-00000000000f"
