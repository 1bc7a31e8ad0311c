"""Listing the invitations of the signed-in user."""

from __future__ import annotations

from datetime import timedelta

from adapters.postgres.driver.connection import Connection
from tests.clock import SettableClock
from tests.world.inviter import GUEST, INVITATIONS, Inviter
from tests.world.world import assert_refused

SECOND = timedelta(seconds=1)


async def test_a_signed_in_user_sees_their_invitations_with_the_tokens(inviter: Inviter, clock: SettableClock) -> None:
    inviter.world.user(GUEST)
    invitation = await inviter.invite(role="admin")
    await inviter.invite("other@example.com")
    guest = await inviter.world.sign_in(GUEST)

    answer = await inviter.world.client.get("/api/invitations", token=guest.access_token)

    assert answer.json == [
        {
            "id": str(invitation.id),
            "email": GUEST,
            "role": "admin",
            "token": invitation.token,
            "expires_at": "2026-02-10T04:05:06Z",
            "created_at": "2026-02-03T04:05:06Z",
            "service_names": [],
            "message": None,
            "organization": {"slug": "acme", "name": "Acme"},
        }
    ]
    assert answer.headers["Cache-Control"] == "no-store"


async def test_only_invitations_that_can_be_answered_are_listed_the_newest_first(
    inviter: Inviter, clock: SettableClock
) -> None:
    inviter.world.user(GUEST)
    for slug in ("one", "two", "three", "four"):
        organization_id = inviter.world.organization(slug)
        inviter.world.member(organization_id, inviter.owner_id, "owner")
        clock.advance(SECOND)
        path = f"/api/organizations/{slug}/invitations"
        await inviter.world.client.post(path, body={"email": GUEST, "role": "member"}, token=inviter.owner.access_token)
    await inviter.world.mails()
    await inviter.decline(await inviter.invite())
    inviter.world.rows("UPDATE organizations SET status = 'suspended' WHERE slug = 'two' RETURNING id")
    inviter.world.rows(
        "UPDATE invitations SET expires_at = %s FROM organizations o"
        " WHERE o.id = organization_id AND slug = 'three' RETURNING o.id",
        clock(),
    )
    guest = await inviter.world.sign_in(GUEST)

    answer = await inviter.world.client.get("/api/invitations", token=guest.access_token)

    assert [one["organization"]["slug"] for one in answer.json] == ["four", "one"]


async def test_a_user_with_an_unverified_address_cannot_list_invitations(inviter: Inviter) -> None:
    await inviter.invite()
    attacker = await inviter.sign_in_unverified_guest()

    assert_refused(await inviter.world.client.get("/api/invitations", token=attacker), 403, "FORBIDDEN")


async def test_an_impersonator_cannot_list_the_users_invitations(inviter: Inviter, connection: Connection) -> None:
    inviter.world.user(GUEST)
    await inviter.invite()
    guest = await inviter.world.sign_in(GUEST)
    connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (inviter.owner_id,))
    connection.execute("UPDATE sessions SET impersonator_id = %s WHERE id = %s", (inviter.owner_id, guest.session_id))

    assert_refused(await inviter.world.client.get("/api/invitations", token=guest.access_token), 403, "FORBIDDEN")


async def test_an_unauthenticated_caller_cannot_list_invitations(inviter: Inviter) -> None:
    assert (await inviter.world.client.get("/api/invitations")).status == 401
    assert (await inviter.world.client.get(INVITATIONS)).status == 401
