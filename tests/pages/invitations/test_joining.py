"""Accepting an invitation takes one mail and one form; then the person is a member and signed in."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

import pytest

from core.invitations import joining
from core.invitations.invitations import InvitationExpired
from core.mail.mail import MailTemplate
from core.sign_in import login
from core.sign_in.proofs import Destination
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.statements import recorded_statements
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, Invitation, Inviter
from tests.world.second_factors import Person
from tests.world.visitor import Visitor, forms_of

ACCEPT = "/app/invitations/accept"
NEW_PASSWORD = "a password of my own"
OTHER = "somewhere@example.com"


def ways_of(page: Answer) -> list[str]:
    """Return the ways to accept that a page offers."""
    return [form.fields["by"] for form in forms_of(page) if form.action == ACCEPT]


async def joined(visitor: Visitor, invitation: Invitation, by: str, **fields: str) -> Answer:
    """Open the mailed link and accept in a way that its page offers; return the page that follows."""
    page = await visitor.open(ACCEPT + invitation.link)
    [form] = [form for form in forms_of(page) if form.fields.get("by") == by]
    return await visitor.post(ACCEPT, {**form.fields, **fields})


async def templates(inviter: Inviter) -> list[MailTemplate]:
    """Return the templates of the mails since the last look."""
    return [message.template for message in await inviter.world.mails()]


async def test_a_new_person_chooses_a_password_and_is_a_member_who_is_signed_in(
    inviter: Inviter, visitor: Visitor
) -> None:
    invitation = await inviter.invite()

    page = await joined(visitor, invitation, "new_password", password=NEW_PASSWORD, name="Grace")

    assert "You are a member of Acme" in page.text
    assert GUEST in page.text
    assert await templates(inviter) == []
    assert (inviter.status(invitation), inviter.role_of()) == ("accepted", "member")
    assert inviter.world.rows(
        "SELECT u.name, u.email_verified_at IS NOT NULL, m.confirmed_at IS NOT NULL"
        " FROM users u JOIN memberships m ON m.user_id = u.id WHERE u.email = %s",
        GUEST,
    ) == [("Grace", True, True)]
    assert (await inviter.world.log_in(GUEST, NEW_PASSWORD)).status == 200
    assert GUEST in (await visitor.open("/app")).text


async def test_what_is_invalid_is_shown_again_and_accepts_nothing(inviter: Inviter, visitor: Visitor) -> None:
    invitation = await inviter.invite()

    page = await joined(visitor, invitation, "new_password", password="short", name="see https://evil.example")

    assert page.status == 400
    assert page.text.count('class="problem"') == 2
    assert (inviter.status(invitation), inviter.role_of()) == ("pending", None)
    assert not visitor.has_session


async def test_the_proof_takes_away_what_others_have_prepared(inviter: Inviter, visitor: Visitor) -> None:
    await inviter.world.register(GUEST, PASSWORD)
    await inviter.world.mails()
    invitation = await inviter.invite()

    page = await joined(visitor, invitation, "new_password", password=NEW_PASSWORD)

    assert "You are a member of Acme" in page.text
    assert (await inviter.world.log_in(GUEST, PASSWORD)).status == 401
    assert (await inviter.world.log_in(GUEST, NEW_PASSWORD)).status == 200
    assert inviter.world.value("SELECT count(*) FROM open_registrations") == 0


async def test_a_person_with_an_account_signs_in_and_joins_with_one_form(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST)
    invitation = await inviter.invite()

    wrong = await joined(visitor, invitation, "password", password="wrong")
    before = inviter.status(invitation)
    page = await joined(visitor, invitation, "password", password=PASSWORD)

    assert (wrong.status, before) == (401, "pending")
    assert "Email address or password is wrong." in wrong.text
    assert "You are a member of Acme" in page.text
    assert (inviter.status(invitation), inviter.role_of()) == ("accepted", "member")
    assert visitor.has_session
    assert MailTemplate.INVITATION_ACCEPTED not in await templates(inviter)


async def test_a_second_factor_is_asked_in_between(inviter: Inviter, visitor: Visitor) -> None:
    person = Person(inviter.world, inviter.world.user(GUEST), GUEST)
    await person.turn_mfa_on()
    await inviter.world.mails()
    invitation = await inviter.invite()

    asked = await joined(visitor, invitation, "password", password=PASSWORD)
    person.next_step()
    page = await visitor.submit(asked, "/app/second-factor", code=person.code())

    assert "You are a member of Acme" in page.text
    assert inviter.role_of() == "member"


async def test_an_account_without_a_password_joins_and_sees_how_it_signs_in(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST, password_hash=None)
    invitation = await inviter.invite()

    page = await joined(visitor, invitation, "other_way")
    await visitor.submit(page, "/app/sign-in/link")
    [message] = [one for one in await inviter.world.mails() if one.template == MailTemplate.MAGIC_LINK]
    signed_in = await visitor.submit(await visitor.open(f"/auth/magic-link?token={message.values['token']}"))

    assert inviter.role_of() == "member"
    assert "Mail me a link to sign in" in page.text
    assert GUEST in page.text
    assert "You are a member of Acme" in signed_in.text


@pytest.mark.parametrize("is_verified", [True, False])
async def test_a_deactivated_account_joins_without_a_password_and_is_open_if_the_organization_had_closed_it(
    inviter: Inviter, visitor: Visitor, is_verified: bool
) -> None:
    inviter.world.user(GUEST, is_active=False, is_verified=is_verified)
    inviter.world.rows(
        "UPDATE users SET deactivated_by_organization_id = %s WHERE email = %s RETURNING id",
        inviter.organization_id,
        GUEST,
    )
    invitation = await inviter.invite()

    offered = ways_of(await visitor.open(ACCEPT + invitation.link))
    page = await joined(visitor, invitation, "other_way")
    await visitor.submit(page, "/app/sign-in/link")
    [message] = [one for one in await inviter.world.mails() if one.template == MailTemplate.MAGIC_LINK]
    signed_in = await visitor.submit(await visitor.open(f"/auth/magic-link?token={message.values['token']}"))

    assert offered == ["other_way"]
    assert inviter.role_of() == "member"
    assert "You are a member of Acme" in signed_in.text


async def test_an_account_that_the_platform_has_deactivated_stays_so(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST, is_active=False)
    invitation = await inviter.invite()

    page = await joined(visitor, invitation, "other_way")
    refused = await visitor.submit(page, "/app/sign-in/password", password=PASSWORD)

    assert refused.status == 401
    assert not visitor.has_session


async def test_a_person_who_is_signed_in_needs_one_button(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST)
    await visitor.sign_in(GUEST)
    invitation = await inviter.invite()

    page = await visitor.open(ACCEPT + invitation.link)
    done = await visitor.submit(page, ACCEPT)

    assert ways_of(page) == ["session"]
    assert "You are a member of Acme" in done.text
    assert inviter.role_of() == "member"


async def test_a_person_who_is_signed_in_needs_no_proof(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST)
    await visitor.sign_in(GUEST)
    invitation = await inviter.invite()

    done = await visitor.submit(await visitor.open(f"{ACCEPT}?token={invitation.token}"), ACCEPT)

    assert "You are a member of Acme" in done.text
    assert inviter.world.value("SELECT count(*) FROM memberships WHERE confirmed_at IS NULL") == 0


async def test_a_person_who_is_signed_in_as_another_one_is_told_and_switches(
    inviter: Inviter, visitor: Visitor
) -> None:
    for email in (GUEST, OTHER):
        inviter.world.user(email)
    await visitor.sign_in(OTHER)
    invitation = await inviter.invite()

    page = await visitor.open(ACCEPT + invitation.link)
    bare = await visitor.open(f"{ACCEPT}?token={invitation.token}")
    done = await joined(visitor, invitation, "password", password=PASSWORD)

    assert f"You are signed in as {OTHER}." in page.text
    assert f"and {OTHER} out" in page.text
    assert "sign out and sign in with it" in bare.text
    assert "You are a member of Acme" in done.text
    assert (inviter.role_of(), inviter.role_of(OTHER)) == ("member", None)
    assert GUEST in (await visitor.open("/app")).text
    assert (
        inviter.world.value(
            "SELECT count(*) FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.email = %s"
            " AND s.revoked_at IS NULL",
            OTHER,
        )
        == 0
    )


async def test_an_organization_that_requires_a_second_factor_says_so(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST)
    invitation = await inviter.invite()
    inviter.world.rows("UPDATE organizations SET mfa_required = true RETURNING id")

    page = await joined(visitor, invitation, "password", password=PASSWORD)
    setup = await visitor.open("/app/second-factor/set-up?return_to=/app/account/organizations")

    assert "Acme requires a second factor of its members." in page.text
    assert 'href="/app/second-factor/set-up?return_to=/app/account/organizations"' in page.text
    assert setup.status == 200


async def test_a_membership_that_waits_for_its_person_is_confirmed_by_going_on(
    inviter: Inviter, visitor: Visitor
) -> None:
    user_id = inviter.world.user(GUEST)
    inviter.world.member(inviter.organization_id, user_id)
    inviter.world.rows("UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s RETURNING id", user_id)
    await visitor.sign_in(GUEST)

    page = await visitor.open("/app/invitations/joined/acme")
    await visitor.submit(page, "/app/choose-organization")

    assert inviter.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", user_id)


async def test_the_page_of_an_organization_is_for_its_members(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST)
    await visitor.sign_in(GUEST)

    for slug in ("acme", "none-such"):
        assert (await visitor.open(f"/app/invitations/joined/{slug}")).status == 404


async def test_a_full_organization_adds_no_member_and_keeps_the_invitation(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.rows("UPDATE organizations SET max_users = 1 RETURNING id")
    new, known = await inviter.invite(), await inviter.invite(OTHER)
    inviter.world.user(OTHER)

    pages = [
        await joined(visitor, new, "new_password", password=NEW_PASSWORD),
        await joined(visitor, known, "password", password=PASSWORD),
        await visitor.submit(await visitor.open(f"{ACCEPT}?token={new.token}"), ACCEPT),
    ]

    for page in pages:
        assert page.status == 400
        assert "as many members as it may have" in page.text
    assert (inviter.status(new), inviter.status(known)) == ("pending", "pending")
    assert not visitor.has_session
    assert inviter.world.value("SELECT count(*) FROM users WHERE email = %s", GUEST) == 0


async def test_an_account_that_is_proved_meanwhile_is_not_given_away(inviter: Inviter, visitor: Visitor) -> None:
    invitation = await inviter.invite()
    page = await visitor.open(ACCEPT + invitation.link)
    inviter.world.user(GUEST)

    again = await visitor.submit(page, ACCEPT, password=NEW_PASSWORD)

    assert again.status == 400
    assert "has changed since this page was opened" in again.text
    assert "password" in ways_of(again)
    assert (await inviter.world.log_in(GUEST, PASSWORD)).status == 200
    assert inviter.status(invitation) == "pending"


async def test_of_two_acceptances_at_once_one_joins(inviter: Inviter) -> None:
    invitation = await inviter.invite()
    visitors = [Visitor(inviter.world.client) for _ in range(2)]
    pages = [await visitor.open(ACCEPT + invitation.link) for visitor in visitors]
    sends = [
        partial(visitor.submit, page, ACCEPT, password=f"{NEW_PASSWORD} {number}", is_followed=False)
        for number, (visitor, page) in enumerate(zip(visitors, pages, strict=True))
    ]

    answers = await at_once(*sends)

    assert sorted(answer.status for answer in answers) == [303, 400]
    assert sorted(visitor.has_session for visitor in visitors) == [False, True]
    assert inviter.world.value("SELECT count(*) FROM memberships") == 2


async def test_another_site_cannot_accept_in_a_browser(inviter: Inviter, visitor: Visitor) -> None:
    """Else a link that an attacker has got for their own address would sign its reader in there."""
    invitation = await inviter.invite()
    fields = {"token": invitation.token, "proof": invitation.proof, "by": "new_password", "password": NEW_PASSWORD}

    answer = await visitor.post(ACCEPT, fields)

    assert answer.status == 403
    assert (inviter.status(invitation), visitor.has_session) == ("pending", False)


CASES = {
    "no account": "first@example.com",
    "account": "second@example.com",
    "unproved": "third@example.com",
    "no password": "fourth@example.com",
    "deactivated": "fifth@example.com",
    "platform owner": "sixth@example.com",
}


async def test_without_the_proof_every_address_is_answered_alike(inviter: Inviter) -> None:
    world = inviter.world
    world.user(CASES["account"])
    world.user(CASES["unproved"], is_verified=False)
    world.user(CASES["no password"], password_hash=None)
    world.user(CASES["deactivated"], is_active=False)
    world.user(CASES["platform owner"], is_platform_owner=True)
    seen: dict[str, tuple[object, ...]] = {}
    for name, email in CASES.items():
        invitation, browser = await inviter.invite(email), Visitor(world.client)
        path = f"{ACCEPT}?token={invitation.token}"
        with recorded_statements() as statements:
            page = await browser.open(path)
        tried = [
            await browser.submit(page, ACCEPT, {"by": by, "password": PASSWORD})
            for by in ("password", "new_password", "other_way", "connection", "session", "")
        ]
        done = await browser.submit(page, ACCEPT)
        shown = [re.sub(r'value="[^"]+"', "", answer.text).replace(email, "…") for answer in (page, *tried, done)]
        seen[name] = ([answer.status for answer in (page, *tried, done)], shown, statements)

    for name, one in seen.items():
        assert one == seen["no account"], name


async def test_a_platform_owner_is_invited_like_everyone(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(GUEST, is_platform_owner=True)
    invitation = await inviter.invite()

    assert "You are a member of Acme" in (await joined(visitor, invitation, "password", password=PASSWORD)).text


@pytest.mark.parametrize("language", ["en", "de"])
async def test_its_pages_are_whole_in_each_language(inviter: Inviter, visitor: Visitor, language: str) -> None:
    visitor.headers["Accept-Language"] = language
    page = await joined(visitor, await inviter.invite(), "new_password", password=NEW_PASSWORD)

    assert f'lang="{language}"' in page.text


async def test_an_invitation_that_expires_while_its_form_is_sent_is_refused_and_marked(
    inviter: Inviter, visitor: Visitor, clock: SettableClock
) -> None:
    """The page looks before the password is hashed or compared, and the transaction after it looks again."""
    inviter.world.user(OTHER)
    new, known, shown = [await inviter.invite(email) for email in (GUEST, OTHER, "third@example.com")]
    page = await visitor.open(ACCEPT + shown.link)
    transact = inviter.world.installation.database.transact
    attempt = await transact(login.begin, OTHER, None, Destination())
    clock.advance(timedelta(days=8))

    with pytest.raises(InvitationExpired):
        await transact(joining.accept_as_new, new.token, new.proof, "hash", None, Destination())
    with pytest.raises(InvitationExpired):
        await transact(
            joining.accept_with_password, attempt, Destination(), token=known.token, proof=known.proof, is_right=True
        )
    late = await visitor.submit(page, ACCEPT, password=NEW_PASSWORD)

    assert (late.status, "This invitation has expired" in late.text) == (400, True)
    assert [inviter.status(invitation) for invitation in (new, known, shown)] == ["expired"] * 3
    assert inviter.world.value("SELECT count(*) FROM memberships") == 1
