"""The services and the message that an invitation may include."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.inviter import GUEST, INVITATIONS, INVITER, Inviter
from tests.world.world import assert_refused

MESSAGE = "Welcome <b>aboard</b>, J.P. says hello."
MEMBERS, END_USERS = "org.members.manage", "end_users.manage"


def insert_services(inviter: Inviter) -> dict[str, UUID]:
    """Insert two services of the organization, and one of another organization."""
    world = inviter.world
    elsewhere = world.organization("globex")
    return {
        "shop": world.service(inviter.organization_id, "shop").id,
        "till": world.service(inviter.organization_id, "till").id,
        "bank": world.service(elsewhere, "bank").id,
    }


def links(inviter: Inviter, email: str = GUEST) -> list[tuple[Any, ...]]:
    """List the links of a user to services: slug, origin, and whether they were used."""
    return inviter.world.rows(
        """
        SELECT   s.slug, l.origin, l.last_login_at IS NOT NULL
        FROM     service_users l
        JOIN     services s ON s.id = l.service_id
        JOIN     users u ON u.id = l.user_id
        WHERE    u.email = %s
        ORDER BY s.slug
        """,
        email,
    )


async def test_records_and_logs_name_the_services_and_no_log_and_no_mail_has_the_message(inviter: Inviter) -> None:
    insert_services(inviter)
    sent = await inviter.send(services=["till", "shop", "shop"], message=f"  {MESSAGE}\r\n")

    record = sent.json["invitation"]
    listed = await inviter.world.client.get(INVITATIONS, token=inviter.owner.access_token)
    assert (record["services"], record["message"]) == (["shop", "till"], MESSAGE)
    assert listed.json[0]["invitation"] == record
    details = {"invited_email": GUEST, "role": "member", "services": ["shop", "till"]}
    assert inviter.audit_entries("user.invited") == [(record["id"], inviter.owner_id, details, "127.0.0.1")]
    assert inviter.world.events("user.invited") == [(inviter.organization_id, INVITER, details)]
    [mail] = await inviter.world.mails()
    assert not shows(str(mail.values), "aboard")
    answer = {"token": sent.json["token"], "proof": mail.values["proof"]}
    assert (await inviter.world.client.post("/api/invitations/accept", body=answer)).status == 200
    [(_, _, accepted, _)] = inviter.audit_entries("invitation.accepted")
    assert accepted["services"] == ["shop", "till"]
    for table in ("audit_entries", "events"):
        assert not shows(str(inviter.world.rows(f"SELECT {table}::text FROM {table}")), "aboard")


@pytest.mark.parametrize(
    ("field", "included"),
    [
        ("services", {"services": ["shop", "unknown"]}),
        ("services", {"services": ["bank"]}),
        ("services", {"services": [f"shop-{number}" for number in range(21)]}),
        ("services", {"services": ["sh\x00p"]}),
        ("message", {"message": "a" * 301}),
        ("message", {"message": "Look at evil.example"}),
        ("message", {"message": "evil\u200d.example"}),
        ("message", {"message": "https://evil"}),
        ("message", {"message": "drow \u202e terces"}),
        ("message", {"message": "a\x07b"}),
        ("message", {"message": "a\x00b"}),
    ],
)
async def test_what_cannot_be_included_is_refused_by_field(
    inviter: Inviter, field: str, included: dict[str, Any]
) -> None:
    insert_services(inviter)
    answer = await inviter.send(**included)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert [one["field"].partition("[")[0] for one in answer.json["details"]] == [field]
    assert inviter.world.rows("SELECT FROM invitations") == []


async def test_the_links_come_with_the_membership_and_end_with_it(inviter: Inviter) -> None:
    shops = insert_services(inviter)
    invitation = await inviter.invite(services=["shop", "till"])

    # A service that is deleted meanwhile drops out, and one made later under its slug inherits nothing.
    inviter.world.connection.execute("DELETE FROM services WHERE id = %s", (shops["till"],))
    inviter.world.service(inviter.organization_id, "till")
    assert (await inviter.accept(invitation, is_proved=True)).status == 200
    assert links(inviter) == [("shop", "membership", False)]
    guest_id = inviter.world.value("SELECT id FROM users WHERE email = %s", GUEST)
    path = f"/api/organizations/acme/members/{guest_id}"
    assert (await inviter.world.client.post(path, token=inviter.owner.access_token)).status == 200
    assert links(inviter) == []


async def test_an_unconfirmed_membership_gives_unconfirmed_links_and_a_confirmed_one_keeps_them(
    inviter: Inviter,
) -> None:
    insert_services(inviter)
    world, before = inviter.world, "before@example.com"
    for email, is_proved in ((GUEST, True), (before, False)):
        world.user(email)
        assert (await inviter.accept(await inviter.invite(email, services=["shop"]), is_proved=is_proved)).status == 200
    assert links(inviter) == links(inviter, before) == [("shop", "membership", False)]

    # What another person made hangs on the address; what the person has confirmed does not.
    for email in (GUEST, before):
        await world.change_address((await world.sign_in(email)).access_token, f"new-{email}")
    assert links(inviter, f"new-{GUEST}") == [("shop", "membership", False)]
    assert links(inviter, f"new-{before}") == []
    assert inviter.role_of(f"new-{before}") is None


async def test_a_link_that_the_person_has_already_stays_theirs(inviter: Inviter) -> None:
    shops = insert_services(inviter)
    world = inviter.world
    guest_id = world.user(GUEST)
    world.connection.execute(
        """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at, origin)
        VALUES (%s, %s, %s, %s, %s, 'self')
        """,
        (shops["shop"], inviter.organization_id, guest_id, world.clock(), world.clock()),
    )
    invitation = await inviter.invite(services=["shop", "till"])

    assert (await inviter.accept_on_behalf(invitation)).status == 200
    assert links(inviter) == [("shop", "self", True), ("till", "membership", False)]
    assert (
        await world.client.post("/api/invitations/decline", body={"token": invitation.token, "proof": invitation.proof})
    ).status == 200
    assert links(inviter) == [("shop", "self", True)]


async def test_including_services_takes_the_right_to_link_people_to_them(inviter: Inviter) -> None:
    insert_services(inviter)
    lesser = await inviter.sign_in_with_role("lesser", MEMBERS)
    linking = await inviter.sign_in_with_role("linking", MEMBERS, END_USERS)

    refused = await inviter.send(services=["shop"], token=lesser.access_token)
    sent = await inviter.send(services=["shop"], token=linking.access_token)
    assert_refused(refused, 403, "FORBIDDEN")
    assert sent.status == 200
    path = f"{INVITATIONS}/{sent.json['invitation']['id']}"
    assert_refused(await inviter.world.client.post(f"{path}/accept", token=lesser.access_token), 403, "FORBIDDEN")

    # An inviter who loses the right has given nothing: the invitation is withdrawn, and one without services stays.
    plain = await inviter.send("plain@example.com", token=linking.access_token)
    change = {"permissions": [MEMBERS]}
    changed = await inviter.world.client.patch(
        "/api/organizations/acme/roles/linking", body=change, token=inviter.owner.access_token
    )
    assert changed.status == 200
    accepted = await inviter.world.client.post("/api/invitations/accept", body={"token": sent.json["token"]})
    assert_refused(accepted, 400, "BAD_REQUEST")
    assert (links(inviter), inviter.role_of()) == ([], None)
    statuses = inviter.world.rows("SELECT id::text, status FROM invitations ORDER BY id")
    expected = {sent.json["invitation"]["id"]: "cancelled", plain.json["invitation"]["id"]: "pending"}
    assert dict(statuses) == expected


async def test_of_two_acceptances_at_once_one_gives_the_links(inviter: Inviter) -> None:
    insert_services(inviter)
    invitation = await inviter.invite(services=["shop", "till"])

    answers = await at_once(*[lambda: inviter.accept(invitation, is_proved=True)] * 2)

    assert statuses_of(answers) == [200, 400]
    assert links(inviter) == [("shop", "membership", False), ("till", "membership", False)]


async def test_a_suspended_organization_gives_nothing(inviter: Inviter) -> None:
    insert_services(inviter)
    invitation = await inviter.invite(services=["shop"])
    inviter.world.connection.execute(
        "UPDATE organizations SET status = 'suspended' WHERE id = %s", (inviter.organization_id,)
    )

    assert (await inviter.accept(invitation, is_proved=True)).status == 403
    assert links(inviter) == []


async def test_the_invited_person_sees_what_is_included_once_the_address_is_proved(inviter: Inviter) -> None:
    insert_services(inviter)
    world = inviter.world
    await inviter.invite(services=["shop"], message=MESSAGE)
    thief = await inviter.sign_in_unverified_guest()

    assert_refused(await world.client.get("/api/invitations", token=thief), 403, "FORBIDDEN")

    # A session that is older than the proof may belong to another person.
    world.connection.execute("UPDATE users SET email_verified_at = %s WHERE email = %s", (world.clock(), GUEST))
    world.connection.execute("UPDATE sessions SET created_at = created_at - interval '1 hour'")
    before = await world.client.get("/api/invitations", token=thief)
    assert [(one["service_names"], one["message"]) for one in before.json] == [([], None)]
    world.connection.execute("UPDATE sessions SET created_at = created_at + interval '2 hours'")
    after = await world.client.get("/api/invitations", token=thief)
    assert [(one["service_names"], one["message"]) for one in after.json] == [(["Shop"], MESSAGE)]


async def test_removing_the_data_of_either_person_removes_the_messages(inviter: Inviter) -> None:
    world = inviter.world
    await inviter.accept(await inviter.invite(message="to one who is forgotten"), is_proved=True)
    admin = await inviter.sign_in_with_role("inviting", MEMBERS)
    sent = await inviter.send("other@example.com", message="of one who is forgotten", token=admin.access_token)
    assert sent.status == 200
    world.user("root@example.com", is_platform_owner=True)
    root = (await world.sign_in("root@example.com")).access_token

    for email in (GUEST, "inviting@example.com"):
        user_id = world.value("SELECT id FROM users WHERE email = %s", email)
        assert (await world.client.delete(f"/api/privacy/forget/{user_id}", token=root)).status == 200

    assert world.rows("SELECT message FROM invitations") == [(None,), (None,)]
