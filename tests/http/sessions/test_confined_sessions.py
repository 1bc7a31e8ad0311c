"""What a session may see and end that is confined to an organization, or belongs to a service."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.world.builder import EMAIL, PASSWORD
from tests.world.signing_in import SignedInUser, Tokens
from tests.world.world import World, assert_refused


class Person:
    """A user with a session that is confined to acme, beside others of theirs."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.id = world.user(EMAIL)
        self.acme, self.globex = world.organization("acme"), world.organization("globex")
        self.connection_id: UUID | None = None
        world.service(self.acme, "shop")
        world.service(self.globex, "till")

    async def sign_in(self, **where: str) -> SignedInUser:
        """Begin a session without limits."""
        return await self.world.sign_in_as(self.id, EMAIL, **where)

    async def confined(self, **where: str) -> SignedInUser:
        """Begin a session that is confined to acme."""
        session = await self.sign_in(**where)
        self.confine(session.tokens)
        return session

    def confine(self, tokens: Tokens) -> None:
        """Confine a session to acme."""
        self.world.connection.execute(
            "UPDATE sessions SET confined_to = %s WHERE id = %s", (self.acme, tokens.session_id)
        )


@pytest.fixture
def person(world: World) -> Person:
    """The user."""
    return Person(world)


def ids_of(answer: Any) -> set[str]:
    """Return the ids of the sessions of a list."""
    assert answer.status == 200, answer.text
    return {session["id"] for session in answer.json["sessions"]}


@pytest.mark.parametrize("is_confined", [True, False])
async def test_what_a_confined_session_changes_of_the_account_asks_for_a_mailed_proof(
    person: Person, *, is_confined: bool
) -> None:
    session = await (person.confined() if is_confined else person.sign_in())
    person.world.connection.execute("UPDATE users SET password_hash = NULL")

    answer = await session.post("/api/user/set-password", {"new_password": PASSWORD})

    assert answer.status == 200, answer.text
    changed = person.world.value("SELECT changed_by_service_at IS NOT NULL FROM users WHERE id = %s", person.id)
    assert changed is is_confined


@pytest.mark.parametrize("where", [{}, {"org_slug": "acme", "service_slug": "shop"}])
async def test_a_refused_password_tells_a_limited_session_of_no_other_organization(
    person: Person, where: dict[str, str]
) -> None:
    person.world.member(person.acme, person.id)
    person.world.member(person.globex, person.id)
    session = await (person.sign_in(**where) if where else person.confined())

    def change(new: str) -> Awaitable[Answer]:
        return session.post("/api/user/change-password", {"current_password": "a guess", "new_password": new})

    assert_refused(await change("globex-globex"), 401, "UNAUTHORIZED")
    assert_refused(await change("acme-acme"), 400, "PASSWORD_TOO_COMMON")


class TestSessions:
    """Listing and ending sessions."""

    async def test_a_confined_session_shows_those_that_open_nothing_beyond_its_organization(
        self, person: Person
    ) -> None:
        mine, other = await person.confined(), await person.confined()
        at_shop = await person.sign_in(org_slug="acme", service_slug="shop")
        await person.sign_in(org_slug="globex", service_slug="till")
        everywhere = await person.sign_in()

        listed = await mine.get("/api/user/sessions")

        assert ids_of(listed) == {str(one.tokens.session_id) for one in (mine, other, at_shop)}
        assert listed.json["total"] == 3
        assert len(ids_of(await everywhere.get("/api/user/sessions"))) == 5

    @pytest.mark.parametrize("is_shared", [True, False])
    async def test_it_ends_no_other_session_and_does_not_learn_of_it(self, person: Person, *, is_shared: bool) -> None:
        mine = await person.confined()
        others = [await person.sign_in(), await person.sign_in(org_slug="globex", service_slug="till")]
        if is_shared:
            person.world.member(person.globex, person.id)

        for other in others:
            refused = await mine.delete(f"/api/user/sessions/{other.tokens.session_id}")

            assert_refused(refused, 404, "NOT_FOUND")
            assert (await other.get("/api/user/sessions")).status == 200

    @pytest.mark.parametrize("is_shared", [True, False])
    async def test_ending_all_others_ends_those_within_its_limits(self, person: Person, *, is_shared: bool) -> None:
        mine, other = await person.confined(), await person.confined()
        at_shop = await person.sign_in(org_slug="acme", service_slug="shop")
        kept = [await person.sign_in(), await person.sign_in(org_slug="globex", service_slug="till")]
        if is_shared:
            person.world.member(person.globex, person.id)

        ended = await mine.delete("/api/user/sessions")

        assert ended.status == 204
        assert [(await one.get("/api/user/sessions")).status for one in (other, at_shop)] == [401, 401]
        assert [(await one.get("/api/user/sessions")).status for one in (mine, *kept)] == [200, 200, 200]

    async def test_it_ends_sessions_within_its_limits_and_itself(self, person: Person) -> None:
        mine, other = await person.confined(), await person.confined()

        assert (await mine.delete(f"/api/user/sessions/{other.tokens.session_id}")).status == 204
        assert (await mine.delete(f"/api/user/sessions/{mine.tokens.session_id}")).status == 204
        assert (await mine.get("/api/user/sessions")).status == 401

    async def test_it_logs_out(self, person: Person) -> None:
        mine, other = await person.confined(), await person.sign_in()

        assert (await mine.post("/api/auth/logout")).status == 200
        assert (await mine.get("/api/user/sessions")).status == 401
        assert (await other.get("/api/user/sessions")).status == 200

    async def test_a_session_that_is_confined_to_a_service_shows_those_of_this_service(self, person: Person) -> None:
        world = person.world
        blog = world.service(person.acme, "blog").id
        mine, of_shop = await person.confined(), await person.confined()
        at_blog = await person.sign_in(org_slug="acme", service_slug="blog")
        await person.sign_in(org_slug="acme", service_slug="shop")
        for session, slug in ((mine, "blog"), (of_shop, "shop")):
            world.connection.execute(
                "UPDATE sessions SET confined_to_service = (SELECT id FROM services WHERE slug = %s) WHERE id = %s",
                (slug, session.tokens.session_id),
            )

        assert blog is not None
        assert ids_of(await mine.get("/api/user/sessions")) == {
            str(mine.tokens.session_id),
            str(at_blog.tokens.session_id),
        }

    async def test_the_token_of_a_service_shows_the_sessions_of_the_service_in_an_account_that_it_shares(
        self, person: Person
    ) -> None:
        person.world.member(person.globex, person.id)
        mine = await person.sign_in(org_slug="acme", service_slug="shop")
        again = await person.sign_in(org_slug="acme", service_slug="shop")
        elsewhere = await person.sign_in()

        listed = await mine.get("/api/user/sessions")

        assert ids_of(listed) == {str(mine.tokens.session_id), str(again.tokens.session_id)}
        assert_refused(await mine.delete("/api/user/sessions"), 403, "FORBIDDEN")
        assert_refused(await mine.delete(f"/api/user/sessions/{elsewhere.tokens.session_id}"), 403, "FORBIDDEN")

    async def test_a_confined_session_of_a_service_ends_those_of_the_service_alone(self, person: Person) -> None:
        at_shop = {"org_slug": "acme", "service_slug": "shop"}
        mine, other = await person.confined(**at_shop), await person.sign_in(**at_shop)
        elsewhere = await person.sign_in()

        refused = await mine.delete(f"/api/user/sessions/{elsewhere.tokens.session_id}")
        ended = await mine.delete("/api/user/sessions")

        assert_refused(refused, 404, "NOT_FOUND")
        assert ended.status == 204
        assert [(await one.get("/api/user/sessions")).status for one in (mine, other, elsewhere)] == [200, 401, 200]


class TestOrganizations:
    """Organizations, and invitations to them."""

    @pytest.mark.parametrize("kind", ["confined", "service"])
    async def test_only_that_of_the_session_is_listed(self, person: Person, kind: str) -> None:
        for organization_id in (person.acme, person.globex):
            person.world.member(organization_id, person.id)
        confined = await person.confined()
        of_service = await person.sign_in(org_slug="acme", service_slug="shop")
        everywhere = await person.sign_in()

        listed = await (confined if kind == "confined" else of_service).get("/api/organizations")

        assert [one["organization"]["slug"] for one in listed.json] == ["acme"]
        assert len((await everywhere.get("/api/organizations")).json) == 2

    @pytest.mark.parametrize("is_shared", [True, False])
    async def test_only_invitations_of_its_organization_are_listed(self, person: Person, *, is_shared: bool) -> None:
        world = person.world
        for slug, organization_id in (("acme", person.acme), ("globex", person.globex)):
            owner = await world.signed_in_member(organization_id, "owner", f"owner@{slug}.example")
            invited = await owner.post(f"/api/organizations/{slug}/invitations", {"email": EMAIL, "role": "member"})
            assert invited.status == 200, invited.text
        if is_shared:
            world.member(world.organization("initech"), person.id)
        mine, everywhere = await person.confined(), await person.sign_in()

        listed = await mine.get("/api/invitations")

        assert [one["organization"]["slug"] for one in listed.json] == ["acme"]
        assert len((await everywhere.get("/api/invitations")).json) == 2

    async def test_it_founds_none(self, person: Person) -> None:
        refused = await (await person.confined()).post("/api/organizations", {"slug": "mine", "name": "Mine"})

        assert_refused(refused, 403, "FORBIDDEN")
        assert "Sign in by password or passkey" in refused.json["error"]


class TestDevices:
    """Devices, on which sessions of other contexts may be alive."""

    async def test_only_those_with_a_session_within_its_limits_are_shown(self, person: Person) -> None:
        everywhere = await person.world.sign_in_as(person.id, EMAIL, headers={"User-Agent": "at home"})
        mine = await person.confined()
        [other] = [one for one in (await everywhere.get("/api/user/devices")).json["devices"] if one["is_current"]]

        listed = await mine.get("/api/user/devices")
        shown = await mine.get(f"/api/user/devices/{other['id']}")
        renamed = await mine.patch(f"/api/user/devices/{other['id']}", {"name": "mine"})

        assert [one["is_current"] for one in listed.json["devices"]] == [True]
        assert listed.json["total"] == 1
        assert_refused(shown, 404, "NOT_FOUND")
        assert_refused(renamed, 404, "NOT_FOUND")

    @pytest.mark.parametrize("is_shared", [True, False])
    async def test_it_removes_none(self, person: Person, *, is_shared: bool) -> None:
        everywhere = await person.world.sign_in_as(person.id, EMAIL, headers={"User-Agent": "at home"})
        mine = await person.confined()
        [other] = [one for one in (await everywhere.get("/api/user/devices")).json["devices"] if one["is_current"]]
        if is_shared:
            person.world.member(person.globex, person.id)

        refused = await mine.delete(f"/api/user/devices/{other['id']}")

        assert_refused(refused, 403, "FORBIDDEN")
        assert "Sign in by password or passkey" in refused.json["error"]
        assert (await everywhere.get("/api/user/devices")).status == 200


class TestData:
    """The export of one's own data."""

    @pytest.mark.parametrize("is_shared", [True, False])
    async def test_a_confined_session_exports_what_belongs_to_its_organization(
        self, person: Person, *, is_shared: bool
    ) -> None:
        world = person.world
        world.member(person.acme, person.id)
        if is_shared:
            world.member(person.globex, person.id)
        await person.sign_in(org_slug="globex", service_slug="till")
        at_shop = await person.sign_in(org_slug="acme", service_slug="shop")
        mine = await person.confined()

        package = (await mine.get(f"/api/privacy/export/{person.id}")).json

        assert [one["organization_slug"] for one in package["memberships"]] == ["acme"]
        assert package["login_events_count"] == 1
        assert (package["mfa_events"], package["passkeys"]) == ([], [])
        assert_refused(await at_shop.get(f"/api/privacy/export/{person.id}"), 403, "FORBIDDEN")
