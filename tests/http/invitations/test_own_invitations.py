"""Accepting and declining invitations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from core.invitations import invitations
from core.mail.mail import MailTemplate
from core.rate_limits import RateLimit
from entrypoints.installation import Installation
from tests.application import serving_with_rate_limits
from tests.clock import SettableClock
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, INVITER, Inviter
from tests.world.world import assert_refused

ACCEPT = "/api/invitations/accept"
DECLINE = "/api/invitations/decline"
NEW_PASSWORD = "quite another horse"
WEEK = timedelta(days=7)
SECOND = timedelta(seconds=1)


async def test_accepting_makes_the_invited_account_a_member_with_the_role(inviter: Inviter) -> None:
    guest_id = inviter.world.user(GUEST)
    invitation = await inviter.invite(role="admin")

    answer = await inviter.accept(invitation)

    assert (answer.status, answer.json) == (200, {})
    assert inviter.role_of() == "admin"
    assert inviter.status(invitation) == "accepted"
    assert (await inviter.world.sign_in(GUEST, org_slug="acme")).claims["role"] == "admin"
    data = {"invitation_id": str(invitation.id), "user_id": str(guest_id), "role": "admin"}
    accepted = {"user_id": str(guest_id)}
    for name, target, more in (("invitation.accepted", invitation.id, accepted), ("user.joined", guest_id, {})):
        assert inviter.audit_entries(name) == [(str(target), guest_id, {"role": "admin", **more}, "127.0.0.1")]
        assert inviter.world.events(name) == [(inviter.organization_id, GUEST, data)]
    # As for an account that is made: the organization learns that the person is new to it, and no more.
    assert len(inviter.world.events("user.signup.success")) == 1


async def test_without_proof_a_new_account_has_no_password_and_gets_a_verification_mail(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    assert (await inviter.accept(invitation)).status == 200

    [user] = inviter.world.rows("SELECT password_hash, email_verified_at FROM users WHERE email = %s", GUEST)
    assert user == (None, None)
    assert inviter.role_of() == "member"
    [message] = await inviter.world.mails()
    assert (message.to, message.template, message.values["place"]) == (GUEST, MailTemplate.VERIFY_EMAIL, "Acme")
    path, accept = f"/auth/verify-email?token={message.values['token']}", {"Accept": "application/json"}
    assert (await inviter.world.client.get(path, headers=accept)).status == 200
    [(organization_id, email, data)] = inviter.world.events("user.signup.success")
    assert (organization_id, email, data["provider"]) == (inviter.organization_id, GUEST, "invitation")


async def test_with_proof_a_new_account_is_verified_and_gets_a_mail_to_set_a_password(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    assert (await inviter.accept(invitation, is_proved=True)).status == 200

    [message] = await inviter.world.mails()
    assert (message.to, message.template) == (GUEST, MailTemplate.INVITATION_ACCEPTED)
    assert "You are a member of “Acme”" in inviter.world.installation.mail_renderer.render(message).subject
    reset = await inviter.world.client.post(
        "/api/auth/reset-password", body={"token": message.values["token"], "new_password": NEW_PASSWORD}
    )
    assert reset.status == 200
    assert (await inviter.world.log_in(GUEST, NEW_PASSWORD, org_slug="acme")).status == 200


async def test_with_proof_an_unverified_account_loses_its_password_and_sessions(
    inviter: Inviter, clock: SettableClock
) -> None:
    attacker = await inviter.sign_in_unverified_guest()
    invitation = await inviter.invite()

    assert (await inviter.accept(invitation, is_proved=True)).status == 200

    assert (await inviter.world.client.get("/api/user", token=attacker)).status == 401
    assert (await inviter.world.log_in(GUEST)).status == 401
    assert inviter.world.value("SELECT email_verified_at FROM users WHERE email = %s", GUEST) == clock()
    [message] = await inviter.world.mails()
    assert message.template is MailTemplate.INVITATION_ACCEPTED


async def test_without_proof_an_unverified_account_loses_its_password_and_sessions(inviter: Inviter) -> None:
    attacker = await inviter.sign_in_unverified_guest()
    invitation = await inviter.invite()

    assert (await inviter.accept(invitation)).status == 200

    assert inviter.role_of() == "member"
    assert (await inviter.world.client.get("/api/user", token=attacker)).status == 401
    assert (await inviter.world.log_in(GUEST)).status == 401


async def test_with_proof_a_verified_account_is_unchanged(inviter: Inviter) -> None:
    inviter.world.user(GUEST)
    guest = await inviter.world.sign_in(GUEST)

    assert (await inviter.accept(await inviter.invite(), is_proved=True)).status == 200

    assert (await inviter.world.list_sessions(guest)).status == 200
    assert (await inviter.world.log_in(GUEST, PASSWORD)).status == 200
    assert await inviter.world.mails() == []


async def test_a_wrong_proof_is_refused_like_an_unknown_token(inviter: Inviter) -> None:
    invitation, unknown = await inviter.invite(), str(uuid4())

    answers = [
        await inviter.world.client.post(ACCEPT, body=body)
        for body in (
            {"token": invitation.token, "proof": str(uuid4())},
            {"token": invitation.token, "proof": invitation.token},
            {"token": unknown, "proof": invitation.proof},
            {"token": invitation.proof},
            {"token": unknown},
        )
    ]

    for answer in answers:
        assert_refused(answer, 400, "BAD_REQUEST")
    assert len({answer.json["error"] for answer in answers}) == 1
    assert inviter.status(invitation) == "pending"


async def test_a_token_that_is_no_uuid_is_refused(inviter: Inviter, subtests: pytest.Subtests) -> None:
    for body in ({}, {"token": ""}, {"token": "nonsense"}, {"token": None}, {"token": 1}):
        for path in (ACCEPT, DECLINE):
            with subtests.test(path=path, body=body):
                assert_refused(await inviter.world.client.post(path, body=body), 400, "BAD_REQUEST")


async def test_a_token_in_capitals_is_accepted(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answer = await inviter.world.client.post(ACCEPT, body={"token": invitation.token.upper()})

    assert answer.status == 200


async def test_a_token_can_be_used_once(inviter: Inviter) -> None:
    accepted, declined = await inviter.invite(), await inviter.invite("other@example.com")
    await inviter.accept(accepted)
    await inviter.decline(declined)

    for invitation in (accepted, declined):
        for again in (inviter.accept, inviter.decline):
            answer = await again(invitation)
            assert_refused(answer, 400, "BAD_REQUEST")
            assert "already answered" in answer.json["error"]
        assert_refused(await inviter.accept_on_behalf(invitation), 404, "NOT_FOUND")
    assert (inviter.status(accepted), inviter.status(declined)) == ("accepted", "rejected")


async def test_declining_adds_no_member_and_is_recorded(inviter: Inviter) -> None:
    inviter.world.user(GUEST)
    invitation = await inviter.invite()

    answer = await inviter.decline(invitation)

    assert (answer.status, answer.json) == (200, {})
    assert (inviter.status(invitation), inviter.role_of()) == ("rejected", None)
    assert inviter.audit_entries("invitation.declined") == [(str(invitation.id), None, {}, "127.0.0.1")]
    assert inviter.world.events("invitation.declined") == [
        (inviter.organization_id, None, {"invitation_id": str(invitation.id)})
    ]


async def test_every_end_of_an_invitation_erases_the_sealed_token(inviter: Inviter, clock: SettableClock) -> None:
    first, second, third, fourth = [await inviter.invite(f"guest{n}@example.com") for n in range(4)]
    await inviter.accept(first)
    await inviter.decline(second)
    await inviter.revoke(third)
    clock.advance(WEEK)
    await inviter.accept(fourth)

    rows = inviter.world.rows("SELECT status, token_sealed, answered_at IS NULL FROM invitations ORDER BY id")

    assert rows == [
        ("accepted", None, False),
        ("rejected", None, False),
        ("cancelled", None, False),
        ("expired", None, True),
    ]


async def test_an_invitation_can_be_accepted_for_seven_days(inviter: Inviter, clock: SettableClock) -> None:
    invitation = await inviter.invite()

    clock.advance(WEEK - SECOND)

    assert (await inviter.accept(invitation)).status == 200


async def test_accepting_an_overdue_invitation_is_refused_and_expires_it(
    inviter: Inviter, clock: SettableClock
) -> None:
    invitation = await inviter.invite()
    clock.advance(WEEK)

    answers = [await inviter.accept(invitation, is_proved=is_proved) for is_proved in (False, True)]

    for answer in answers:
        assert_refused(answer, 400, "INVITATION_EXPIRED")
    assert (inviter.status(invitation), inviter.role_of()) == ("expired", None)
    assert inviter.audit_entries("invitation.expired") == [(str(invitation.id), None, {}, "127.0.0.1")]
    assert inviter.world.events("invitation.expired") == [
        (inviter.organization_id, None, {"invitation_id": str(invitation.id)})
    ]


async def test_an_expired_invitation_can_still_be_declined(
    inviter: Inviter, clock: SettableClock, transact: Callable[..., Any]
) -> None:
    unswept = await inviter.invite()
    clock.advance(WEEK)
    assert (await inviter.decline(unswept)).status == 200
    await inviter.later(SECOND)
    swept = await inviter.invite()
    clock.advance(WEEK)
    transact(invitations.sweep, None, 10)
    assert inviter.status(swept) == "expired"

    assert (await inviter.decline(swept)).status == 200

    assert (inviter.status(unswept), inviter.status(swept)) == ("rejected", "rejected")
    assert [target for target, *_ in inviter.audit_entries("invitation.declined")] == [str(unswept.id), str(swept.id)]


async def test_a_manager_accepts_on_behalf_of_the_invited_user(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answer = await inviter.accept_on_behalf(invitation)

    assert (answer.status, answer.json) == (200, {})
    assert (inviter.status(invitation), inviter.role_of()) == ("accepted", "member")
    [message] = await inviter.world.mails()
    assert (message.to, message.template) == (GUEST, MailTemplate.MEMBERSHIP_ADDED)
    for name in ("invitation.accepted", "user.joined"):
        assert [actor for _, actor, _, _ in inviter.audit_entries(name)] == [inviter.owner_id]
        assert [actor for _, actor, _ in inviter.world.events(name)] == [INVITER]
    assert [actor for _, actor, _ in inviter.world.events("user.signup.success")] == [GUEST]


async def test_a_manager_cannot_accept_an_expired_or_revoked_invitation(inviter: Inviter) -> None:
    revoked, late = await inviter.invite("other@example.com"), await inviter.invite()
    await inviter.revoke(revoked)
    await inviter.later(WEEK)

    assert_refused(await inviter.accept_on_behalf(revoked), 404, "NOT_FOUND")
    for _ in range(2):
        assert_refused(await inviter.accept_on_behalf(late), 400, "INVITATION_EXPIRED")
    assert inviter.status(late) == "expired"
    assert len(inviter.audit_entries("invitation.expired")) == 1


@pytest.mark.parametrize("is_on_behalf", [False, True])
async def test_the_limit_of_members_is_checked_at_acceptance(inviter: Inviter, is_on_behalf: bool) -> None:
    inviter.world.rows("UPDATE organizations SET max_users = 1 RETURNING id")
    invitation = await inviter.invite()

    refused = await (inviter.accept_on_behalf(invitation) if is_on_behalf else inviter.accept(invitation))

    assert_refused(refused, 400, "TEAM_LIMIT_EXCEEDED")
    assert (inviter.status(invitation), inviter.role_of()) == ("pending", None)
    assert inviter.world.rows("SELECT FROM users WHERE email = %s", GUEST) == []
    inviter.world.rows("UPDATE organizations SET max_users = 2 RETURNING id")
    assert (await inviter.accept(invitation)).status == 200


async def test_the_limit_of_the_tier_applies_if_the_organization_has_none(inviter: Inviter) -> None:
    inviter.world.rows("UPDATE tiers SET default_max_users = 1 RETURNING id")
    invitation = await inviter.invite()

    refused = await inviter.accept(invitation)
    inviter.world.rows("UPDATE tiers SET default_max_users = NULL RETURNING id")

    assert_refused(refused, 400, "TEAM_LIMIT_EXCEEDED")
    assert (await inviter.accept(invitation)).status == 200


async def test_a_user_who_is_already_a_member_cannot_accept(inviter: Inviter) -> None:
    invitation = await inviter.invite(role="admin")
    inviter.world.member(inviter.organization_id, inviter.world.user(GUEST))

    answer = await inviter.accept(invitation)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "already a member of the organization" in answer.json["error"]
    assert (inviter.status(invitation), inviter.role_of()) == ("pending", "member")


async def test_accepting_a_deleted_role_is_refused_and_the_invitation_stays_pending(inviter: Inviter) -> None:
    inviter.world.custom_role(inviter.organization_id, "auditor", "audit_logs.view")
    invitation = await inviter.invite(role="auditor")
    inviter.world.rows("DELETE FROM organization_roles RETURNING slug")

    answer = await inviter.accept(invitation)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "role" in answer.json["error"]
    assert (inviter.status(invitation), inviter.role_of()) == ("pending", None)


async def test_accepting_assigns_a_custom_role(inviter: Inviter) -> None:
    inviter.world.custom_role(inviter.organization_id, "auditor", "audit_logs.view")

    await inviter.accept(await inviter.invite(role="auditor"))

    assert inviter.role_of() == "auditor"


@pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
async def test_an_organization_that_is_not_active_refuses_every_answer(
    inviter: Inviter, status: str, clock: SettableClock
) -> None:
    invitation = await inviter.invite()
    inviter.world.set_organization_status(inviter.organization_id, status)

    for wait in (timedelta(), WEEK):
        clock.advance(wait)
        for answer in (await inviter.accept(invitation, is_proved=True), await inviter.decline(invitation)):
            assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")
    assert (inviter.status(invitation), inviter.role_of()) == ("pending", None)


async def test_registering_does_not_accept_an_invitation(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    await inviter.world.client.post("/api/auth/register", body={"email": GUEST, "password": PASSWORD})
    [message] = await inviter.world.mails()
    path, accept = f"/auth/verify-email?token={message.values['token']}", {"Accept": "application/json"}
    await inviter.world.client.get(path, headers=accept)
    await inviter.world.sign_in(GUEST)

    assert (inviter.status(invitation), inviter.role_of()) == ("pending", None)


@pytest.mark.parametrize("path", [ACCEPT, DECLINE])
async def test_guessing_tokens_is_rate_limited(installation: Installation, path: str) -> None:
    client = serving_with_rate_limits(installation)

    statuses = [
        (await client.post(path, body={"token": str(UUID(int=n))})).status
        for n in range(RateLimit.INVITATION_ANSWER.burst + 1)
    ]

    assert statuses == [400] * RateLimit.INVITATION_ANSWER.burst + [429]
