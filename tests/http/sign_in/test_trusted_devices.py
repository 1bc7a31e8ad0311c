"""Devices that remember the second factor."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.postgres.driver.connection import Connection
from core.sessions.tokens import TokenKind
from entrypoints.installation import Installation
from tests.clock import SettableClock
from tests.world.second_factors import Person, insert_person
from tests.world.world import World

SECOND = timedelta(seconds=1)
TOKEN_LIFETIME = timedelta(days=90)
TRUST_DEFAULT = timedelta(days=30)


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a second factor."""
    person = insert_person(world)
    await person.turn_mfa_on()
    return person


async def trusted_device(person: Person) -> dict[str, str]:
    """Sign in with a code, request trust, and return the header that the device sends from then on."""
    answer = await person.verify(await person.preauth_token(), person.code(), trust_device=True)
    assert answer.status == 200, answer.json
    return {"X-Device-Token": answer.json["device_token"]}


async def needs_a_code(person: Person, device: dict[str, str], org_slug: str | None = None) -> bool:
    answer = await person.log_in(headers=device, **({"org_slug": org_slug} if org_slug else {}))
    assert answer.status == 200, answer.json
    return answer.json.get("mfa_required", False)


async def test_a_trusted_device_needs_no_code(ada: Person) -> None:
    device = await trusted_device(ada)

    assert not await needs_a_code(ada, device)


async def test_the_cookie_identifies_the_device_like_the_header(ada: Person) -> None:
    token = (await trusted_device(ada))["X-Device-Token"]

    assert not await needs_a_code(ada, {"Cookie": f"gatehouse_device={token}"})


async def test_a_device_is_trusted_only_on_request(ada: Person) -> None:
    answer = await ada.verify(await ada.preauth_token(), ada.code())

    assert await needs_a_code(ada, {"X-Device-Token": answer.json["device_token"]})


async def test_another_device_needs_a_code(ada: Person) -> None:
    await trusted_device(ada)

    assert await needs_a_code(ada, {})
    assert await needs_a_code(ada, {"X-Device-Token": "a forged token"})


async def test_the_trusted_device_of_another_user_needs_a_code(ada: Person, world: World) -> None:
    grace = insert_person(world, "grace@example.com")
    await grace.turn_mfa_on()

    assert await needs_a_code(grace, await trusted_device(ada))


async def test_the_access_token_records_that_the_device_was_trusted(ada: Person, installation: Installation) -> None:
    answer = await ada.log_in(headers=await trusted_device(ada))

    claims = installation.tokens.verify(answer.json["access_token"], kind=TokenKind.ACCESS, now=installation.clock())
    assert claims["amr"] == ["pwd", "trusted"]


async def test_trust_lasts_thirty_days_by_default(ada: Person, clock: SettableClock) -> None:
    device = await trusted_device(ada)

    clock.advance(TRUST_DEFAULT - SECOND)
    assert not await needs_a_code(ada, device)
    clock.advance(SECOND)
    assert await needs_a_code(ada, device)


@pytest.mark.parametrize("days", [1, 60])
async def test_an_organization_sets_the_duration_of_trust(
    ada: Person, clock: SettableClock, connection: Connection, days: int
) -> None:
    ada.join_organization(device_trust_days=days)
    device = await trusted_device(ada)

    clock.advance(timedelta(days=days) - SECOND)
    assert not await needs_a_code(ada, device, org_slug="engines")
    clock.advance(SECOND)
    assert await needs_a_code(ada, device, org_slug="engines")


async def test_trust_ends_when_the_device_token_expires(
    ada: Person, clock: SettableClock, connection: Connection
) -> None:
    ada.join_organization(device_trust_days=1000)
    device = await trusted_device(ada)

    clock.advance(TOKEN_LIFETIME - SECOND)
    assert not await needs_a_code(ada, device, org_slug="engines")
    clock.advance(SECOND)
    assert await needs_a_code(ada, device, org_slug="engines")


async def test_above_a_risk_of_0_7_a_trusted_device_needs_a_code(ada: Person, clock: SettableClock) -> None:
    device = await trusted_device(ada)
    for _ in range(3):
        await ada.log_in(password="not this one")
    assert not await needs_a_code(ada, device)

    await ada.log_in(password="nor this one")

    assert await needs_a_code(ada, device)
    clock.advance(timedelta(minutes=15))
    assert not await needs_a_code(ada, device)


async def test_another_code_renews_the_trust(ada: Person, clock: SettableClock) -> None:
    device = await trusted_device(ada)
    clock.advance(TRUST_DEFAULT)
    await ada.world.client.post(
        "/api/auth/mfa/verify",
        token=await ada.preauth_token(),
        body={"code": ada.code(), "trust_device": True},
        headers=device,
    )

    clock.advance(TRUST_DEFAULT - SECOND)

    assert not await needs_a_code(ada, device)


async def test_turning_the_second_factor_off_ends_the_trust(ada: Person) -> None:
    device = await trusted_device(ada)

    await ada.mfa("DELETE", "")
    await ada.turn_mfa_on()

    assert await needs_a_code(ada, device)


async def test_resetting_the_password_ends_the_trust(ada: Person) -> None:
    device = await trusted_device(ada)

    await ada.reset_password("an entirely different phrase")

    answer = await ada.log_in("an entirely different phrase", headers=device)
    assert (answer.status, answer.json["mfa_required"]) == (200, True)


async def test_turning_the_second_factor_off_keeps_the_trusted_devices_of_other_users(
    ada: Person, world: World
) -> None:
    grace = insert_person(world, "grace@example.com")
    await grace.turn_mfa_on()
    device = await trusted_device(grace)

    await ada.mfa("DELETE", "")

    assert not await needs_a_code(grace, device)
