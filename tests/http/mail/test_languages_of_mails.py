"""A mail is in the language of the page on which its reader asks for it, else in the language of the account."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.mail import mail as messages
from core.mail.mail import RETRY_DELAYS, MailTemplate
from tests.clock import SettableClock
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, INVITATIONS, INVITER, Inviter
from tests.world.world import World

ADA = "ada@example.com"
GERMAN = {"Accept-Language": "de-CH, de;q=0.9, en;q=0.5"}
ENGLISH = {"Accept-Language": "en-GB"}
ASKING = ("/api/auth/forgot-password", "/api/auth/magic-link/request")


def reads(world: World, email: str, language: str | None) -> None:
    """Store the language of an account."""
    world.connection.execute("UPDATE users SET language = %s WHERE email = %s", (language, email))


async def invite(inviter: Inviter, headers: dict[str, str]) -> None:
    """Invite a guest by a request with these headers."""
    answer = await inviter.world.client.post(
        INVITATIONS, body={"email": GUEST, "role": "member"}, token=inviter.owner.access_token, headers=headers
    )
    assert answer.status == 200, answer.text


def stored(world: World) -> list[tuple[str, str | None]]:
    """Return the template and the language of each mail, oldest first."""
    return world.rows("SELECT template, language FROM mails ORDER BY created_at, id")


@pytest.mark.parametrize("path", ASKING)
async def test_a_mail_that_its_reader_asks_for_has_the_language_of_the_request(world: World, path: str) -> None:
    world.user(ADA)
    reads(world, ADA, "en")

    await world.client.post(path, body={"email": ADA}, headers=GERMAN)

    assert (await world.mail()).language == "de"


@pytest.mark.parametrize("path", ASKING)
async def test_a_request_without_a_language_has_that_of_the_account(world: World, path: str) -> None:
    world.user(ADA)
    reads(world, ADA, "de")

    await world.client.post(path, body={"email": ADA})
    await world.client.post(path, body={"email": ADA}, headers={"Accept-Language": "*"})

    assert [message.language for message in await world.mails()] == ["de", "de"]


@pytest.mark.parametrize("path", ASKING)
async def test_a_mail_without_an_account_is_stored_like_one_that_is_sent(world: World, path: str) -> None:
    world.user(ADA)

    for email in (ADA, "unknown@example.com"):
        await world.client.post(path, body={"email": email}, headers=GERMAN)

    assert [language for _, language in stored(world)] == ["de", "de"]


async def test_a_registration_is_mailed_in_the_language_of_its_request(world: World) -> None:
    await world.client.post("/api/auth/register", body={"email": ADA, "password": "correct horse 1"}, headers=GERMAN)

    assert [message.language for message in await world.mails()] == ["de"]


async def test_a_warning_has_the_language_of_the_account_and_not_of_the_request(world: World) -> None:
    world.user(ADA)
    reads(world, ADA, "de")
    tokens = await world.sign_in(ADA)
    await world.mails()

    await world.client.post(
        "/api/user/change-password",
        body={"current_password": PASSWORD, "new_password": "another horse 2"},
        token=tokens.access_token,
        headers=ENGLISH,
    )

    message = await world.mail()
    assert (message.template, message.language) == (MailTemplate.PASSWORD_CHANGED, "de")


async def test_an_invitation_has_the_language_of_the_invited_account(inviter: Inviter) -> None:
    inviter.world.user(GUEST)
    reads(inviter.world, GUEST, "de")
    reads(inviter.world, INVITER, "en")

    await invite(inviter, ENGLISH)

    assert stored(inviter.world) == [("invitation", "de")]


async def test_an_invitation_of_an_unknown_person_has_the_language_of_the_inviter(inviter: Inviter) -> None:
    await invite(inviter, GERMAN)

    assert stored(inviter.world) == [("invitation", "de")]


async def test_without_both_an_invitation_has_the_language_of_the_organization_s_owner(inviter: Inviter) -> None:
    reads(inviter.world, INVITER, "de")

    await invite(inviter, {})

    assert stored(inviter.world) == [("invitation", "de")]


async def test_without_any_language_a_mail_is_in_english(inviter: Inviter) -> None:
    await invite(inviter, {})

    message = await inviter.world.mail()
    assert message.language is None
    assert inviter.world.installation.mail_renderer.render(message).language == "en"


async def test_a_retry_has_the_language_of_the_first_attempt(world: World, clock: SettableClock) -> None:
    world.user(ADA)
    await world.client.post(ASKING[0], body={"email": ADA}, headers=GERMAN)
    database = world.installation.database
    [first] = await database.transact(messages.claim, 4)
    await database.transact(messages.record_deferred, first, "busy")
    reads(world, ADA, "en")

    clock.advance(RETRY_DELAYS[0] + timedelta(seconds=1))

    [second] = await database.transact(messages.claim, 4)
    assert (first.message.language, second.message.language) == ("de", "de")
