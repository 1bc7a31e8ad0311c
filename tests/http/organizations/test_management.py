"""Reading, changing and deleting an organization as one of its members."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from core.organizations.organizations import RESTORABLE_FOR, OrganizationStatus
from core.platform import ended_organizations
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.builder import TIERS
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

ROUNDS = 15
COLUMNS = ("action", "actor_user_id", "details")
ACME = "/api/organizations/acme"
FREE = {
    "id": str(TIERS["free"]),
    "name": "free",
    "display_name": "Free",
    "default_max_services": 3,
    "default_max_users": 100,
    "price_cents": 0,
}
ENTERPRISE = {
    "id": str(TIERS["enterprise"]),
    "name": "enterprise",
    "display_name": "Enterprise",
    "default_max_services": None,
    "default_max_users": None,
    "price_cents": 0,
}
# The statuses in which an organization exists for its members; `test_deletion.py` has the other one.
STATUSES = ("pending", "active", "suspended", "rejected")


@pytest.fixture
def acme(world: World) -> UUID:
    """An active organization."""
    return world.organization()


@pytest.fixture
async def ada(world: World, acme: UUID) -> SignedInUser:
    """The owner of acme, signed in."""
    return await world.signed_in_member(acme)


class TestMine:
    """Listing the caller's organizations."""

    async def test_organizations_are_listed_by_slug_with_membership_and_tier(
        self, world: World, ada: SignedInUser
    ) -> None:
        bolt = world.organization("abacus")
        world.member(bolt, ada.id, "admin")
        world.rows("UPDATE organizations SET tier_id = %s WHERE id = %s RETURNING id", TIERS["enterprise"], bolt)

        answer = await ada.get("/api/organizations")

        assert answer.status == 200
        assert [(one["organization"]["slug"], one["membership"]["role"], one["tier"]) for one in answer.json] == [
            ("abacus", "admin", ENTERPRISE),
            ("acme", "owner", FREE),
        ]
        assert set(answer.json[0]) == {"organization", "membership", "tier"}

    async def test_organizations_are_listed_in_every_state(
        self, world: World, ada: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for status in STATUSES:
            with subtests.test(status=status):
                world.rows("UPDATE organizations SET status = %s RETURNING id", status)

                [one] = (await ada.get("/api/organizations")).json

                assert one["organization"]["status"] == status

    async def test_organizations_of_others_are_not_listed(self, world: World, acme: UUID) -> None:
        bob = await world.signed_in_user("bob@example.com")

        assert (await bob.get("/api/organizations")).json == []

    async def test_it_executes_two_statements(self, ada: SignedInUser) -> None:
        with recorded_statements() as statements:
            await ada.get("/api/organizations")

        assert len(statements) == 2


class TestRead:
    """Reading one organization."""

    async def test_a_member_sees_the_record_the_tier_and_the_counts(
        self, world: World, acme: UUID, ada: SignedInUser
    ) -> None:
        bob = await world.signed_in_member(acme, "member", "bob@example.com")
        world.member(world.organization("bolt"), bob.id)
        world.service(acme)

        answer = await bob.get(ACME)

        assert answer.status == 200
        assert answer.json == {
            "organization": (await ada.get("/api/organizations")).json[0]["organization"],
            "membership_count": 2,
            "service_count": 1,
            "tier": FREE,
        }

    async def test_an_organization_is_readable_in_every_state(
        self, world: World, ada: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for status in STATUSES:
            with subtests.test(status=status):
                world.rows("UPDATE organizations SET status = %s RETURNING id", status)

                assert (await ada.get(ACME)).json["organization"]["status"] == status

    async def test_it_executes_two_statements(self, ada: SignedInUser) -> None:
        with recorded_statements() as statements:
            await ada.get(ACME)

        assert len(statements) == 2


class TestChange:
    """Changing the settings of an organization."""

    @pytest.mark.parametrize(
        ("body", "before"),
        [
            ({"name": "Acme Ltd"}, "Acme"),
            ({"mfa_required": True}, False),
            ({"device_trust_days": 7}, 30),
            ({"device_trust_days": 0}, 30),
            ({"device_trust_days": 365}, 30),
        ],
    )
    async def test_the_given_field_changes_and_the_old_value_is_recorded(
        self, world: World, acme: UUID, ada: SignedInUser, body: dict[str, Any], before: Any
    ) -> None:
        old = (await ada.get(ACME)).json["organization"]

        answer = await ada.patch(ACME, body)

        [(name, value)] = body.items()
        changes = {name: {"from": before, "to": value}}
        assert (answer.status, answer.json) == (200, {"organization": old | body})
        assert (await ada.get(ACME)).json["organization"] == old | body
        assert world.audit_entries(None, *COLUMNS, organization_id=acme) == [
            ("organization.updated", ada.id, {"changes": changes})
        ]
        assert world.events("organization.updated") == [(acme, ada.email, {"changes": changes})]

    async def test_a_change_sets_the_time_of_the_update(self, world: World, ada: SignedInUser) -> None:
        world.rows("UPDATE organizations SET updated_at = '2020-01-01' RETURNING id")

        answer = await ada.patch(ACME, {"name": "Acme Ltd"})

        assert answer.json["organization"]["updated_at"] == "2026-02-03T04:05:06Z"

    async def test_a_request_without_new_values_changes_and_records_nothing(
        self, world: World, acme: UUID, ada: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        world.rows("UPDATE organizations SET updated_at = '2020-01-01' RETURNING id")

        for body in ({}, {"name": None}, {"unknown": 1}, {"name": " Acme "}, {"mfa_required": False}):
            with subtests.test(body=body):
                answer = await ada.patch(ACME, body)

                assert (answer.status, answer.json["organization"]["updated_at"]) == (200, "2020-01-01T00:00:00Z")
                assert world.audit_entries(None, *COLUMNS, organization_id=acme) == []
                assert world.events("organization.updated") == []

    async def test_an_invalid_value_is_refused(self, ada: SignedInUser, subtests: pytest.Subtests) -> None:
        for body, field in (
            ({"name": "a"}, "name"),
            ({"name": 1}, "name"),
            ({"mfa_required": "yes"}, "mfa_required"),
            ({"device_trust_days": -1}, "device_trust_days"),
            ({"device_trust_days": 366}, "device_trust_days"),
            ({"device_trust_days": 1.5}, "device_trust_days"),
        ):
            with subtests.test(body=body, field=field):
                answer = await ada.patch(ACME, body)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field

    @pytest.mark.parametrize("slug", ["acme-2", "acme"])
    async def test_the_slug_cannot_be_changed(self, ada: SignedInUser, slug: str) -> None:
        assert (await ada.patch(ACME, {"slug": slug})).json["organization"]["slug"] == "acme"

    @pytest.mark.parametrize(("role", "status"), [("owner", 200), ("admin", 200), ("member", 403)])
    async def test_a_change_requires_the_capability(self, world: World, acme: UUID, role: str, status: int) -> None:
        bob = await world.signed_in_member(acme, role, "bob@example.com")

        assert (await bob.patch(ACME, {"name": "Acme Ltd"})).status == status

    async def test_a_change_requires_an_active_organization(
        self, world: World, ada: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for status in ("pending", "suspended", "rejected"):
            with subtests.test(status=status):
                world.rows("UPDATE organizations SET status = %s RETURNING id", status)

                assert_refused(await ada.patch(ACME, {"name": "Acme Ltd"}), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_no_concurrent_change_is_lost(self, world: World, acme: UUID, ada: SignedInUser) -> None:
        bodies: list[dict[str, Any]] = [{"name": "Acme Ltd"}, {"mfa_required": True}, {"device_trust_days": 7}]

        async with trio.open_nursery() as nursery:
            for body in bodies:
                nursery.start_soon(ada.patch, ACME, body)

        organization = (await ada.get(ACME)).json["organization"]
        assert {name: organization[name] for body in bodies for name in body} == bodies[0] | bodies[1] | bodies[2]
        assert len(world.audit_entries(None, *COLUMNS, organization_id=acme)) == len(bodies)


class TestDelete:
    """Deleting an organization."""

    @pytest.mark.parametrize("status", ["pending", "active", "rejected"])
    async def test_the_owner_deletes_the_organization(self, world: World, ada: SignedInUser, status: str) -> None:
        world.rows("UPDATE organizations SET status = %s RETURNING id", status)

        answer = await ada.delete(ACME)

        assert (answer.status, answer.content) == (204, b"")
        assert_refused(await ada.get(ACME), 404, "NOT_FOUND")
        assert (await ada.get("/api/organizations")).json == []

    async def test_a_suspended_organization_cannot_be_deleted(self, world: World, ada: SignedInUser) -> None:
        world.rows("UPDATE organizations SET status = 'suspended' RETURNING id")

        assert_refused(await ada.delete(ACME), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_an_admin_cannot_delete_it(self, world: World, acme: UUID) -> None:
        bob = await world.signed_in_member(acme, "admin", "bob@example.com")

        assert_refused(await bob.delete(ACME), 403, "FORBIDDEN")

    async def test_a_platform_owner_who_impersonates_the_owner_cannot_delete_it(
        self, world: World, ada: SignedInUser
    ) -> None:
        root = await world.signed_in_platform_owner()
        world.rows("UPDATE sessions SET impersonator_id = %s WHERE user_id = %s RETURNING id", root.id, ada.id)

        assert_refused(await ada.delete(ACME), 403, "FORBIDDEN")

    async def test_deletion_for_good_removes_all_rows_of_the_organization_and_no_others(
        self, world: World, acme: UUID, ada: SignedInUser, database: PostgresDatabase
    ) -> None:
        bolt = world.organization("bolt")
        for organization_id, slug in ((acme, "acme"), (bolt, "bolt")):
            bob = await world.signed_in_member(organization_id, "admin", f"bob@{slug}.example.com")
            world.service(organization_id)
            await world.sign_in_as(bob.id, bob.email, org_slug=slug)
            await world.sign_in_as(bob.id, bob.email, org_slug=slug, service_slug="shop")
            await bob.patch(f"/api/organizations/{slug}", {"name": "Another name"})
        before = rows_of(world, bolt)
        assert all(count > 0 for count in rows_of(world, acme).values())

        assert (await ada.delete(ACME)).status == 204
        world.clock.advance(RESTORABLE_FOR)
        while await database.transact(ended_organizations.delete_next):
            pass

        assert set(rows_of(world, acme).values()) == {0}
        assert rows_of(world, bolt) == before
        assert world.value("SELECT count(*) FROM users") == 3

    async def test_deletion_ends_the_sessions_in_the_organization(
        self, world: World, acme: UUID, ada: SignedInUser
    ) -> None:
        inside = await world.sign_in_as(ada.id, ada.email, org_slug="acme")

        await ada.delete(ACME)

        assert_refused(await inside.get("/api/organizations"), 401, "UNAUTHORIZED")

    async def test_of_two_concurrent_deletions_one_succeeds(self, ada: SignedInUser) -> None:
        answers = await at_once(*[partial(ada.delete, ACME)] * 2)

        assert statuses_of(answers) == [204, 404]

    async def test_requests_during_the_deletion_succeed_or_are_refused_like_later_ones(self, world: World) -> None:
        statuses: list[int] = []
        for number in range(ROUNDS):
            slug = f"org-{number}"
            made = world.organization(slug)
            root, ada, bob, eve = [
                await world.signed_in_member(made, role, f"{name}@{slug}.example.com")
                for name, role in (("root", "owner"), ("ada", "admin"), ("bob", "admin"), ("eve", "admin"))
            ]
            requests: list[Callable[[], Awaitable[Answer]]] = [
                partial(root.delete, f"/api/organizations/{slug}"),
                partial(ada.post, f"/api/organizations/{slug}/select"),
                partial(bob.patch, f"/api/organizations/{slug}", {"name": "Another name"}),
                partial(world.log_in, eve.email, org_slug=slug),
            ]

            async def record(send: Callable[[], Awaitable[Answer]]) -> None:
                statuses.append((await send()).status)

            async with trio.open_nursery() as nursery:
                for send in requests:
                    nursery.start_soon(record, send)

        # A session that enters the organization just when its sessions end has no credential.
        assert set(statuses) <= {200, 204, 401, 403, 404}
        assert set(world.rows("SELECT DISTINCT status FROM organizations")) == {("deleting",)}


def rows_of(world: World, organization_id: UUID) -> dict[str, int]:
    """Count the rows of an organization in each table."""
    tables = ("memberships", "services", "service_users", "sessions", "login_events", "events", "audit_entries")
    return {
        table: world.value(f"SELECT count(*) FROM {table} WHERE organization_id = %s", organization_id)
        for table in tables
    }


def test_the_parametrized_statuses_are_complete() -> None:
    assert set(OrganizationStatus) == {*STATUSES, "deleting"}
