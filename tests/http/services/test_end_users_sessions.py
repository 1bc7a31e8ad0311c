"""Ending the sessions of an end user."""

from __future__ import annotations

from uuid import UUID

import pytest
import trio

from tests.application import Answer
from tests.http.services.end_users import emails, sign_in_to_service, user_id
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

PATH = "/api/organizations/acme/users"
BOB = "bob@example.com"
UNKNOWN_ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization with two services."""
    organization_id = world.organization()
    for slug in ("shop", "blog"):
        world.service(organization_id, slug)
    return organization_id


@pytest.fixture
async def ada(world: World, acme: UUID) -> Tokens:
    """The organization's owner, signed in."""
    world.member(acme, world.user(), "owner")
    return await world.sign_in()


async def end_sessions(world: World, ada: Tokens, end_user_id: UUID | str, slug: str = "acme") -> Answer:
    return await world.client.delete(f"/api/organizations/{slug}/users/{end_user_id}/sessions", token=ada.access_token)


class TestEndSessions:
    """Ending an end user's sessions in this organization's context."""

    async def test_all_sessions_of_an_own_account_in_the_mail_domain_end(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        world.mail_domain(acme, "acme.example")
        for email in ("bob@acme.example", "bob@elsewhere.example"):
            world.user(email)
        world.connection.execute("UPDATE users SET created_by_organization_id = %s WHERE email LIKE 'bob@%%'", (acme,))
        kept = {}
        for email in ("bob@acme.example", "bob@elsewhere.example"):
            await world.sign_in(email, org_slug="acme", service_slug="shop")
            elsewhere = await world.sign_in(email)

            assert (await end_sessions(world, ada, world.user_id(email))).status == 200

            kept[email] = (await world.list_sessions(elsewhere)).status == 200
        assert kept == {"bob@acme.example": False, "bob@elsewhere.example": True}

    async def test_a_session_elsewhere_of_an_own_account_with_an_unproved_address_continues(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        await sign_in_to_service(world)
        elsewhere = await world.sign_in(BOB)
        unproved = "UPDATE users SET created_by_organization_id = %s, email_verified_at = NULL WHERE email = %s"
        world.connection.execute(unproved, (acme, BOB))

        assert (await end_sessions(world, ada, user_id(world))).json["sessions_revoked"] == 1

        assert (await world.list_sessions(elsewhere)).status == 200

    async def test_ended_sessions_are_refused_from_the_next_request_on(self, world: World, ada: Tokens) -> None:
        sessions = [await sign_in_to_service(world), await sign_in_to_service(world, service="blog")]

        answer = await end_sessions(world, ada, user_id(world))

        assert answer.status == 200
        assert answer.json == {
            "message": "The sessions have ended. The user has to sign in again.",
            "sessions_revoked": 2,
        }
        for session in sessions:
            assert_refused(await world.list_sessions(session), 401, "UNAUTHORIZED")
            assert_refused(await world.refresh(session.refresh_token), 401, "UNAUTHORIZED")

    async def test_sessions_outside_the_organization_and_of_other_users_continue(
        self, world: World, ada: Tokens
    ) -> None:
        world.service(world.organization("bolt"), "market")
        await sign_in_to_service(world)
        others = [
            await sign_in_to_service(world, service="market", org="bolt"),
            await world.sign_in(BOB),
            await sign_in_to_service(world, "eve@example.com"),
        ]

        answer = await end_sessions(world, ada, user_id(world))

        assert answer.json["sessions_revoked"] == 1
        assert [(await world.list_sessions(other)).status for other in others] == [200, 200, 200]

    async def test_the_organization_receives_an_event(self, world: World, ada: Tokens, acme: UUID) -> None:
        for _ in range(2):
            await sign_in_to_service(world)

        await end_sessions(world, ada, user_id(world))

        revoked_by = str(user_id(world, EMAIL))
        assert world.events("session.revoked") == [(acme, BOB, {"sessions": 2, "revoked_by": revoked_by})]

    async def test_without_sessions_nothing_is_revoked(self, world: World, ada: Tokens) -> None:
        await sign_in_to_service(world)
        await end_sessions(world, ada, user_id(world))

        answer = await end_sessions(world, ada, user_id(world))

        assert (answer.status, answer.json) == (
            200,
            {"message": "There was no session to end.", "sessions_revoked": 0},
        )
        assert len(world.events("session.revoked")) == 1

    async def test_a_user_who_is_not_an_end_user_of_the_organization_is_404(self, world: World, ada: Tokens) -> None:
        world.service(world.organization("bolt"), "market")
        elsewhere = await sign_in_to_service(world, service="market", org="bolt")

        for end_user_id in (user_id(world), user_id(world, EMAIL), UNKNOWN_ID, "no-id"):
            assert_refused(await end_sessions(world, ada, end_user_id), 404, "NOT_FOUND")
        assert (await world.list_sessions(elsewhere)).status == 200
        assert (await world.list_sessions(ada)).status == 200

    async def test_a_member_can_list_end_users_but_not_end_their_sessions(self, world: World, acme: UUID) -> None:
        bob = await sign_in_to_service(world)
        world.member(acme, world.user("member@example.com"))
        member = await world.sign_in("member@example.com")

        assert await emails(world, member) == [BOB]
        assert_refused(await end_sessions(world, member, user_id(world)), 403, "FORBIDDEN")
        assert (await world.list_sessions(bob)).status == 200

    async def test_two_concurrent_requests_report_each_session_once(self, world: World, ada: Tokens) -> None:
        for _ in range(3):
            await sign_in_to_service(world)
        revoked: list[int] = []

        async def end() -> None:
            revoked.append((await end_sessions(world, ada, user_id(world))).json["sessions_revoked"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(end)
            nursery.start_soon(end)

        assert sorted(revoked) == [0, 3]
        assert [data["sessions"] for _, _, data in world.events("session.revoked")] == [3]
