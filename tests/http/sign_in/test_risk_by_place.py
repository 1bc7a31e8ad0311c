"""The location of a sign-in by a GeoIP database: its share of the risk, and where it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.geoip_database import MaxMindLocations
from adapters.postgres.unit_of_work import Tools
from tests.application import Answer
from tests.geoip import make_database, place
from tests.world.builder import PASSWORD
from tests.world.second_factors import Person, insert_person
from tests.world.world import World

LONDON, LEEDS, OSAKA, TOR = "81.2.69.142", "81.2.70.9", "2001:218::7", "185.220.101.4"


@pytest.fixture
def tools(tools: Tools, tmp_path: Path) -> Iterator[Tools]:
    """The usual tools, and a GeoIP database."""
    database = make_database(
        tmp_path / "city.mmdb",
        {
            "81.2.69.0/24": place("GB", "London"),
            "81.2.70.0/24": place("GB", "Leeds"),
            "2001:218::/32": place("JP", "Ōsaka"),
            "185.220.101.0/24": place("GB", is_anonymous=True, is_tor_exit_node=True),
        },
    )
    locations = MaxMindLocations(database)
    yield replace(tools, locations=locations)
    locations.close()


def last_event(world: World) -> tuple[Any, ...]:
    """Return the risk and the location of the last attempt."""
    [row] = world.rows(
        "SELECT risk_score, risk_factors, geo_country, geo_city FROM login_events ORDER BY id DESC LIMIT 1"
    )
    return row


async def known_in_london(world: World) -> dict[str, str]:
    """Sign in from London, and return the header that the device sends from then on."""
    world.user()
    answer = await world.log_in(address=LONDON)
    assert answer.status == 200
    return {"X-Device-Token": answer.json["device_token"]}


async def test_the_first_location_is_stored_and_not_a_risk(world: World) -> None:
    await known_in_london(world)

    assert last_event(world) == (30, ["new_device"], "GB", "London")


async def test_another_country_is_an_unknown_location(world: World) -> None:
    known = await known_in_london(world)

    await world.log_in(address=OSAKA, headers=known)
    assert last_event(world) == (20, ["unknown_location"], "JP", "Ōsaka")

    await world.log_in(address=OSAKA, headers=known)
    assert last_event(world) == (0, [], "JP", "Ōsaka")


async def test_another_city_is_no_unknown_location(world: World) -> None:
    known = await known_in_london(world)

    await world.log_in(address=LEEDS, headers=known)

    assert last_event(world) == (0, [], "GB", "Leeds")


async def test_a_proxy_adds_to_the_risk(world: World) -> None:
    known = await known_in_london(world)

    await world.log_in(address=TOR, headers=known)

    assert last_event(world) == (10, ["proxy"], "GB", None)


async def test_an_address_without_a_location_adds_no_risk(world: World) -> None:
    known = await known_in_london(world)

    await world.log_in(address="10.0.0.7", headers=known)

    assert last_event(world) == (0, [], None, None)


async def test_a_refused_attempt_does_not_make_its_location_known(world: World) -> None:
    known = await known_in_london(world)
    await world.log_in(address=OSAKA, password="not the password", headers=known)
    assert last_event(world) == (20, ["unknown_location"], "JP", "Ōsaka")

    await world.log_in(address=OSAKA, headers=known)

    assert last_event(world) == (40, ["unknown_location", "failed_attempt"], "JP", "Ōsaka")


async def test_a_device_shows_the_location_of_its_last_sign_in(world: World) -> None:
    known = await known_in_london(world)
    answer = await world.log_in(address=OSAKA, headers=known)
    [(device_id,)] = world.rows("SELECT id FROM devices")

    detail = await world.client.get(f"/api/user/devices/{device_id}", token=answer.json["access_token"])

    assert detail.json["last_location"] == {"city": "Ōsaka", "country": "JP"}
    assert detail.json["risk_score"] == 0.2
    assert detail.json["last_ip"] == OSAKA


@pytest.mark.parametrize(("failures", "needs_code"), [(2, False), (3, True)])
async def test_at_an_unknown_location_a_trusted_device_needs_a_code_after_fewer_failures(
    world: World, failures: int, *, needs_code: bool
) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    device = await trusted_device_in_london(ada)
    for _ in range(failures):
        await log_in_from(OSAKA, ada, {}, password="not this one")

    answer = await log_in_from(OSAKA, ada, device)

    assert answer.status == 200
    assert answer.json.get("mfa_required", False) is needs_code


async def trusted_device_in_london(person: Person) -> dict[str, str]:
    """Sign in from London with a code, request trust, and return the header that the device sends from then on."""
    answer = await person.world.client.post(
        "/api/auth/mfa/verify",
        token=(await log_in_from(LONDON, person, {})).json["preauth_token"],
        body={"code": person.code(), "trust_device": True},
        address=LONDON,
    )
    assert answer.status == 200, answer.text
    return {"X-Device-Token": answer.json["device_token"]}


async def log_in_from(address: str, person: Person, headers: dict[str, str], password: str = PASSWORD) -> Answer:
    """Send the password from an address."""
    return await person.world.client.post(
        "/api/auth/login", body={"email": person.email, "password": password}, headers=headers, address=address
    )
