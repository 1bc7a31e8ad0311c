"""Reading the platform's audit log, whose entries have the shape of an organization's."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from tests.clock import SettableClock
from tests.statements import recorded_statements
from tests.world.builder import NO_ID, TIERS
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

PATH = "/api/platform/audit-log"


@pytest.fixture
async def root(world: World) -> SignedInUser:
    """A platform owner."""
    return await world.signed_in_platform_owner()


async def suspend(root: SignedInUser, organization_id: UUID) -> None:
    """Suspend an organization, which is logged."""
    answer = await root.post(f"/api/platform/organizations/{organization_id}/suspend", {"reason": "A reason"})
    assert answer.status == 200, answer.text


async def actions(root: SignedInUser, query: str = "") -> list[str]:
    """Return the actions of the listed entries."""
    return [entry["action"] for entry in (await root.get(PATH + query)).json["logs"]]


async def test_an_entry_shows_the_actor_the_action_the_target_and_the_origin(world: World, root: SignedInUser) -> None:
    acme = world.organization()
    await world.client.post(
        f"/api/platform/organizations/{acme}/suspend",
        token=root.token,
        body={"reason": "A reason"},
        headers={"User-Agent": "curl/8.5.0"},
        address="192.0.2.7",
    )

    answer = await root.get(PATH)

    assert answer.status == 200
    [entry] = answer.json["logs"]
    assert entry == {
        "id": entry["id"],
        "org_id": str(acme),
        "actor": {"id": str(root.id), "email": root.email, "is_platform_owner": True},
        "action": "organization.suspended",
        "target_type": "organization",
        "target_id": str(acme),
        "ip_address": "192.0.2.7",
        "user_agent": "curl/8.5.0",
        "success": True,
        "details": {"slug": "acme", "reason": "A reason"},
        "created_at": "2026-02-03T04:05:06Z",
    }
    assert answer.json["pagination"] == {
        "page": 1,
        "limit": 50,
        "total": 1,
        "total_pages": 1,
        "has_next": False,
        "has_prev": False,
    }


async def test_entries_are_paged_newest_first(world: World, root: SignedInUser, clock: SettableClock) -> None:
    acme = world.organization()
    await suspend(root, acme)
    clock.advance(timedelta(seconds=1))
    await root.post(f"/api/platform/organizations/{acme}/activate")
    await root.delete(f"/api/platform/organizations/{acme}")

    pages = [(await root.get(f"{PATH}?limit=2&page={page}")).json for page in (1, 2, 3)]

    assert [[entry["action"] for entry in page["logs"]] for page in pages] == [
        ["organization.deleted", "organization.activated"],
        ["organization.suspended"],
        [],
    ]
    positions = [
        (page["pagination"]["total"], page["pagination"]["has_next"], page["pagination"]["has_prev"]) for page in pages
    ]
    assert positions == [(3, True, False), (3, False, True), (3, False, True)]


async def test_entries_are_filtered_by_action_and_target(world: World, root: SignedInUser) -> None:
    acme, bolt = world.organization(), world.organization("bolt")
    await suspend(root, acme)
    await root.patch(f"/api/platform/organizations/{bolt}/tier", {"tier_id": str(TIERS["enterprise"])})

    assert await actions(root, "?action=organization.suspended") == ["organization.suspended"]
    assert await actions(root, "?action=platform_owner.promoted") == []
    assert len(await actions(root, "?target_type=organization")) == 2
    assert await actions(root, "?target_type=user") == []
    assert await actions(root, f"?target_type=organization&target_id={bolt}") == ["organization.tier_changed"]
    assert await actions(root, f"?target_type=organization&target_id={bolt}&action=organization.suspended") == []
    assert await actions(root, f"?target_type=user&target_id={bolt}") == []
    assert await actions(root, f"?target_type=organization&target_id={NO_ID}") == []


async def test_an_invalid_filter_or_page_is_refused(root: SignedInUser, subtests: pytest.Subtests) -> None:
    for query in ("?action=service.created", "?target_type=planet", f"?target_id={NO_ID}", "?page=0", "?limit=x"):
        with subtests.test(query=query):
            assert_refused(await root.get(PATH + query), 400, "BAD_REQUEST")


async def test_a_deleted_actor_is_shown_by_id(world: World, root: SignedInUser) -> None:
    other = await world.signed_in_platform_owner("other@example.com")
    await suspend(other, world.organization())
    world.rows("DELETE FROM users WHERE id = %s RETURNING id", other.id)

    [entry] = (await root.get(PATH)).json["logs"]

    assert entry["actor"] == {"id": str(other.id), "email": "deleted-user@unknown", "is_platform_owner": False}


async def test_only_a_platform_owner_can_read_the_log(world: World) -> None:
    ada = await world.signed_in_member(world.organization())

    assert_refused(await ada.get(PATH), 403, "FORBIDDEN")
    assert_refused(await world.client.get(PATH), 401, "UNAUTHORIZED")


async def test_a_request_takes_two_statements(root: SignedInUser) -> None:
    with recorded_statements() as statements:
        await root.get(PATH)

    assert len(statements) == 2
