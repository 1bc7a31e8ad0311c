"""The tiers of the platform."""

from __future__ import annotations

import pytest

from core.organizations.tiers import TIERS_MAX
from tests.concurrency import at_once, statuses_of
from tests.world.builder import TIERS
from tests.world.signing_in import SignedInUser
from tests.world.support import SupportDesk
from tests.world.team import Team
from tests.world.world import World, assert_refused

PATH = "/api/platform/tiers"
GOLD = {
    "name": "gold",
    "display_name": "Gold",
    "default_max_services": 5,
    "default_max_users": 50,
    "price_cents": 9900,
}
SERVICE = {"slug": "shop", "name": "Acme Shop", "service_type": "web"}


async def test_the_tiers_are_free_professional_and_enterprise_with_their_limits(world: World) -> None:
    answer = await (await world.signed_in_platform_owner()).get(PATH)

    assert answer.status == 200
    assert answer.json == [
        {
            "id": str(TIERS[name]),
            "name": name,
            "display_name": name.title(),
            "default_max_services": max_services,
            "default_max_users": max_users,
            "price_cents": price_cents,
        }
        for name, max_services, max_users, price_cents in [
            ("free", 3, 100, 0),
            ("professional", 10, 1000, 4900),
            ("enterprise", None, None, 0),
        ]
    ]


async def test_only_a_platform_owner_lists_them(world: World) -> None:
    ada = await world.signed_in_member(world.organization())

    assert_refused(await ada.get(PATH), 403, "FORBIDDEN")
    assert_refused(await world.client.get(PATH), 401, "UNAUTHORIZED")


class TestChangingTiers:
    @pytest.fixture
    async def root(self, world: World) -> SignedInUser:
        """A platform owner."""
        return await world.signed_in_platform_owner()

    async def test_a_tier_is_created_changed_and_deleted(self, world: World, root: SignedInUser) -> None:
        made = (await root.post(PATH, GOLD)).json
        assert made == {**GOLD, "id": made["id"]}
        assert [tier["name"] for tier in (await root.get(PATH)).json] == ["gold", "free", "professional", "enterprise"]

        changed = await root.patch(f"{PATH}/{made['id']}", {"default_max_users": None, "display_name": "More"})
        assert changed.json == {**made, "default_max_users": None, "display_name": "More"}
        assert (await root.patch(f"{PATH}/{made['id']}", {"price_cents": GOLD["price_cents"]})).json == changed.json
        assert (await root.delete(f"{PATH}/{made['id']}")).status == 204
        assert_refused(await root.delete(f"{PATH}/{made['id']}"), 404, "NOT_FOUND")
        assert_refused(await root.patch(f"{PATH}/{made['id']}", {"price_cents": 1}), 404, "NOT_FOUND")
        assert {
            action: details
            for action in ("tier.created", "tier.changed", "tier.deleted")
            for (details,) in world.platform_audit_entries(action, "details")
        } == {
            "tier.created": GOLD,
            "tier.changed": {
                "tier": "gold",
                "changes": {
                    "display_name": {"from": "Gold", "to": "More"},
                    "default_max_users": {"from": 50, "to": None},
                },
            },
            "tier.deleted": {"tier": "gold"},
        }

    async def test_the_limits_of_a_tier_count_for_its_organizations(self, team: Team, root: SignedInUser) -> None:
        made = (await root.post(PATH, {**GOLD, "default_max_services": 0})).json
        await root.patch(f"/api/platform/organizations/{team.organization_id}/tier", {"tier_id": made["id"]})

        refused = await team.request("owner", "POST", "/services", body=SERVICE)
        await root.patch(f"{PATH}/{made['id']}", {"default_max_services": 1})

        assert_refused(refused, 400, "SERVICE_LIMIT_EXCEEDED")
        assert (await team.request("owner", "POST", "/services", body=SERVICE)).status == 200

    async def test_what_is_no_tier_is_refused(self, root: SignedInUser) -> None:
        for body, field in (
            ({**GOLD, "name": "Gold!"}, "name"),
            ({**GOLD, "display_name": " "}, "display_name"),
            ({**GOLD, "default_max_users": -1}, "default_max_users"),
            ({**GOLD, "default_max_services": 1_000_001}, "default_max_services"),
            ({**GOLD, "price_cents": 100_000_000}, "price_cents"),
        ):
            refused = await root.post(PATH, body)
            assert (refused.status, field in refused.text) == (400, True), field
        assert_refused(await root.post(PATH, {**GOLD, "name": "free"}), 409, "CONFLICT")
        for change in ({}, {"display_name": ""}, {"price_cents": None}, {"default_max_users": "many"}):
            assert_refused(await root.patch(f"{PATH}/{TIERS['free']}", change), 400, "BAD_REQUEST")

    async def test_a_platform_has_so_many_tiers_at_most(self, world: World, root: SignedInUser) -> None:
        world.rows(
            """
            INSERT INTO tiers (id, name, display_name, price_cents)
            SELECT gen_random_uuid(), 'tier-' || n, 'Tier', 0 FROM generate_series(4, %s) AS n RETURNING id
            """,
            TIERS_MAX,
        )

        assert_refused(await root.post(PATH, GOLD), 400, "BAD_REQUEST")

    async def test_a_tier_in_use_and_that_of_new_organizations_stay(self, world: World, root: SignedInUser) -> None:
        acme = world.organization("acme")
        await root.patch(f"/api/platform/organizations/{acme}/tier", {"tier_id": str(TIERS["professional"])})

        assert_refused(await root.delete(f"{PATH}/{TIERS['professional']}"), 409, "CONFLICT")
        assert_refused(await root.delete(f"{PATH}/{TIERS['free']}"), 409, "CONFLICT")

    async def test_an_organization_gets_no_tier_that_is_deleted_meanwhile(
        self, world: World, root: SignedInUser
    ) -> None:
        acme = world.organization("acme")
        made = (await root.post(PATH, GOLD)).json

        answers = await at_once(
            lambda: root.patch(f"/api/platform/organizations/{acme}/tier", {"tier_id": made["id"]}),
            lambda: root.delete(f"{PATH}/{made['id']}"),
        )

        # The organization has the tier, or the tier is gone.
        assert statuses_of(answers) in ([200, 409], [204, 400])

    async def test_support_changes_no_tier(self, desk: SupportDesk) -> None:
        for method, path, body in (
            ("POST", PATH, GOLD),
            ("PATCH", f"{PATH}/{TIERS['free']}", {"price_cents": 1}),
            ("DELETE", f"{PATH}/{TIERS['enterprise']}", None),
        ):
            assert_refused(await desk.request(method, path, body), 403, "FORBIDDEN")
