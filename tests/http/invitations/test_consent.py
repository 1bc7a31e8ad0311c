"""An organization gets no power over a person without consent: a membership made by another person is unconfirmed."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, INVITER, Invitation, Inviter
from tests.world.signing_in import Tokens
from tests.world.world import assert_refused

ACCEPT = "/api/invitations/accept"
DECLINE = "/api/invitations/decline"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CONFIRMATION = "/app/invitations/confirmation"


def is_confirmed(inviter: Inviter, email: str = GUEST) -> bool:
    """Return whether the membership of an address is confirmed."""
    return inviter.world.value(
        "SELECT confirmed_at IS NOT NULL FROM memberships JOIN users ON users.id = user_id WHERE email = %s", email
    )


async def accept_with(inviter: Inviter, invitation: Invitation, tokens: Tokens) -> Answer:
    """Accept with the token alone and the access token of a user."""
    return await inviter.world.client.post(ACCEPT, body={"token": invitation.token}, token=tokens.access_token)


async def added_guest(inviter: Inviter) -> tuple[UUID, Invitation, str]:
    """Insert a guest and let a manager make them a member; return them, the invitation and the token of the mail."""
    guest_id = inviter.world.user(GUEST)
    invitation = await inviter.invite()
    assert (await inviter.accept_on_behalf(invitation)).status == 200
    [token] = [
        message.values["token"]
        for message in await inviter.world.mails()
        if message.template is MailTemplate.MEMBERSHIP_ADDED
    ]
    return guest_id, invitation, token


async def press(inviter: Inviter, path: str, token: str) -> Answer:
    """Press a button of the page behind the mailed link."""
    return await inviter.world.client.post(path, data=f"token={token}".encode(), headers=FORM)


class TestWhoConfirms:
    """What shows the consent of the invited person, and what does not."""

    async def test_a_manager_s_accept_makes_an_unconfirmed_membership_and_tells_the_person(
        self, inviter: Inviter
    ) -> None:
        inviter.world.user(GUEST)
        invitation = await inviter.invite(role="admin")

        answer = await inviter.accept_on_behalf(invitation)

        assert (answer.status, answer.json) == (200, {})
        assert (inviter.role_of(), is_confirmed(inviter)) == ("admin", False)
        [message] = await inviter.world.mails()
        rendered = inviter.world.installation.mail_renderer.render(message)
        assert (message.to, rendered.subject) == (GUEST, "You were added to “Acme”")
        assert f"{CONFIRMATION}?token={message.values['token']}" in rendered.text
        assert message.values["token"] not in {invitation.token, invitation.proof}

    async def test_the_bare_token_makes_an_unconfirmed_membership_and_tells_the_person(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)

        await inviter.accept(await inviter.invite())

        assert not is_confirmed(inviter)
        assert [message.template for message in await inviter.world.mails()] == [MailTemplate.MEMBERSHIP_ADDED]

    async def test_the_proof_confirms(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)

        await inviter.accept(await inviter.invite(), is_proved=True)

        assert is_confirmed(inviter)
        assert await inviter.world.mails() == []

    async def test_the_invited_person_confirms_by_accepting_while_signed_in(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)
        invitation, guest = await inviter.invite(), await inviter.world.sign_in(GUEST)

        assert (await accept_with(inviter, invitation, guest)).status == 200

        assert is_confirmed(inviter)
        assert await inviter.world.mails() == []

    async def test_another_person_does_not_confirm_by_accepting(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)

        answer = await accept_with(inviter, await inviter.invite(), inviter.owner)

        assert answer.status == 200
        assert not is_confirmed(inviter)
        assert [actor for _, actor, _, _ in inviter.audit_entries("user.joined")] == [inviter.owner_id]
        assert [actor for _, actor, _ in inviter.world.events("user.joined")] == [INVITER]

    async def test_an_impersonator_does_not_confirm_by_accepting_or_working(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)
        invitation, guest = await inviter.invite(), await inviter.world.sign_in(GUEST)
        inviter.world.user("root@example.com")
        inviter.world.impersonate_in_sessions(GUEST, owner="root@example.com")

        assert (await accept_with(inviter, invitation, guest)).status == 200
        assert (await inviter.world.client.get("/api/organizations/acme", token=guest.access_token)).status == 200

        assert not is_confirmed(inviter)

    async def test_a_service_does_not_confirm_with_the_token_of_its_user(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)
        inviter.world.service(inviter.organization_id)
        invitation = await inviter.invite()
        guest = await inviter.world.sign_in(GUEST, org_slug="acme", service_slug="shop")

        assert (await accept_with(inviter, invitation, guest)).status == 200

        assert not is_confirmed(inviter)

    async def test_an_unverified_address_does_not_confirm(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)
        invitation, guest = await inviter.invite(), await inviter.world.sign_in(GUEST)
        inviter.world.rows("UPDATE users SET email_verified_at = NULL WHERE email = %s RETURNING id", GUEST)

        assert (await accept_with(inviter, invitation, guest)).status == 200

        assert not is_confirmed(inviter)

    @pytest.mark.parametrize("token", ["nonsense", "a.b.c"])
    async def test_an_invalid_access_token_is_refused_instead_of_ignored(self, inviter: Inviter, token: str) -> None:
        invitation = await inviter.invite()

        answer = await inviter.world.client.post(ACCEPT, body={"token": invitation.token}, token=token)

        assert answer.status == 401
        assert inviter.status(invitation) == "pending"

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "/api/organizations/acme"),
            ("GET", "/api/organizations/acme/members"),
            ("POST", "/api/organizations/acme/select"),
        ],
    )
    async def test_the_person_confirms_by_using_or_selecting_the_organization(
        self, inviter: Inviter, method: str, path: str
    ) -> None:
        await added_guest(inviter)
        guest = await inviter.world.sign_in(GUEST)
        assert not is_confirmed(inviter)

        answer = await inviter.world.client.request(method, path, token=guest.access_token)

        assert answer.status == 200
        assert is_confirmed(inviter)

    async def test_the_person_confirms_by_signing_in_to_the_organization(self, inviter: Inviter) -> None:
        await added_guest(inviter)

        await inviter.world.sign_in(GUEST, org_slug="acme")

        assert is_confirmed(inviter)

    async def test_signing_in_to_a_service_or_listing_one_s_organizations_does_not_confirm(
        self, inviter: Inviter
    ) -> None:
        await added_guest(inviter)
        inviter.world.service(inviter.organization_id)

        await inviter.world.sign_in(GUEST, org_slug="acme", service_slug="shop")
        guest = await inviter.world.sign_in(GUEST)
        listed = await inviter.world.client.get("/api/organizations", token=guest.access_token)

        assert [one["organization"]["slug"] for one in listed.json] == ["acme"]
        assert not is_confirmed(inviter)

    async def test_a_refused_request_does_not_confirm(self, inviter: Inviter) -> None:
        await added_guest(inviter)
        guest = await inviter.world.sign_in(GUEST)

        path = "/api/organizations/acme/audit-log"
        assert_refused(await inviter.world.client.get(path, token=guest.access_token), 403, "FORBIDDEN")

        assert not is_confirmed(inviter)

    async def test_the_requests_of_confirmed_members_write_nothing(self, inviter: Inviter) -> None:
        with recorded_statements() as statements:
            await inviter.world.client.get("/api/organizations/acme", token=inviter.owner.access_token)

        assert len(statements) == 2
        assert all(statement.strip().startswith(("SELECT", "WITH")) for statement in statements)


class TestTheInvitationAfterwards:
    """The mailed invitation still confirms or declines what a manager has accepted."""

    async def test_the_proof_of_the_invitation_confirms_once(self, inviter: Inviter) -> None:
        _, invitation, _ = await added_guest(inviter)

        answers = [await inviter.accept(invitation, is_proved=True) for _ in range(2)]

        assert [answer.status for answer in answers] == [200, 400]
        assert is_confirmed(inviter)
        assert len(inviter.audit_entries("user.joined")) == 1

    async def test_the_person_accepts_while_signed_in(self, inviter: Inviter) -> None:
        _, invitation, _ = await added_guest(inviter)

        assert (await accept_with(inviter, invitation, await inviter.world.sign_in(GUEST))).status == 200

        assert is_confirmed(inviter)

    async def test_the_bare_token_neither_confirms_nor_declines(self, inviter: Inviter) -> None:
        _, invitation, _ = await added_guest(inviter)

        for answer in (await inviter.accept(invitation), await inviter.decline(invitation)):
            assert_refused(answer, 400, "BAD_REQUEST")

        assert (inviter.role_of(), is_confirmed(inviter)) == ("member", False)

    async def test_declining_with_the_proof_leaves_once(self, inviter: Inviter) -> None:
        guest_id, invitation, _ = await added_guest(inviter)
        body = {"token": invitation.token, "proof": invitation.proof}

        answers = [await inviter.world.client.post(DECLINE, body=body) for _ in range(2)]

        assert [answer.status for answer in answers] == [200, 400]
        assert inviter.role_of() is None
        assert inviter.audit_entries("user.removed") == [
            (str(guest_id), guest_id, {"role": "member", "left": True}, "127.0.0.1")
        ]

    async def test_a_confirmed_membership_is_not_declined(self, inviter: Inviter) -> None:
        inviter.world.user(GUEST)
        invitation = await inviter.invite()
        await inviter.accept(invitation, is_proved=True)
        body = {"token": invitation.token, "proof": invitation.proof}

        assert_refused(await inviter.world.client.post(DECLINE, body=body), 400, "BAD_REQUEST")

        assert inviter.role_of() == "member"

    async def test_who_left_is_not_a_member_again_by_the_old_invitation(self, inviter: Inviter) -> None:
        _, invitation, token = await added_guest(inviter)
        await press(inviter, f"{CONFIRMATION}/leave", token)

        assert_refused(await inviter.accept(invitation, is_proved=True), 400, "BAD_REQUEST")
        assert inviter.role_of() is None
        assert (await inviter.accept(await inviter.invite(), is_proved=True)).status == 200

    async def test_of_confirming_and_leaving_at_once_one_takes_effect(self, inviter: Inviter) -> None:
        _, _, token = await added_guest(inviter)

        answers = await at_once(
            partial(press, inviter, CONFIRMATION, token), partial(press, inviter, f"{CONFIRMATION}/leave", token)
        )

        assert statuses_of(answers) == [200, 400]


class TestPower:
    """What an organization may not do to a person before their consent."""

    async def test_the_owner_can_neither_export_nor_anonymize_before_the_person_confirms(
        self, inviter: Inviter
    ) -> None:
        guest_id, _, token = await added_guest(inviter)
        client, owner = inviter.world.client, inviter.owner.access_token

        exported = await client.get(f"/api/privacy/export/{guest_id}", token=owner)
        forgotten = await client.delete(f"/api/privacy/forget/{guest_id}", token=owner)
        await press(inviter, CONFIRMATION, token)

        assert_refused(exported, 403, "FORBIDDEN")
        assert_refused(forgotten, 403, "FORBIDDEN")
        assert (await client.get(f"/api/privacy/export/{guest_id}", token=owner)).status == 200
        assert (await client.delete(f"/api/privacy/forget/{guest_id}", token=owner)).status == 200

    async def test_an_unconfirmed_membership_elsewhere_does_not_keep_an_owner_from_anonymizing(
        self, inviter: Inviter
    ) -> None:
        guest_id, _, token = await added_guest(inviter)
        await press(inviter, CONFIRMATION, token)
        inviter.world.member(inviter.world.organization("bolt"), guest_id, is_confirmed=False)

        answer = await inviter.world.client.delete(f"/api/privacy/forget/{guest_id}", token=inviter.owner.access_token)

        assert answer.status == 200

    async def test_events_of_the_person_reach_the_organization_after_the_person_confirms(
        self, inviter: Inviter
    ) -> None:
        _, _, token = await added_guest(inviter)
        counts: list[tuple[int, int]] = []

        for _ in range(2):
            await inviter.world.log_in(GUEST, "wrong")
            guest = (await inviter.world.sign_in(GUEST)).access_token
            body = {"current_password": PASSWORD, "new_password": PASSWORD}
            changed = await inviter.world.client.post("/api/user/change-password", body=body, token=guest)
            assert changed.status == 200, changed.text
            mine = inviter.world.value(
                "SELECT count(*) FROM events WHERE organization_id = %s AND actor_email = %s AND type <> ALL (%s)",
                inviter.organization_id,
                GUEST,
                ["user.joined", "invitation.accepted", "user.signup.success"],
            )
            counts.append((mine, len(inviter.audit_entries("security.password.changed"))))
            await press(inviter, CONFIRMATION, token)

        assert counts[0] == (0, 0)
        assert counts[1][0] >= 3
        assert counts[1][1] == 1

    async def test_nobody_becomes_an_owner_without_consent(self, inviter: Inviter) -> None:
        guest_id, _, _ = await added_guest(inviter)
        path, body = "/api/organizations/acme/transfer-ownership", {"new_owner_user_id": str(guest_id)}

        refused = await inviter.world.client.post(path, body=body, token=inviter.owner.access_token)
        await inviter.world.sign_in(GUEST, org_slug="acme")

        assert_refused(refused, 400, "BAD_REQUEST")
        assert "has not confirmed" in refused.json["error"]
        transferred = await inviter.world.client.post(path, body=body, token=inviter.owner.access_token)
        assert transferred.status == 200

    async def test_members_do_not_see_a_platform_owner_before_they_confirm(self, inviter: Inviter) -> None:
        _, _, token = await added_guest(inviter)
        inviter.world.rows("UPDATE users SET is_platform_owner = true WHERE email = %s RETURNING id", GUEST)
        shown: list[bool] = []

        for _ in range(2):
            for query in ("", "?role=member"):
                path = f"/api/organizations/acme/members{query}"
                answer = await inviter.world.client.get(path, token=inviter.owner.access_token)
                shown += [
                    member["user"]["is_platform_owner"]
                    for member in answer.json["members"]
                    if member["user"]["email"] == GUEST
                ]
            await press(inviter, CONFIRMATION, token)

        assert shown == [False, False, True, True]

    async def test_a_manager_learns_nothing_about_the_account_from_the_answer(self, inviter: Inviter) -> None:
        inviter.world.user("verified@example.com")
        inviter.world.user("unverified@example.com", is_verified=False)
        inviter.world.user("deactivated@example.com", is_active=False)
        answers: list[tuple[int, bytes]] = []

        for name in ("verified", "unverified", "deactivated", "new"):
            invitation = await inviter.invite(f"{name}@example.com")
            answer = await inviter.accept_on_behalf(invitation)
            answers.append((answer.status, answer.content))

        assert answers == [(200, b"{}")] * 4
        told = inviter.world.rows(
            "SELECT recipient FROM mails WHERE template = 'membership_added' AND state = 'queued' ORDER BY id"
        )
        assert told == [("verified@example.com",), ("unverified@example.com",), ("new@example.com",)]
