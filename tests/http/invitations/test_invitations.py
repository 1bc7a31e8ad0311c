"""Inviting, listing and withdrawing (operations 4.7, decisions 5.6)."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
import trio

from core.mail.mail import MailTemplate
from core.organizations.access import Capability
from entrypoints.settings import Settings
from tests.invitations import ACME, GUEST, OWNER, hosts
from tests.sign_ins import assert_refused, door
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from tests.clock import SettableClock
    from tests.invitations import Hosts

__all__ = ["door", "hosts"]

NOT_THERE = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"
WEEK = timedelta(days=7)
MANAGER = "org.members.manage"
ROLES = "org.roles.manage"


@pytest.fixture
def settings() -> Settings:
    """Without rate limits."""
    return Settings(dev=True, rate_limits=False)


async def test_an_invitation_is_answered_with_its_inviter_and_once_with_its_token(hosts: Hosts) -> None:
    answer = (await hosts.ask(" Guest@Example.COM ", "admin")).json

    token = answer["token"]
    assert UUID(token).version == 4
    assert answer == {
        "invitation": {
            "id": answer["invitation"]["id"],
            "org_id": str(hosts.organization_id),
            "email": GUEST,
            "role": "admin",
            "invited_by": str(hosts.owner_id),
            "status": "pending",
            "token": hashlib.sha256(token.encode()).hexdigest(),
            "expires_at": "2026-02-10T04:05:06Z",
            "created_at": "2026-02-03T04:05:06Z",
        },
        "inviter": {"id": str(hosts.owner_id), "email": OWNER, "created_at": "2026-02-03T04:05:06Z"},
        "token": token,
    }


async def test_the_invited_get_a_letter_with_token_and_proof(hosts: Hosts) -> None:
    answer = await hosts.ask(role="admin")

    [message] = await hosts.messages()
    rendered = hosts.installation.mail_renderer.render(message)
    link = f"http://localhost:8000/invitations/accept?token={answer.json['token']}&proof={message.values['proof']}"
    assert (message.to, message.template) == (GUEST, MailTemplate.INVITATION)
    assert UUID(message.values["proof"]).version == 4
    assert rendered.subject == "You are invited to Acme"
    assert f"{OWNER} invites you to join Acme on Gatehouse, as\nadmin." in rendered.text
    assert link in rendered.text
    assert link.replace("&", "&amp;") in rendered.html


async def test_tokens_and_proofs_are_stored_as_hashes_and_the_token_sealed_besides(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    [row] = hosts.door.rows("SELECT token_hash, proof_hash, token_sealed, invitations::text FROM invitations")

    assert row[0] == hashlib.sha256(invitation.token.encode()).digest()
    assert row[1] == hashlib.sha256(invitation.proof.encode()).digest()
    assert invitation.token.encode() not in row[2]
    assert not any(secret in row[3] for secret in (invitation.token, invitation.proof))


async def test_an_invitation_is_told_with_address_and_role_and_without_secrets(hosts: Hosts) -> None:
    invitation = await hosts.invite(role="admin")

    details = {"invited_email": GUEST, "role": "admin"}
    assert hosts.audited("user.invited") == [(str(invitation.id), hosts.owner_id, details, "127.0.0.1")]
    assert hosts.door.events("user.invited") == [(hosts.organization_id, OWNER, details)]


async def test_nobody_invites_in_the_name_of_an_address_that_they_have_not_proved(hosts: Hosts) -> None:
    changed = await hosts.door.client.patch(
        "/api/user", token=hosts.owner.access_token, body={"email": "president@example.com"}
    )
    assert changed.status == 200, changed.text
    await hosts.messages()

    refused = await hosts.ask()

    assert_refused(refused, 403, "FORBIDDEN")
    assert refused.json["error"].startswith("Verify your email address first")
    assert await hosts.messages() == []


async def test_nobody_is_invited_as_owner(hosts: Hosts) -> None:
    answer = await hosts.ask(role="owner")

    assert_refused(answer, 400, "BAD_REQUEST")
    assert answer.json["details"][0]["field"] == "role"


async def test_a_role_is_built_in_or_one_of_the_organization(hosts: Hosts) -> None:
    hosts.custom_role("auditor", "audit_logs.view")

    assert (await hosts.invite(role="auditor")).answer["invitation"]["role"] == "auditor"
    for role in ("", "Admin", "editor"):
        assert_refused(await hosts.ask("other@example.com", role), 400, "BAD_REQUEST")


async def test_a_role_of_another_organization_is_unknown(hosts: Hosts) -> None:
    hosts.custom_role("auditor")
    other = hosts.door.organization("globex")
    hosts.door.rows("UPDATE organization_roles SET organization_id = %s RETURNING slug", other)

    assert_refused(await hosts.ask(role="auditor"), 400, "BAD_REQUEST")


async def test_a_role_other_than_member_takes_the_management_of_roles(hosts: Hosts) -> None:
    host = await hosts.role("host", MANAGER)

    as_member = await hosts.ask(token=host.access_token)
    as_admin = await hosts.ask("other@example.com", "admin", token=host.access_token)
    as_nonsense = await hosts.ask("no address", "nonsense", token=host.access_token)

    assert as_member.status == 200
    assert_refused(as_admin, 403, "FORBIDDEN")
    assert ROLES in as_admin.json["error"]
    assert_refused(as_nonsense, 403, "FORBIDDEN")


async def test_who_manages_members_and_roles_invites_to_no_more_than_they_may_do_themselves(hosts: Hosts) -> None:
    chief = await hosts.role("chief", MANAGER, ROLES)
    hosts.custom_role("helper", MANAGER)
    hosts.custom_role("auditor", MANAGER, "audit_logs.view")

    refused = [await hosts.ask(role=role, token=chief.access_token) for role in ("admin", "auditor")]
    allowed = await hosts.ask(role="helper", token=chief.access_token)

    for answer in refused:
        assert_refused(answer, 403, "FORBIDDEN")
    assert allowed.status == 200, allowed.text


async def test_who_may_do_everything_invites_to_every_role_but_owner(hosts: Hosts) -> None:
    chief = await hosts.role("chief", *Capability)
    hosts.custom_role("auditor", "audit_logs.view")

    for email, role in (("a@example.com", "admin"), ("b@example.com", "auditor"), ("c@example.com", "member")):
        assert (await hosts.ask(email, role, token=chief.access_token)).status == 200


@pytest.mark.parametrize("body", [{}, {"email": GUEST}, {"role": "member"}, {"email": "nobody", "role": "member"}])
async def test_an_invitation_has_an_address_and_a_role(hosts: Hosts, body: dict[str, str]) -> None:
    answer = await hosts.door.client.post(ACME, body=body, token=hosts.owner.access_token)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert await hosts.messages() == []


async def test_a_member_is_not_invited(hosts: Hosts) -> None:
    hosts.door.member(hosts.organization_id, hosts.door.account(GUEST))

    answer = await hosts.ask(GUEST.upper())

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "already a member of the organization" in answer.json["error"]


async def test_whoever_has_an_account_is_invited_like_everybody(hosts: Hosts) -> None:
    hosts.door.account("known@example.com")
    taken: list[list[str]] = []

    for email in ("known@example.com", "unknown@example.com"):
        with recorded_statements() as statements:
            assert (await hosts.ask(email)).status == 200
        taken.append(statements)

    assert taken[0] == taken[1]


async def test_an_address_that_has_not_answered_is_not_invited_again(hosts: Hosts) -> None:
    await hosts.invite()

    answer = await hosts.ask(role="admin")

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "pending invitation" in answer.json["error"]


async def test_of_two_invitations_of_an_address_at_once_one_is_made(hosts: Hosts) -> None:
    statuses: list[int] = []

    async def ask() -> None:
        statuses.append((await hosts.ask()).status)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(ask)

    assert sorted(statuses) == [200, 400, 400, 400]
    assert len(await hosts.messages()) == 1


async def test_after_an_answer_or_in_another_organization_an_address_is_invited_again(hosts: Hosts) -> None:
    await hosts.decline(await hosts.invite())
    await hosts.revoke(await hosts.invite())
    other = hosts.door.organization("globex")
    hosts.door.member(other, hosts.owner_id, "owner")
    await hosts.invite()

    answer = await hosts.door.client.post(
        "/api/organizations/globex/invitations",
        body={"email": GUEST, "role": "member"},
        token=hosts.owner.access_token,
    )

    assert answer.status == 200


async def test_an_address_whose_invitation_has_run_out_is_invited_again(hosts: Hosts) -> None:
    earlier = await hosts.invite()
    await hosts.later(WEEK)

    later = await hosts.invite()

    assert (hosts.status(earlier), hosts.status(later)) == ("expired", "pending")
    assert [target for target, *_ in hosts.audited("invitation.expired")] == [str(earlier.id)]


async def test_the_list_has_the_newest_first_in_pages(hosts: Hosts, clock: SettableClock) -> None:
    for number in range(5):
        await hosts.ask(f"guest{number}@example.com")
        clock.advance(timedelta(seconds=1))
    await hosts.messages()

    pages = [
        (await hosts.door.client.get(f"{ACME}?page={page}&limit=2", token=hosts.owner.access_token)).json
        for page in (1, 2, 3, 4)
    ]

    emails = [[item["invitation"]["email"].partition("@")[0] for item in page] for page in pages]
    assert emails == [["guest4", "guest3"], ["guest2", "guest1"], ["guest0"], []]
    assert set(pages[0][0]) == {"invitation", "inviter"}


async def test_the_list_never_shows_a_token(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    answer = await hosts.door.client.get(ACME, token=hosts.owner.access_token)

    assert answer.json == [{name: invitation.answer[name] for name in ("invitation", "inviter")}]
    assert invitation.token not in answer.text


async def test_the_list_is_filtered_by_status(hosts: Hosts, clock: SettableClock) -> None:
    declined, revoked, accepted, late, waiting = [await hosts.invite(f"guest{n}@example.com") for n in range(5)]
    await hosts.decline(declined)
    await hosts.revoke(revoked)
    await hosts.accept(accepted)
    hosts.door.rows("UPDATE invitations SET expires_at = %s WHERE id = %s RETURNING id", clock(), late.id)
    await hosts.accept(late)

    found = {
        status: [
            item["invitation"]["id"]
            for item in (await hosts.door.client.get(f"{ACME}?status={status}", token=hosts.owner.access_token)).json
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


@pytest.mark.parametrize("query", ["status=open", "status=", "page=0", "limit=0", "limit=x", "page=-1"])
async def test_a_list_that_cannot_be_is_refused(hosts: Hosts, query: str) -> None:
    assert_refused(await hosts.door.client.get(f"{ACME}?{query}", token=hosts.owner.access_token), 400, "BAD_REQUEST")


async def test_an_inviter_who_is_gone_is_shown_as_gone(hosts: Hosts) -> None:
    await hosts.invite()
    hosts.door.rows("UPDATE invitations SET invited_by = NULL RETURNING id")

    [item] = (await hosts.door.client.get(ACME, token=hosts.owner.access_token)).json

    assert item["invitation"]["invited_by"] is None
    assert item["inviter"] == {
        "id": "unknown",
        "email": "deleted-user@unknown",
        "created_at": "1970-01-01T00:00:00Z",
    }


async def test_the_list_costs_two_statements(hosts: Hosts) -> None:
    await hosts.invite()

    with recorded_statements() as statements:
        await hosts.door.client.get(ACME, token=hosts.owner.access_token)

    assert [statement.split()[0] for statement in statements] == ["SELECT", "WITH"]


async def test_a_withdrawn_invitation_is_told_and_good_for_nothing(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    revoked, again = await hosts.revoke(invitation), await hosts.revoke(invitation)

    assert (revoked.status, revoked.json) == (200, {})
    assert_refused(again, 404, "NOT_FOUND")
    assert_refused(await hosts.accept(invitation, is_proved=True), 400, "BAD_REQUEST")
    assert_refused(await hosts.decline(invitation), 400, "BAD_REQUEST")
    assert hosts.status(invitation) == "cancelled"
    assert hosts.audited("invitation.revoked") == [(str(invitation.id), hosts.owner_id, {}, "127.0.0.1")]
    assert hosts.door.events("invitation.revoked") == [
        (hosts.organization_id, OWNER, {"invitation_id": str(invitation.id)})
    ]


async def test_what_has_ended_is_not_withdrawn(hosts: Hosts) -> None:
    accepted, declined, late = [await hosts.invite(f"guest{n}@example.com") for n in range(3)]
    await hosts.accept(accepted)
    await hosts.decline(declined)
    await hosts.later(WEEK)

    for invitation in (accepted, declined, late):
        assert_refused(await hosts.revoke(invitation), 404, "NOT_FOUND")
    assert hosts.audited("invitation.revoked") == []


async def test_an_invitation_of_another_organization_is_not_there(hosts: Hosts) -> None:
    invitation = await hosts.invite()
    other = hosts.door.organization("globex")
    hosts.door.member(other, hosts.owner_id, "owner")
    token = hosts.owner.access_token

    for suffix in ("", "/accept"):
        for path in (f"/api/organizations/globex/invitations/{invitation.id}", f"{ACME}/{NOT_THERE}", f"{ACME}/1"):
            assert_refused(await hosts.door.client.post(path + suffix, token=token), 404, "NOT_FOUND")
    assert hosts.status(invitation) == "pending"
