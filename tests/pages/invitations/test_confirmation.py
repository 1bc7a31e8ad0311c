"""The page that confirms a membership which a manager made: it names both, and only its buttons answer."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.inviter import GUEST, Inviter

PAGE = "/app/invitations/confirmation"
LEAVE = f"{PAGE}/leave"
FORM = "application/x-www-form-urlencoded"
UNKNOWN = "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11"
MONTH = timedelta(days=30)


async def added(inviter: Inviter, role: str = "member") -> str:
    """Invite the guest and accept on their behalf; return the token of the mailed link."""
    await inviter.accept_on_behalf(await inviter.invite(role=role))
    [token] = [
        message.values["token"]
        for message in await inviter.world.mails()
        if message.template is MailTemplate.MEMBERSHIP_ADDED
    ]
    return token


async def press(inviter: Inviter, path: str, token: str, *, media_type: str = FORM) -> Answer:
    """Submit the form of a button."""
    return await inviter.world.client.post(
        path, data=urlencode({"token": token}).encode(), headers={"Content-Type": media_type}
    )


def confirmed_at(inviter: Inviter) -> object:
    """Return when the guest confirmed the membership."""
    return inviter.world.value("SELECT confirmed_at FROM memberships WHERE role <> 'owner'")


async def test_the_page_names_the_organization_the_account_and_the_role_and_has_two_buttons(inviter: Inviter) -> None:
    token = await added(inviter, "admin")

    answer = await inviter.world.client.get(f"{PAGE}?token={token}")

    assert answer.status == 200
    assert all(words in answer.text for words in ("Stay in “Acme”?", GUEST, "admin"))
    assert answer.text.count('<button class="button') == 2
    assert answer.text.count("<script") == 1


async def test_opening_the_link_changes_nothing(inviter: Inviter) -> None:
    token = await added(inviter)

    for method in ("HEAD", "GET", "GET"):
        assert (await inviter.world.client.request(method, f"{PAGE}?token={token}")).status == 200

    assert (inviter.role_of(), confirmed_at(inviter)) == ("member", None)


async def test_confirming_proves_a_new_address_and_announces_a_mail_to_choose_a_password(
    inviter: Inviter, clock: SettableClock
) -> None:
    token = await added(inviter)

    answer = await press(inviter, PAGE, token)

    assert answer.status == 200
    assert "You are a member of Acme" in answer.text
    assert f"We are sending a mail to {GUEST}" in answer.text
    assert confirmed_at(inviter) == clock()
    assert inviter.world.value("SELECT email_verified_at FROM users WHERE email = %s", GUEST) == clock()
    [message] = await inviter.world.mails()
    assert (message.to, message.template) == (GUEST, MailTemplate.INVITATION_ACCEPTED)


async def test_confirming_leaves_a_verified_account_as_it_is(inviter: Inviter) -> None:
    inviter.world.user(GUEST)
    guest = await inviter.world.sign_in(GUEST)

    answer = await press(inviter, PAGE, await added(inviter))

    assert f"Sign in with your account {GUEST}" in answer.text
    assert (await inviter.world.list_sessions(guest)).status == 200
    assert await inviter.world.mails() == []


async def test_an_account_that_was_prepared_for_the_address_loses_everything(inviter: Inviter) -> None:
    attacker = await inviter.sign_in_unverified_guest()

    await press(inviter, PAGE, await added(inviter))

    assert (await inviter.world.client.get("/api/user", token=attacker)).status == 401
    assert (await inviter.world.log_in(GUEST)).status == 401


@pytest.mark.parametrize("status", ["active", "suspended"])
async def test_leaving_ends_the_membership_in_every_state_of_the_organization(inviter: Inviter, status: str) -> None:
    token = await added(inviter)
    guest_id = inviter.world.user_id(GUEST)
    inviter.world.set_organization_status(inviter.organization_id, status)

    answer = await press(inviter, LEAVE, token)

    assert answer.status == 200
    assert "You left “Acme”" in answer.text
    assert inviter.role_of() is None
    assert inviter.audit_entries("user.removed") == [
        (str(guest_id), guest_id, {"role": "member", "left": True}, "127.0.0.1")
    ]
    assert [actor for _, actor, _ in inviter.world.events("user.removed")] == [GUEST]


async def test_a_link_works_once_and_for_thirty_days(inviter: Inviter, clock: SettableClock) -> None:
    used = await added(inviter)
    await press(inviter, PAGE, used)
    inviter.world.rows("DELETE FROM memberships WHERE role <> 'owner' RETURNING id")
    late = await added(inviter)
    clock.advance(MONTH)

    for token, words in ((used, "no longer needed"), (late, "has expired"), (UNKNOWN, "is not valid")):
        shown = await inviter.world.client.get(f"{PAGE}?token={token}")
        for answer in (shown, await press(inviter, PAGE, token), await press(inviter, LEAVE, token)):
            assert answer.status == 400
            assert words in answer.text
    assert confirmed_at(inviter) is None


async def test_the_link_of_an_ended_membership_does_not_answer_for_a_later_one(inviter: Inviter) -> None:
    token = await added(inviter)
    inviter.world.rows("DELETE FROM memberships WHERE role <> 'owner' RETURNING id")
    removed = await press(inviter, LEAVE, token)
    await added(inviter)

    for answer in (removed, await press(inviter, PAGE, token), await press(inviter, LEAVE, token)):
        assert answer.status == 400
        assert "no longer needed" in answer.text
    assert (inviter.role_of(), confirmed_at(inviter)) == ("member", None)


async def test_the_link_of_a_deleted_organization_says_so(inviter: Inviter) -> None:
    token = await added(inviter)
    inviter.world.rows("DELETE FROM organizations RETURNING id")

    assert (await press(inviter, LEAVE, token)).status == 400


@pytest.mark.parametrize("path", [PAGE, LEAVE])
async def test_another_media_type_than_a_form_is_refused(inviter: Inviter, path: str) -> None:
    token = await added(inviter)

    assert (await press(inviter, path, token, media_type="text/plain")).status == 415
