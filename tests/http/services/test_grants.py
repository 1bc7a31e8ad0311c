"""Grants that let members manage or view single services beyond their roles."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import UUID

import psycopg
import pytest
import trio

from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.waiting import eventually
from tests.world.team import Team
from tests.world.world import assert_refused

UNKNOWN_ID = UUID(int=1)
GRANTS = "/services/shop/grants"


@pytest.fixture
def shop(team: Team) -> Team:
    """The team with a service."""
    team.world.service(team.organization_id)
    return team


async def grant(shop: Team, to: str | UUID, relation: str, *, by: str = "owner", grants: str = GRANTS) -> Answer:
    user_id = shop.ids[to] if isinstance(to, str) else to
    return await shop.request(by, "PUT", f"{grants}/{user_id}", body={"relation": relation})


async def access_to(shop: Team, member: str, service_slug: str = "shop") -> tuple[bool, bool]:
    """Return whether the member may manage the service, and whether they may view it."""
    path = f"/services/{service_slug}"
    managed = await shop.request(member, "PATCH", path, body={"name": "The shop"})
    viewed = await shop.request(member, "GET", path)
    assert {managed.status, viewed.status} <= {200, 403}
    return managed.status == 200, viewed.status == 200


class TestGrant:
    """Creating and changing a grant."""

    @pytest.mark.parametrize("by", ["owner", "admin"])
    async def test_owners_and_admins_can_make_a_member_manager_of_a_service(
        self, shop: Team, clock: SettableClock, by: str
    ) -> None:
        answer = await grant(shop, "member", "manager", by=by)

        assert answer.status == 200, answer.text
        assert answer.json == {
            "user": {"id": str(shop.ids["member"]), "email": "member@example.com", "status": "active"},
            "relation": "manager",
            "granted_by": str(shop.ids[by]),
            "created_at": clock.now.isoformat().replace("+00:00", "Z"),
        }

    async def test_a_new_grant_replaces_the_old_one(self, shop: Team) -> None:
        await grant(shop, "member", "manager")
        await grant(shop, "member", "viewer", by="admin")

        listed = (await shop.request("owner", "GET", GRANTS)).json

        assert [(item["relation"], item["granted_by"]) for item in listed["grants"]] == [
            ("viewer", str(shop.ids["admin"]))
        ]

    async def test_repeating_a_grant_changes_nothing(self, shop: Team) -> None:
        first = await grant(shop, "member", "viewer")
        second = await grant(shop, "member", "viewer", by="admin")

        assert (second.status, second.json) == (200, first.json)
        assert len(shop.world.audit_entries("service.updated")) == 1

    async def test_a_grant_and_its_revocation_are_recorded_as_updates_of_the_service(self, shop: Team) -> None:
        await grant(shop, "member", "manager")
        await shop.request("admin", "DELETE", f"{GRANTS}/{shop.ids['member']}")

        service_id = str(shop.world.value("SELECT id FROM services"))
        details = {"service_slug": "shop", "user_id": str(shop.ids["member"]), "relation": "manager"}
        assert shop.world.audit_entries("service.updated") == [
            (shop.organization_id, shop.ids[by], service_id, details | {"change": change})
            for by, change in (("owner", "access_granted"), ("admin", "access_revoked"))
        ]
        assert [data for _, _, data in shop.world.events("service.updated")] == [
            details | {"change": change, "service_id": service_id} for change in ("access_granted", "access_revoked")
        ]

    async def test_a_member_cannot_administer_grants_even_as_manager_of_the_service(self, shop: Team) -> None:
        await grant(shop, "member", "manager")

        assert_refused(await grant(shop, "admin", "viewer", by="member"), 403, "FORBIDDEN")
        assert_refused(await shop.request("member", "GET", GRANTS), 403, "FORBIDDEN")
        assert_refused(await shop.request("member", "DELETE", f"{GRANTS}/{shop.ids['member']}"), 403, "FORBIDDEN")

    async def test_a_grant_to_a_user_who_is_not_a_member_is_404(self, shop: Team) -> None:
        elsewhere = shop.world.team("bolt").add("eve", "owner")

        for user_id in (elsewhere, UNKNOWN_ID):
            assert_refused(await grant(shop, user_id, "viewer"), 404, "NOT_FOUND")

    async def test_a_service_of_another_organization_is_404(self, shop: Team) -> None:
        shop.world.service(shop.world.team("bolt").organization_id, "till")

        for slug in ("till", "nothing"):
            grants = f"/services/{slug}/grants"
            answers = [
                await grant(shop, "member", "viewer", grants=grants),
                await shop.request("owner", "GET", grants),
                await shop.request("owner", "DELETE", f"{grants}/{shop.ids['member']}"),
            ]
            for answer in answers:
                assert_refused(answer, 404, "NOT_FOUND")

    async def test_an_unknown_relation_is_400(self, shop: Team, subtests: pytest.Subtests) -> None:
        for body in ({}, {"relation": "owner"}, {"relation": ""}, {"relation": None}):
            with subtests.test(body=body):
                answer = await shop.request("owner", "PUT", f"{GRANTS}/{shop.ids['member']}", body=body)

                assert_refused(answer, 400, "BAD_REQUEST")

    async def test_a_member_removed_concurrently_keeps_no_grant(self, shop: Team) -> None:
        await shop.token("owner")
        await shop.token("admin")
        statuses: list[int] = []

        async def send_grant() -> None:
            statuses.append((await grant(shop, "member", "manager", by="admin")).status)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_grant)
            nursery.start_soon(lambda: shop.request("owner", "POST", f"/members/{shop.ids['member']}"))

        assert statuses[0] in (200, 404)
        assert shop.role_of("member") is None
        assert shop.world.value("SELECT count(*) FROM service_grants") == 0


class TestList:
    """The list of a service's grants."""

    async def test_pages_list_the_oldest_grants_first(self, shop: Team, clock: SettableClock) -> None:
        for name, relation in (("member", "viewer"), ("admin", "manager")):
            await grant(shop, name, relation)
            clock.advance(timedelta(seconds=1))

        pages = [(await shop.request("owner", "GET", f"{GRANTS}?limit=1&page={page}")).json for page in (1, 2, 3)]

        assert [[(item["user"]["email"], item["relation"]) for item in page["grants"]] for page in pages] == [
            [("member@example.com", "viewer")],
            [("admin@example.com", "manager")],
            [],
        ]
        assert [page["pagination"] for page in pages] == [{"page": page, "limit": 1, "total": 2} for page in (1, 2, 3)]

    async def test_grants_on_another_service_are_not_listed(self, shop: Team) -> None:
        shop.world.service(shop.organization_id, "till")
        await grant(shop, "member", "manager", grants="/services/till/grants")

        answer = await shop.request("owner", "GET", GRANTS)

        assert answer.json == {"grants": [], "pagination": {"page": 1, "limit": 50, "total": 0}}

    async def test_a_page_costs_two_statements(self, shop: Team) -> None:
        await shop.token("owner")

        with recorded_statements() as statements:
            await shop.request("owner", "GET", GRANTS)

        assert len(statements) == 2


class TestRevoke:
    """Revoking a grant."""

    async def test_a_grant_can_be_revoked_once(self, shop: Team) -> None:
        await grant(shop, "member", "manager")

        answers = [await shop.request("owner", "DELETE", f"{GRANTS}/{shop.ids['member']}") for _ in range(2)]

        assert (answers[0].status, answers[0].content) == (204, b"")
        assert_refused(answers[1], 404, "NOT_FOUND")

    async def test_of_two_concurrent_revocations_one_succeeds(self, shop: Team) -> None:
        await grant(shop, "member", "manager")

        answers = await at_once(*[partial(shop.request, "owner", "DELETE", f"{GRANTS}/{shop.ids['member']}")] * 2)

        assert statuses_of(answers) == [204, 404]


class TestAccess:
    """What a grant permits in addition to the roles."""

    async def test_a_role_that_manages_services_needs_no_grant(self, shop: Team) -> None:
        for name in ("owner", "admin"):
            assert await access_to(shop, name) == (True, True)

    async def test_a_member_views_every_service_and_manages_the_granted_one(self, shop: Team) -> None:
        shop.world.service(shop.organization_id, "till")
        assert await access_to(shop, "member") == (False, True)

        await grant(shop, "member", "manager")

        assert await access_to(shop, "member") == (True, True)
        assert await access_to(shop, "member", "till") == (False, True)

    async def test_a_role_without_services_gains_access_to_the_granted_one(self, shop: Team) -> None:
        shop.custom_role("biller", "billing.manage")
        shop.add("ann", "biller")
        assert await access_to(shop, "ann") == (False, False)

        await grant(shop, "ann", "viewer")
        as_viewer = await access_to(shop, "ann")
        await grant(shop, "ann", "manager")
        as_manager = await access_to(shop, "ann")

        assert (as_viewer, as_manager) == ((False, True), (True, True))

    async def test_a_revoked_grant_no_longer_permits_managing_the_service(self, shop: Team) -> None:
        await grant(shop, "member", "manager")
        await shop.request("owner", "DELETE", f"{GRANTS}/{shop.ids['member']}")

        assert await access_to(shop, "member") == (False, True)


async def test_a_grant_on_a_concurrently_deleted_service_is_404(shop: Team, database_url: str) -> None:
    await shop.token("owner")
    answers: list[Answer] = []

    async def send_grant() -> None:
        answers.append(await grant(shop, "member", "viewer"))

    with psycopg.connect(database_url) as other:
        other.execute("DELETE FROM services")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_grant)
            await eventually(partial(trio.to_thread.run_sync, shop.world.has_lock_waiter))
            other.commit()

    assert_refused(answers[0], 404, "NOT_FOUND")
