"""The access log line of a refused sign-in says why it was refused; the answer does not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.second_factors import insert_person
from tests.world.world import World


def logged() -> tuple[Any, ...]:
    """Return status, error code and reason of the last request in the log."""
    line = next(line for line in map(msgspec.json.decode, reversed(WATCH.lines)) if line["event"] == "request")
    return line["status"], line.get("error_code"), line.get("reason")


async def link(world: World) -> str:
    """Request a sign-in link, and return its token."""
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})
    return [mail.values["token"] for mail in await world.mails() if mail.template == "magic_link"][-1]


async def follow(world: World, token: str) -> Answer:
    """Sign in with a link."""
    return await world.client.post("/api/auth/magic-link/verify", body={"token": token})


@pytest.mark.parametrize(
    ("account", "password", "reason"),
    [
        (None, PASSWORD, "unknown_account"),
        ({}, "wrong", "wrong_password"),
        ({"password_hash": None}, PASSWORD, "wrong_password"),
        ({"is_active": False}, PASSWORD, "deactivated"),
        ({"is_verified": False}, PASSWORD, "email_not_verified"),
    ],
)
async def test_a_refused_password(world: World, account: dict[str, Any] | None, password: str, reason: str) -> None:
    if account is not None:
        world.user(**account)

    answer = await world.log_in(password=password)

    assert logged() == (401, "UNAUTHORIZED", reason)
    assert not shows(answer.text, reason)
    assert not any(EMAIL in line for line in WATCH.lines)


async def test_a_destination_that_is_not_open(world: World) -> None:
    world.user()
    world.organization("acme")

    await world.log_in(org_slug="acme")
    assert logged() == (403, "FORBIDDEN", "not_a_member")
    await world.log_in(org_slug="nowhere")
    assert logged() == (404, "NOT_FOUND", "unknown_organization")
    await world.log_in(org_slug="acme", service_slug="shop")
    assert logged() == (404, "NOT_FOUND", "unknown_service")


async def test_a_refused_code(world: World, clock: SettableClock) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    token = await ada.preauth_token()

    reasons: list[Any] = []
    for _ in range(6):
        await ada.verify(token, ada.wrong_code())
        reasons.append(logged())
    token = await ada.preauth_token()
    clock.advance(timedelta(minutes=10))
    await ada.verify(token, ada.code())

    assert reasons == [
        *[(401, "UNAUTHORIZED", "wrong_code")] * 4,
        (401, "UNAUTHORIZED", "too_many_wrong_codes"),
        (401, "UNAUTHORIZED", "sign_in_over"),
    ]
    assert logged() == (401, "TOKEN_EXPIRED", "preauth_token_expired")


async def test_a_refused_link(world: World, clock: SettableClock) -> None:
    world.user()
    late = await link(world)
    await follow(world, str(uuid4()))
    assert logged() == (401, "UNAUTHORIZED", "unknown_link")

    clock.advance(timedelta(minutes=15))
    await follow(world, late)
    assert logged() == (401, "UNAUTHORIZED", "expired_link")

    used = await link(world)
    assert (await follow(world, used)).status == 200
    await follow(world, used)
    assert logged() == (401, "UNAUTHORIZED", "used_link")

    token = await link(world)
    world.deactivate()
    answer = await follow(world, token)
    assert logged() == (401, "UNAUTHORIZED", "deactivated")
    assert not shows(answer.text, "deactivated")


async def test_a_refused_passkey(world: World, keyring: Keyring) -> None:
    await keyring.sign_up()
    authenticator = await keyring.registered()

    await keyring.sign_in(Authenticator())
    assert logged() == (401, "UNAUTHORIZED", "wrong_passkey")

    world.deactivate()
    answer = await keyring.sign_in(authenticator)
    assert logged() == (401, "UNAUTHORIZED", "deactivated")
    assert not shows(answer.text, "deactivated")
