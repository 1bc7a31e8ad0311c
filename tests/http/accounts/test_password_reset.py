"""Forgotten passwords (identity 3 and 4.1, decisions 3.5)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
import trio

from tests.world.builder import EMAIL, PASSWORD

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from tests.application import Answer
    from tests.clock import SettableClock
    from tests.world.acme_shop import AcmeShop
    from tests.world.world import World

ROUNDS = 50
NEW_PASSWORD = "a quite different one"


async def forgot(world: World, email: str = EMAIL, **others: str) -> Answer:
    """Ask for a link."""
    return await world.client.post("/api/auth/forgot-password", body={"email": email, **others})


async def forgot_token(world: World, email: str = EMAIL) -> str:
    """Ask for a link, and give the token in the letter."""
    await world.mails()
    await forgot(world, email)
    return (await world.mail()).values["token"]


async def reset(world: World, token: str, password: str = NEW_PASSWORD) -> Answer:
    """Choose a new password."""
    return await world.client.post("/api/auth/reset-password", body={"token": token, "new_password": password})


async def test_the_link_gives_the_account_a_new_password(world: World) -> None:
    await world.register_and_verify()
    token = await forgot_token(world)

    answer = await reset(world, token)

    assert answer.status == 200
    assert UUID(token).version == 4
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200
    assert (await world.log_in(EMAIL, PASSWORD)).status == 401


async def test_asking_tells_nobody_who_exists(world: World) -> None:
    await world.register_and_verify()
    told = await forgot(world)
    await world.register_and_verify("gone@example.com")
    world.deactivate("gone@example.com")

    for email in ("nobody@example.com", "gone@example.com", "no address at all", "x" * 5000):
        answer = await forgot(world, email)

        assert (answer.status, answer.content) == (told.status, told.content)


async def test_an_address_that_is_malformed_json_is_refused(world: World) -> None:
    for body in ({}, {"email": None}, {"email": 3}, {"email": "a\x00@example.com"}):
        answer = await world.client.post("/api/auth/forgot-password", body=body)

        assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")


async def test_every_session_ends(world: World) -> None:
    await world.register_and_verify()
    tokens = [(await world.sign_in()).access_token for _ in range(2)]

    await reset(world, await forgot_token(world))

    statuses = [(await world.client.get("/api/user", token=token)).status for token in tokens]
    assert statuses == [401, 401]


async def test_the_link_is_good_once(world: World) -> None:
    await world.register_and_verify()
    token = await forgot_token(world)
    await reset(world, token)

    answer = await reset(world, token, "a third password")

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_of_two_resets_at_once_exactly_one_wins(world: World) -> None:
    await world.register_and_verify()
    for _ in range(ROUNDS):
        token, outcomes = await forgot_token(world), dict[str, int]()

        async def try_reset(password: str, token: str, outcomes: dict[str, int]) -> None:
            outcomes[password] = (await reset(world, token, password)).status

        async with trio.open_nursery() as nursery:
            for password in ("the first password", "the other password"):
                nursery.start_soon(try_reset, password, token, outcomes)

        assert sorted(outcomes.values()) == [200, 400]
        [winner] = [password for password, status in outcomes.items() if status == 200]
        assert (await world.log_in(EMAIL, winner)).status == 200


async def test_the_link_is_good_for_one_hour(world: World, clock: SettableClock) -> None:
    await world.register_and_verify()
    token = await forgot_token(world)

    clock.advance(timedelta(hours=1))
    answer = await reset(world, token)

    assert answer.status == 400
    assert "expired" in answer.json["error"]


async def test_another_link_ends_with_the_one_that_is_used(world: World) -> None:
    await world.register_and_verify()
    first, second = await forgot_token(world), await forgot_token(world)
    await reset(world, second)

    assert (await reset(world, first)).status == 400


@pytest.mark.parametrize("token", ["", "nonsense", "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11"])
async def test_a_token_that_is_none_is_refused(world: World, token: str) -> None:
    answer = await reset(world, token)

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")


async def test_a_verification_link_resets_no_password(world: World) -> None:
    await world.register()
    token = (await world.mail()).values["token"]

    assert (await reset(world, token)).status == 400


@pytest.mark.parametrize("password", ["7 chars", "x" * 129])
async def test_a_password_that_is_not_taken_spends_nothing(world: World, password: str) -> None:
    await world.register_and_verify()
    token = await forgot_token(world)

    refused = await reset(world, token, password)

    assert (refused.status, refused.json["details"][0]["field"]) == (400, "new_password")
    assert (await reset(world, token)).status == 200


async def test_an_account_without_a_password_gets_a_letter_that_lets_it_set_one(world: World) -> None:
    await world.register_and_verify()
    world.remove_password()
    await forgot(world)
    message = await world.mail()

    assert message.template == "choose_password"
    assert (await reset(world, message.values["token"])).status == 200
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_a_reset_proves_the_address_and_a_strangers_password_does_not_survive(world: World) -> None:
    await world.register(EMAIL, "a password of a stranger")

    await reset(world, await forgot_token(world))

    assert (await world.log_in(EMAIL, "a password of a stranger")).status == 401
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_an_account_that_was_deactivated_meanwhile_gets_no_new_password(world: World) -> None:
    await world.register_and_verify()
    token = await forgot_token(world)
    world.deactivate()

    assert (await reset(world, token)).status == 400


async def test_a_sign_in_that_waits_for_a_second_factor_is_over(world: World, connection: Connection) -> None:
    await world.register_and_verify()
    connection.execute("UPDATE users SET mfa_enabled_at = created_at")
    await world.log_in()

    await reset(world, await forgot_token(world))

    assert connection.execute("SELECT used_at IS NULL FROM mfa_challenges").fetchall() == [(False,)]


async def test_each_organization_of_the_person_learns_of_it(world: World, connection: Connection) -> None:
    await world.register_and_verify()
    homes = [world.organization(slug) for slug in ("one", "two")]
    world.organization("three")
    for home in homes:
        world.member(home, world.user_id(EMAIL))

    await reset(world, await forgot_token(world))

    assert world.audit_entries("security.password.changed", "organization_id", "actor_user_id") == [
        (home, world.user_id(EMAIL)) for home in homes
    ]
    assert world.events("security.password.changed") == [(home, EMAIL, {}) for home in homes]


async def test_the_person_gets_a_notice(world: World) -> None:
    await world.register_and_verify()
    await reset(world, await forgot_token(world))

    message = await world.mail()
    shown = world.installation.mail_renderer.render(message)

    assert (message.to, message.template) == (EMAIL, "password_changed")
    assert "127.0.0.1" in shown.text
    assert "2026-02-03 04:05 UTC" in shown.text


async def test_the_letter_names_where_it_was_asked_for(world: World, acme_shop: AcmeShop) -> None:
    await world.register_and_verify()
    await forgot(world, **acme_shop.return_request)

    message = world.installation.mail_renderer.render(await world.mail())

    assert message.subject == "Choose a new password for Acme Shop"


async def test_an_unknown_organization_is_not_found_whoever_has_the_address(world: World) -> None:
    await world.register_and_verify()

    answers = [await forgot(world, email, org_slug="nobody") for email in (EMAIL, "nobody@example.com")]

    assert [answer.status for answer in answers] == [404, 404]
    assert answers[0].json["error"] == answers[1].json["error"]
