"""Locations from a GeoIP database: addresses that are found, unknown addresses, and invalid databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import mmdb_writer
import pytest
from structlog.testing import capture_logs

from adapters.geoip import NoLocations
from adapters.geoip_database import GeoipDatabaseInvalid, MaxMindLocations
from core.sign_in.risk import Location
from tests.geoip import KIND, make_database, place

NETWORKS = {
    "81.2.69.0/24": place("GB", "London"),
    "89.160.20.0/24": place("SE"),
    "2001:218::/32": place("JP", "Ōsaka"),
    "185.220.101.0/24": place("DE", is_tor_exit_node=True, is_anonymous=True),
    "203.0.113.0/25": {"is_anonymous": True, "is_anonymous_vpn": True},
    "203.0.113.128/25": {"traits": {"is_anonymous": False, "is_satellite_provider": True}},
}


@pytest.fixture
def locations(tmp_path: Path) -> Iterator[MaxMindLocations]:
    """A database of a few networks."""
    locations = MaxMindLocations(make_database(tmp_path / "city.mmdb", NETWORKS))
    yield locations
    locations.close()


@pytest.mark.parametrize(
    ("address", "location"),
    [
        ("81.2.69.142", Location(country="GB", city="London")),
        ("::ffff:81.2.69.142", Location(country="GB", city="London")),
        ("89.160.20.112", Location(country="SE", city=None)),
        ("2001:218::1", Location(country="JP", city="Ōsaka")),
        ("2001:218::1%eth0", Location(country="JP", city="Ōsaka")),
    ],
)
def test_an_address_has_the_location_of_its_network(
    locations: MaxMindLocations, address: str, location: Location
) -> None:
    assert locations.find(address) == location


@pytest.mark.parametrize(
    "address", [None, "", "unknown", "81.2.69", "127.0.0.1", "10.0.0.7", "fe80::1%eth0", "2a00::1"]
)
def test_an_address_that_is_not_in_the_database_has_no_location(
    locations: MaxMindLocations, address: str | None
) -> None:
    assert locations.find(address) is None


@pytest.mark.parametrize(
    ("address", "is_proxy"),
    [("81.2.69.142", False), ("185.220.101.4", True), ("203.0.113.9", True), ("203.0.113.200", False)],
)
def test_an_address_is_a_proxy_if_its_record_contains_that(
    locations: MaxMindLocations, address: str, *, is_proxy: bool
) -> None:
    found = locations.find(address)

    assert found is not None
    assert found.is_proxy is is_proxy


@pytest.mark.parametrize(
    "record",
    ["Atlantis", ["GB"], 7, {"country": "GB"}, {"country": {"iso_code": 44}}, {"city": {"names": ["London"]}}, {}],
)
def test_a_record_of_another_shape_has_neither_country_nor_city(tmp_path: Path, record: object) -> None:
    locations = MaxMindLocations(make_database(tmp_path / "odd.mmdb", {"81.2.69.0/24": record}))

    assert locations.find("81.2.69.142") == Location(country=None, city=None)


def test_a_database_of_ipv4_addresses_finds_no_ipv6_address(tmp_path: Path) -> None:
    locations = MaxMindLocations(make_database(tmp_path / "v4.mmdb", {"81.2.69.0/24": place("GB")}, ip_version=4))

    assert locations.find("81.2.69.142") == Location(country="GB", city=None)
    assert locations.find("2001:218::1") is None


def test_the_edition_has_a_kind_and_a_build_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_at = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    monkeypatch.setattr(mmdb_writer, "time", SimpleNamespace(time=made_at.timestamp))

    edition = MaxMindLocations(make_database(tmp_path / "city.mmdb", NETWORKS)).edition

    assert (edition.kind, edition.made_at) == (KIND, made_at)


@pytest.mark.parametrize("content", [b"", b"hello" * 1000, b"\xab\xcd\xefMaxMind.com\xe0"])
def test_a_file_of_another_format_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "city.mmdb"
    path.write_bytes(content)

    with pytest.raises(
        GeoipDatabaseInvalid, match=r"^.*city\.mmdb is not a database in MaxMind's format \(\.mmdb\)\.$"
    ):
        MaxMindLocations(path)


def test_an_absent_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(GeoipDatabaseInvalid, match=r"^.*absent\.mmdb cannot be read: No such file or directory\.$"):
        MaxMindLocations(tmp_path / "absent.mmdb")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GeoipDatabaseInvalid):
        MaxMindLocations(tmp_path)


def test_an_unreadable_record_has_no_location_and_is_logged_once(tmp_path: Path) -> None:
    path = make_database(tmp_path / "city.mmdb", NETWORKS)
    content = path.read_bytes()
    # The first record is overwritten, so that the tree still leads to it and it cannot be parsed.
    begin = content.index(b"\x00" * 16) + 16
    path.write_bytes(content[:begin] + b"\xff" * 64 + content[begin + 64 :])
    locations = MaxMindLocations(path)

    with capture_logs() as lines:
        found = [locations.find(address) for address in ("81.2.69.142", "81.2.69.143", "81.2.69.144")]

    assert found == [None, None, None]
    assert [line["event"] for line in lines] == ["geoip.database_broken"]


def test_without_a_database_no_address_has_a_location() -> None:
    no_locations = NoLocations()

    assert no_locations.find("81.2.69.142") is None
    assert no_locations.edition is None
    no_locations.close()
