"""Creating, listing and revoking invitations."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from uuid import UUID

import pytest

from core.mail.mail import MailTemplate
from core.organizations.access import Capability
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.inviter import GUEST, INVITATIONS, INVITER, Inviter
from tests.world.world import assert_refused

UNKNOWN_ID = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"
WEEK = timedelta(days=7)
MANAGER = "org.members.manage"
ROLES = "org.roles.manage"


async def test_the_answer_has_the_invitation_its_inviter_and_its_token(inviter: Inviter) -> None:
    answer = (await inviter.send(" Guest@Example.COM ", "admin")).json

    token = answer["token"]
    assert UUID(token).version == 4
    assert answer == {
        "invitation": {
            "id": answer["invitation"]["id"],
            "org_id": str(inviter.organization_id),
            "email": GUEST,
            "role": "admin",
            "invited_by": str(inviter.owner_id),
            "status": "pending",
            "token": hashlib.sha256(token.encode()).hexdigest(),
            "expires_at": "2026-02-10T04:05:06Z",
            "created_at": "2026-02-03T04:05:06Z",
            "services": [],
            "message": None,
        },
        "inviter": {"id": str(inviter.owner_id), "email": INVITER, "created_at": "2026-02-03T04:05:06Z"},
        "token": token,
    }


async def test_the_invited_address_gets_a_mail_with_token_and_proof(inviter: Inviter) -> None:
    answer = await inviter.send(role="admin")

    [message] = await inviter.world.mails()
    rendered = inviter.world.installation.mail_renderer.render(message)
    link = f"http://localhost:8000/invitations/accept?token={answer.json['token']}&proof={message.values['proof']}"
    assert (message.to, message.template) == (GUEST, MailTemplate.INVITATION)
    assert UUID(message.values["proof"]).version == 4
    assert rendered.subject == "You are invited to “Acme”"
    assert f"{INVITER} invites you to join “Acme” on Gatehouse, as admin." in rendered.text
    assert link in rendered.text
    assert link.replace("&", "&amp;") in rendered.html


async def test_token_and_proof_are_stored_as_hashes_and_the_token_also_sealed(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    [row] = inviter.world.rows("SELECT token_hash, proof_hash, token_sealed, invitations::text FROM invitations")

    assert row[0] == hashlib.sha256(invitation.token.encode()).digest()
    assert row[1] == hashlib.sha256(invitation.proof.encode()).digest()
    assert invitation.token.encode() not in row[2]
    assert not any(secret in row[3] for secret in (invitation.token, invitation.proof))


async def test_the_audit_entry_and_the_event_have_address_and_role_and_no_secrets(inviter: Inviter) -> None:
    invitation = await inviter.invite(role="admin")

    details = {"invited_email": GUEST, "role": "admin"}
    assert inviter.audit_entries("user.invited") == [(str(invitation.id), inviter.owner_id, details, "127.0.0.1")]
    assert inviter.world.events("user.invited") == [(inviter.organization_id, INVITER, details)]


async def test_an_inviter_with_an_unverified_address_is_refused(inviter: Inviter) -> None:
    [(owner,)] = inviter.world.rows("SELECT email FROM users WHERE id = %s", inviter.owner_id)
    inviter.world.set_unproved_address(owner, "president@example.com")

    refused = await inviter.send()

    assert_refused(refused, 403, "FORBIDDEN")
    assert refused.json["error"].startswith("Verify your email address first")
    assert await inviter.world.mails() == []


async def test_an_invitation_as_owner_is_refused(inviter: Inviter) -> None:
    answer = await inviter.send(role="owner")

    assert_refused(answer, 400, "BAD_REQUEST")
    assert answer.json["details"][0]["field"] == "role"


async def test_a_role_is_built_in_or_a_custom_role_of_the_organization(inviter: Inviter) -> None:
    inviter.world.custom_role(inviter.organization_id, "auditor", "audit_logs.view")

    assert (await inviter.invite(role="auditor")).answer["invitation"]["role"] == "auditor"
    for role in ("", "Admin", "editor"):
        assert_refused(await inviter.send("other@example.com", role), 400, "BAD_REQUEST")


async def test_a_role_of_another_organization_is_unknown(inviter: Inviter) -> None:
    inviter.world.custom_role(inviter.organization_id, "auditor")
    other = inviter.world.organization("globex")
    inviter.world.rows("UPDATE organization_roles SET organization_id = %s RETURNING slug", other)

    assert_refused(await inviter.send(role="auditor"), 400, "BAD_REQUEST")


async def test_an_invitation_to_another_role_than_member_requires_the_management_of_roles(inviter: Inviter) -> None:
    host = await inviter.sign_in_with_role("host", MANAGER)

    as_member = await inviter.send(token=host.access_token)
    as_admin = await inviter.send("other@example.com", "admin", token=host.access_token)
    as_nonsense = await inviter.send("no address", "nonsense", token=host.access_token)

    assert as_member.status == 200
    assert_refused(as_admin, 403, "FORBIDDEN")
    assert ROLES in as_admin.json["error"]
    assert_refused(as_nonsense, 403, "FORBIDDEN")


async def test_an_inviter_cannot_grant_capabilities_that_they_lack(inviter: Inviter) -> None:
    chief = await inviter.sign_in_with_role("chief", MANAGER, ROLES)
    inviter.world.custom_role(inviter.organization_id, "helper", MANAGER)
    inviter.world.custom_role(inviter.organization_id, "auditor", MANAGER, "audit_logs.view")

    refused = [await inviter.send(role=role, token=chief.access_token) for role in ("admin", "auditor")]
    allowed = await inviter.send(role="helper", token=chief.access_token)

    for answer in refused:
        assert_refused(answer, 403, "FORBIDDEN")
    assert allowed.status == 200, allowed.text


async def test_an_inviter_with_every_capability_invites_to_every_role_but_owner(inviter: Inviter) -> None:
    chief = await inviter.sign_in_with_role("chief", *Capability)
    inviter.world.custom_role(inviter.organization_id, "auditor", "audit_logs.view")

    for email, role in (("a@example.com", "admin"), ("b@example.com", "auditor"), ("c@example.com", "member")):
        assert (await inviter.send(email, role, token=chief.access_token)).status == 200


async def test_an_invitation_requires_an_address_and_a_role(inviter: Inviter, subtests: pytest.Subtests) -> None:
    for body in ({}, {"email": GUEST}, {"role": "member"}, {"email": "nobody", "role": "member"}):
        with subtests.test(body=body):
            answer = await inviter.world.client.post(INVITATIONS, body=body, token=inviter.owner.access_token)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert await inviter.world.mails() == []


async def test_an_invitation_of_a_member_is_refused(inviter: Inviter) -> None:
    inviter.world.member(inviter.organization_id, inviter.world.user(GUEST))

    answer = await inviter.send(GUEST.upper())

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "already a member of the organization" in answer.json["error"]


async def test_known_and_unknown_addresses_are_invited_with_the_same_statements(inviter: Inviter) -> None:
    inviter.world.user("known@example.com")
    executed: list[list[str]] = []

    for email in ("known@example.com", "unknown@example.com"):
        with recorded_statements() as statements:
            assert (await inviter.send(email)).status == 200
        executed.append(statements)

    assert executed[0] == executed[1]


async def test_an_address_with_a_pending_invitation_is_not_invited_again(inviter: Inviter) -> None:
    await inviter.invite()

    answer = await inviter.send(role="admin")

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "pending invitation" in answer.json["error"]


async def test_of_concurrent_invitations_of_an_address_one_is_created(inviter: Inviter) -> None:
    answers = await at_once(*[inviter.send] * 4)

    assert statuses_of(answers) == [200, 400, 400, 400]
    assert len(await inviter.world.mails()) == 1


async def test_an_address_can_be_invited_again_after_an_answer_or_elsewhere(inviter: Inviter) -> None:
    await inviter.decline(await inviter.invite())
    await inviter.revoke(await inviter.invite())
    other = inviter.world.organization("globex")
    inviter.world.member(other, inviter.owner_id, "owner")
    await inviter.invite()

    answer = await inviter.world.client.post(
        "/api/organizations/globex/invitations",
        body={"email": GUEST, "role": "member"},
        token=inviter.owner.access_token,
    )

    assert answer.status == 200


async def test_an_address_with_an_expired_invitation_can_be_invited_again(inviter: Inviter) -> None:
    earlier = await inviter.invite()
    await inviter.later(WEEK)

    later = await inviter.invite()

    assert (inviter.status(earlier), inviter.status(later)) == ("expired", "pending")
    assert [target for target, *_ in inviter.audit_entries("invitation.expired")] == [str(earlier.id)]


async def test_the_list_has_pages_the_newest_first(inviter: Inviter, clock: SettableClock) -> None:
    for number in range(5):
        await inviter.send(f"guest{number}@example.com")
        clock.advance(timedelta(seconds=1))
    await inviter.world.mails()

    pages = [
        (await inviter.world.client.get(f"{INVITATIONS}?page={page}&limit=2", token=inviter.owner.access_token)).json
        for page in (1, 2, 3, 4)
    ]

    emails = [[item["invitation"]["email"].partition("@")[0] for item in page] for page in pages]
    assert emails == [["guest4", "guest3"], ["guest2", "guest1"], ["guest0"], []]
    assert set(pages[0][0]) == {"invitation", "inviter"}


async def test_the_list_never_shows_a_token(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answer = await inviter.world.client.get(INVITATIONS, token=inviter.owner.access_token)

    assert answer.json == [{name: invitation.answer[name] for name in ("invitation", "inviter")}]
    assert invitation.token not in answer.text


async def test_the_list_is_filtered_by_status(inviter: Inviter, clock: SettableClock) -> None:
    declined, revoked, accepted, late, waiting = [await inviter.invite(f"guest{n}@example.com") for n in range(5)]
    await inviter.decline(declined)
    await inviter.revoke(revoked)
    await inviter.accept(accepted)
    inviter.world.rows("UPDATE invitations SET expires_at = %s WHERE id = %s RETURNING id", clock(), late.id)
    await inviter.accept(late)

    found = {
        status: [
            item["invitation"]["id"]
            for item in (
                await inviter.world.client.get(f"{INVITATIONS}?status={status}", token=inviter.owner.access_token)
            ).json
        ]
        for status in ("pending", "accepted", "rejected", "cancelled", "expired")
    }

    assert found == {
        "pending": [str(waiting.id)],
        "accepted": [str(accepted.id)],
        "rejected": [str(declined.id)],
        "cancelled": [str(revoked.id)],
        "expired": [str(late.id)],
    }


async def test_an_invalid_list_query_is_refused(inviter: Inviter, subtests: pytest.Subtests) -> None:
    for query in ("status=open", "status=", "page=0", "limit=0", "limit=x", "page=-1"):
        with subtests.test(query=query):
            assert_refused(
                await inviter.world.client.get(f"{INVITATIONS}?{query}", token=inviter.owner.access_token),
                400,
                "BAD_REQUEST",
            )


async def test_a_deleted_inviter_is_shown_as_deleted(inviter: Inviter) -> None:
    await inviter.invite()
    inviter.world.rows("UPDATE invitations SET invited_by = NULL RETURNING id")

    [item] = (await inviter.world.client.get(INVITATIONS, token=inviter.owner.access_token)).json

    assert item["invitation"]["invited_by"] is None
    assert item["inviter"] == {
        "id": "unknown",
        "email": "deleted-user@unknown",
        "created_at": "1970-01-01T00:00:00Z",
    }


async def test_the_list_executes_two_statements(inviter: Inviter) -> None:
    await inviter.invite()

    with recorded_statements() as statements:
        await inviter.world.client.get(INVITATIONS, token=inviter.owner.access_token)

    assert [statement.split()[0] for statement in statements] == ["SELECT", "WITH"]


async def test_a_revoked_invitation_is_recorded_and_cannot_be_answered(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    revoked, again = await inviter.revoke(invitation), await inviter.revoke(invitation)

    assert (revoked.status, revoked.json) == (200, {})
    assert_refused(again, 404, "NOT_FOUND")
    assert_refused(await inviter.accept(invitation, is_proved=True), 400, "BAD_REQUEST")
    assert_refused(await inviter.decline(invitation), 400, "BAD_REQUEST")
    assert inviter.status(invitation) == "cancelled"
    assert inviter.audit_entries("invitation.revoked") == [(str(invitation.id), inviter.owner_id, {}, "127.0.0.1")]
    assert inviter.world.events("invitation.revoked") == [
        (inviter.organization_id, INVITER, {"invitation_id": str(invitation.id)})
    ]


async def test_an_invitation_that_has_ended_cannot_be_revoked(inviter: Inviter) -> None:
    accepted, declined, late = [await inviter.invite(f"guest{n}@example.com") for n in range(3)]
    await inviter.accept(accepted)
    await inviter.decline(declined)
    await inviter.later(WEEK)

    for invitation in (accepted, declined, late):
        assert_refused(await inviter.revoke(invitation), 404, "NOT_FOUND")
    assert inviter.audit_entries("invitation.revoked") == []


async def test_an_invitation_of_another_organization_is_not_found(inviter: Inviter) -> None:
    invitation = await inviter.invite()
    other = inviter.world.organization("globex")
    inviter.world.member(other, inviter.owner_id, "owner")
    token = inviter.owner.access_token

    for suffix in ("", "/accept"):
        for path in (
            f"/api/organizations/globex/invitations/{invitation.id}",
            f"{INVITATIONS}/{UNKNOWN_ID}",
            f"{INVITATIONS}/1",
        ):
            assert_refused(await inviter.world.client.post(path + suffix, token=token), 404, "NOT_FOUND")
    assert inviter.status(invitation) == "pending"
