"""Login events: the record of every attempt to sign in to an account."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest

from tests.statements import recorded_statements
from tests.world.builder import EMAIL
from tests.world.second_factors import insert_person
from tests.world.world import World

CURL = {"User-Agent": "curl/8.5.0"}


def events(world: World, *columns: str) -> list[tuple[Any, ...]]:
    """Return the columns of all login events, the oldest first."""
    return world.rows(f"SELECT {', '.join(columns)} FROM login_events ORDER BY id")


async def test_a_sign_in_is_recorded_with_its_risk_device_and_origin(world: World) -> None:
    user_id = world.user()

    tokens = await world.sign_in(headers=CURL)

    device_id: UUID = world.value("SELECT device_id FROM sessions WHERE id = %s", tokens.session_id)
    assert events(
        world,
        "user_id",
        "provider",
        "success",
        "ip_address",
        "user_agent",
        "risk_score",
        "risk_factors",
        "device_id",
        "created_at",
    ) == [
        (user_id, "password", True, "10.0.0.1", "curl/8.5.0", 30, ["new_device"], device_id, world.clock()),
    ]


async def test_a_sign_in_is_recorded_with_its_organization_and_service(world: World) -> None:
    user_id = world.user()
    organization_id = world.organization("acme")
    world.member(organization_id, user_id)
    world.service(organization_id, "shop")
    service_id = world.value("SELECT id FROM services")

    await world.sign_in()
    await world.sign_in(org_slug="acme")
    await world.sign_in(org_slug="acme", service_slug="shop")

    assert events(world, "organization_id", "service_id") == [
        # The person is in the place of no organization.
        (user_id, None),
        (organization_id, None),
        (organization_id, service_id),
    ]


async def test_a_refused_attempt_is_recorded_with_its_risk_and_origin(world: World) -> None:
    user_id = world.user()

    await world.log_in(password="not the password", headers=CURL)
    await world.log_in(password="nor this", headers=CURL)

    assert events(world, "user_id", "success", "ip_address", "user_agent", "risk_score", "risk_factors") == [
        (user_id, False, "10.0.0.1", "curl/8.5.0", 30, ["new_device"]),
        # The risk at that time: it counts the previous failure, but not this one.
        (user_id, False, "10.0.1.1", "curl/8.5.0", 50, ["new_device", "failed_attempt"]),
    ]


async def test_a_refused_attempt_names_the_device_only_with_its_token(world: World) -> None:
    world.user()
    known = await world.sign_in(headers=CURL)
    device_id: UUID = world.value("SELECT device_id FROM sessions WHERE id = %s", known.session_id)

    await world.log_in(password="not the password", headers=CURL)
    await world.log_in(password="not the password", headers=CURL | {"X-Device-Token": known.device_token})

    assert events(world, "device_id", "risk_factors")[1:] == [
        (None, ["new_device"]),
        (device_id, ["failed_attempt"]),
    ]


@pytest.mark.parametrize(("is_verified", "is_active"), [(False, True), (True, False)])
async def test_a_right_password_for_an_unverified_or_inactive_account_is_a_refused_attempt(
    world: World, *, is_verified: bool, is_active: bool
) -> None:
    world.user(is_verified=is_verified, is_active=is_active)

    await world.log_in()

    assert events(world, "success") == [(False,)]


async def test_attempts_at_addresses_without_an_account_are_not_recorded(world: World) -> None:
    await world.log_in()

    assert events(world, "id") == []


async def test_a_sign_in_with_a_second_factor_is_one_event_before_and_after_the_code(world: World) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    ada.next_step()

    preauth_token = await ada.preauth_token()
    assert events(world, "success", "reason")[1:] == [(False, "second_factor_asked")]
    await ada.verify(preauth_token, ada.wrong_code())
    assert events(world, "success", "reason")[1:] == [(False, "wrong_code")]
    await ada.verify(preauth_token, ada.code())

    assert events(world, "success", "reason", "risk_factors", "provider")[1:] == [
        (True, None, ["new_device"], "password")
    ]


async def test_a_second_factor_that_was_asked_for_raises_no_risk(world: World) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    ada.next_step()

    await ada.preauth_token()
    await ada.verify(await ada.preauth_token(), ada.code())

    assert events(world, "risk_factors")[-1] == (["new_device"],)


async def test_too_many_wrong_codes_are_one_refused_attempt(world: World) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    known = (await ada.verify(await ada.preauth_token(), ada.code())).json["device_token"]
    preauth_token = await ada.preauth_token()

    for _ in range(5):
        await ada.world.client.post(
            "/api/auth/mfa/verify",
            token=preauth_token,
            body={"code": ada.wrong_code()},
            headers={"X-Device-Token": known},
        )

    assert events(world, "success", "risk_factors", "device_id IS NULL")[2:] == [(False, [], False)]


async def test_no_sign_in_asks_more_than_one_part_of_the_log(world: World) -> None:
    world.organization("acme")
    ada = insert_person(world)
    await ada.turn_mfa_on()
    ada.next_step()

    with recorded_statements() as statements:
        await world.log_in(password="not the password")
        await world.log_in(email="nobody@example.com")
        await world.log_in(org_slug="acme")
        await world.log_in(org_slug="nowhere")
        preauth_token = await ada.preauth_token()
        await ada.verify(preauth_token, ada.wrong_code())
        await ada.verify(preauth_token, ada.code())

    asked = {statement for statement in statements if "login_events" in statement}
    # What is written names its organization, and nothing is read.
    assert len(asked) == 3
    for statement in asked:
        is_insert = re.match(r"INSERT INTO login_events \([\w, ]+\) VALUES \([^()]+\)( ON CONFLICT .*)?$", statement)
        assert is_insert or statement.startswith("DELETE FROM login_events WHERE organization_id = $"), statement


async def test_login_events_outlive_their_device(world: World) -> None:
    world.user()
    await world.sign_in(headers=CURL)

    world.connection.execute("DELETE FROM devices")

    assert events(world, "device_id IS NULL") == [(False,)]


async def test_login_events_are_deleted_with_the_account(world: World) -> None:
    world.user()
    await world.sign_in()

    world.connection.execute("DELETE FROM users WHERE email = %s", (EMAIL,))

    assert events(world, "id") == []
