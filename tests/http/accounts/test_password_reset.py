"""Resetting a forgotten password."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
import trio

from adapters.postgres.driver.connection import Connection
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

ROUNDS = 50
NEW_PASSWORD = "a quite different one"


async def request_reset(world: World, email: str = EMAIL, **others: str) -> Answer:
    """Request a reset link."""
    return await world.client.post("/api/auth/forgot-password", body={"email": email, **others})


async def request_reset_token(world: World, email: str = EMAIL) -> str:
    """Request a reset link, and return the token in the mail."""
    await world.mails()
    await request_reset(world, email)
    return (await world.mail()).values["token"]


async def reset(world: World, token: str, password: str = NEW_PASSWORD) -> Answer:
    """Reset the password."""
    return await world.client.post("/api/auth/reset-password", body={"token": token, "new_password": password})


async def test_the_reset_link_sets_a_new_password(world: World) -> None:
    await world.register_and_verify()
    token = await request_reset_token(world)

    answer = await reset(world, token)

    assert answer.status == 200
    assert UUID(token).version == 4
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200
    assert (await world.log_in(EMAIL, PASSWORD)).status == 401


async def test_the_answer_does_not_disclose_which_accounts_exist(world: World) -> None:
    await world.register_and_verify()
    expected = await request_reset(world)
    await world.register_and_verify("gone@example.com")
    world.deactivate("gone@example.com")

    for email in ("nobody@example.com", "gone@example.com", "no address at all", "x" * 5000):
        answer = await request_reset(world, email)

        assert (answer.status, answer.content) == (expected.status, expected.content)


async def test_a_missing_or_malformed_address_is_refused(world: World) -> None:
    for body in ({}, {"email": None}, {"email": 3}, {"email": "a\x00@example.com"}):
        answer = await world.client.post("/api/auth/forgot-password", body=body)

        assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")


async def test_a_reset_ends_every_session(world: World) -> None:
    await world.register_and_verify()
    tokens = [(await world.sign_in()).access_token for _ in range(2)]

    await reset(world, await request_reset_token(world))

    statuses = [(await world.client.get("/api/user", token=token)).status for token in tokens]
    assert statuses == [401, 401]


async def test_a_reset_link_works_once(world: World) -> None:
    await world.register_and_verify()
    token = await request_reset_token(world)
    await reset(world, token)

    answer = await reset(world, token, "a third password")

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_of_two_concurrent_resets_exactly_one_succeeds(world: World) -> None:
    await world.register_and_verify()
    for _ in range(ROUNDS):
        token, outcomes = await request_reset_token(world), dict[str, int]()

        async def try_reset(password: str, token: str, outcomes: dict[str, int]) -> None:
            outcomes[password] = (await reset(world, token, password)).status

        async with trio.open_nursery() as nursery:
            for password in ("the first password", "the other password"):
                nursery.start_soon(try_reset, password, token, outcomes)

        assert sorted(outcomes.values()) == [200, 400]
        [winner] = [password for password, status in outcomes.items() if status == 200]
        assert (await world.log_in(EMAIL, winner)).status == 200


async def test_a_reset_link_expires_after_one_hour(world: World, clock: SettableClock) -> None:
    await world.register_and_verify()
    token = await request_reset_token(world)

    clock.advance(timedelta(hours=1))
    answer = await reset(world, token)

    assert answer.status == 400
    assert "expired" in answer.json["error"]


async def test_a_reset_invalidates_the_other_reset_links(world: World) -> None:
    await world.register_and_verify()
    first, second = await request_reset_token(world), await request_reset_token(world)
    await reset(world, second)

    assert (await reset(world, first)).status == 400


async def test_an_invalid_token_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for token in ("", "nonsense", "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11"):
        with subtests.test(token=token):
            answer = await reset(world, token)

            assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")


async def test_a_verification_link_resets_no_password(world: World) -> None:
    await world.register()
    token = (await world.mail()).values["token"]

    assert (await reset(world, token)).status == 400


@pytest.mark.parametrize("password", ["7 chars", "x" * 129])
async def test_a_refused_password_does_not_use_the_link_up(world: World, password: str) -> None:
    await world.register_and_verify()
    token = await request_reset_token(world)

    refused = await reset(world, token, password)

    assert (refused.status, refused.json["details"][0]["field"]) == (400, "new_password")
    assert (await reset(world, token)).status == 200


async def test_an_account_without_a_password_gets_a_mail_with_a_link_to_set_one(world: World) -> None:
    await world.register_and_verify()
    world.remove_password()
    await request_reset(world)
    message = await world.mail()

    assert message.template == "choose_password"
    assert (await reset(world, message.values["token"])).status == 200
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_a_reset_verifies_the_address_and_replaces_a_strangers_password(world: World) -> None:
    await world.register(EMAIL, "a password of a stranger")

    await reset(world, await request_reset_token(world))

    assert (await world.log_in(EMAIL, "a password of a stranger")).status == 401
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_an_account_deactivated_after_the_request_cannot_reset_its_password(world: World) -> None:
    await world.register_and_verify()
    token = await request_reset_token(world)
    world.deactivate()

    assert (await reset(world, token)).status == 400


async def test_a_reset_ends_sign_ins_that_wait_for_a_second_factor(world: World, connection: Connection) -> None:
    await world.register_and_verify()
    connection.execute("UPDATE users SET mfa_enabled_at = created_at")
    await world.log_in()

    await reset(world, await request_reset_token(world))

    assert connection.execute("SELECT used_at IS NULL FROM mfa_challenges").fetchall() == [(False,)]


async def test_a_reset_is_recorded_in_each_organization_of_the_user(world: World, connection: Connection) -> None:
    await world.register_and_verify()
    organization_ids = [world.organization(slug) for slug in ("one", "two")]
    world.organization("three")
    for organization_id in organization_ids:
        world.member(organization_id, world.user_id(EMAIL))

    await reset(world, await request_reset_token(world))

    assert world.audit_entries("security.password.changed", "organization_id", "actor_user_id") == [
        (organization_id, world.user_id(EMAIL)) for organization_id in organization_ids
    ]
    assert world.events("security.password.changed") == [
        (organization_id, EMAIL, {}) for organization_id in organization_ids
    ]


async def test_the_user_gets_a_notice_of_the_reset(world: World) -> None:
    await world.register_and_verify()
    await reset(world, await request_reset_token(world))

    message = await world.mail()
    shown = world.installation.mail_renderer.render(message)

    assert (message.to, message.template) == (EMAIL, "password_changed")
    assert "127.0.0.1" in shown.text
    assert "3 February 2026, 04:05 UTC" in shown.text


async def test_the_mail_names_the_service_of_the_request(world: World, acme_shop: AcmeShop) -> None:
    await world.register_and_verify()
    await request_reset(world, **acme_shop.return_request)

    message = world.installation.mail_renderer.render(await world.mail())

    assert message.subject == "Choose a new password for “Acme Shop”"


async def test_what_does_not_exist_is_as_if_it_were_not_named(world: World, acme_shop: AcmeShop) -> None:
    await world.register_and_verify()
    organization, known = {"org_slug": acme_shop.org_slug}, dict(acme_shop.return_request)
    subjects = {
        "Choose a new password": ({"org_slug": "nobody"}, {**known, "org_slug": "nobody"}),
        "Choose a new password for “Acme Ltd”": ({**organization, "service_slug": "unknown"},),
        "Choose a new password for “Acme Shop”": ({**known, "redirect_uri": "https://evil.example/"},),
    }

    for subject, named in subjects.items():
        for fields in named:
            answers = [await request_reset(world, email, **fields) for email in (EMAIL, "nobody@example.com")]

            assert [answer.status for answer in answers] == [200, 200], fields
            assert answers[0].json == answers[1].json
            message = await world.mail()
            assert world.installation.mail_renderer.render(message).subject == subject
            assert "evil.example" not in str(message.values)
