"""Small GeoIP databases for tests, in MaxMind's format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmdb_writer import MMDBWriter
from netaddr import IPSet

KIND = "GeoLite2-City"


def place(country: str, city: str | None = None, **traits: bool) -> dict[str, Any]:
    """Return a record as in the location databases."""
    record: dict[str, Any] = {"country": {"iso_code": country, "names": {"en": f"Country {country}"}}}
    if city is not None:
        record["city"] = {"geoname_id": 2643743, "names": {"de": f"{city} (auf Deutsch)", "en": city}}
    if traits:
        record["traits"] = traits
    return record


def make_database(path: Path, networks: Mapping[str, Any], *, kind: str = KIND, ip_version: int = 6) -> Path:
    """Write a database of networks and their records, and return its path."""
    writer = MMDBWriter(
        ip_version=ip_version,
        database_type=kind,
        languages=["en"],
        description="For tests",
        ipv4_compatible=ip_version == 6,
    )
    for network, record in networks.items():
        writer.insert_network(IPSet([network]), record)
    writer.to_db_file(str(path))
    return path
