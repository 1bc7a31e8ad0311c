"""The tier and the limits of an organization, as platform owners change them."""

from __future__ import annotations

import pytest

from tests.http.platform.organizations import STATUSES
from tests.world.builder import NO_ID, TIERS
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

PATH = "/api/platform/organizations"
COLUMNS = ("action", "actor_user_id", "details")
PLATFORM_COLUMNS = ("action", "actor_user_id", "target_id", "organization_id", "details")


@pytest.fixture
async def root(world: World) -> SignedInUser:
    """A platform owner."""
    return await world.signed_in_platform_owner()


class TestTier:
    """Changing the tier of an organization."""

    async def test_null_clears_a_limit_and_an_omitted_limit_stays(
        self, world: World, root: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        acme = world.organization()

        for body, max_services, max_users in (
            ({}, 7, 8),
            ({"max_services": 20}, 20, 8),
            ({"max_users": 0}, 7, 0),
            ({"max_services": None}, None, 8),
            ({"max_services": None, "max_users": None}, None, None),
            ({"max_services": 1, "max_users": 2}, 1, 2),
        ):
            with subtests.test(body=body, max_services=max_services, max_users=max_users):
                world.rows("UPDATE organizations SET max_services = 7, max_users = 8 RETURNING id")

                answer = await root.patch(f"{PATH}/{acme}/tier", {"tier_id": str(TIERS["enterprise"]), **body})

                assert answer.status == 200
                record = answer.json["organization"]
                assert (record["tier_id"], record["max_services"], record["max_users"]) == (
                    str(TIERS["enterprise"]),
                    max_services,
                    max_users,
                )
                assert record == (await root.get(PATH)).json["organizations"][0]["organization"]

    async def test_each_field_is_taken_alone(self, world: World, root: SignedInUser) -> None:
        acme = world.organization()
        enterprise = str(TIERS["enterprise"])

        for body in ({"max_services": 20}, {"max_users": 30}, {"tier_id": enterprise}):
            assert (await root.patch(f"{PATH}/{acme}/tier", body)).status == 200
        record = (await root.patch(f"{PATH}/{acme}/tier", {"max_users": None})).json["organization"]

        assert (record["tier_id"], record["max_services"], record["max_users"]) == (enterprise, 20, None)
        assert_refused(await root.patch(f"{PATH}/{acme}/tier", {}), 400, "BAD_REQUEST")

    async def test_a_change_is_recorded_in_both_logs(self, world: World, root: SignedInUser) -> None:
        acme = world.organization()

        await root.patch(f"{PATH}/{acme}/tier", {"tier_id": str(TIERS["professional"]), "max_users": 12})

        changes = {
            "tier_id": {"from": str(TIERS["free"]), "to": str(TIERS["professional"])},
            "max_users": {"from": None, "to": 12},
        }
        details = {"slug": "acme", "tier": "professional", "changes": changes}
        assert world.platform_audit_entries(None, *PLATFORM_COLUMNS) == [
            ("organization.tier_changed", root.id, str(acme), acme, details)
        ]
        assert world.audit_entries(None, *COLUMNS, organization_id=acme) == [
            ("organization.updated", root.id, {"changes": changes})
        ]

    async def test_a_request_without_new_values_records_nothing(self, world: World, root: SignedInUser) -> None:
        acme = world.organization()
        world.rows("UPDATE organizations SET updated_at = '2020-01-01' RETURNING id")

        answer = await root.patch(f"{PATH}/{acme}/tier", {"tier_id": str(TIERS["free"]), "max_users": None})

        assert (answer.status, answer.json["organization"]["updated_at"]) == (200, "2020-01-01T00:00:00Z")
        assert (
            world.platform_audit_entries(None, *PLATFORM_COLUMNS)
            == world.audit_entries(None, *COLUMNS, organization_id=acme)
            == []
        )

    @pytest.mark.parametrize("status", STATUSES)
    async def test_the_tier_can_be_changed_in_every_state(self, world: World, root: SignedInUser, status: str) -> None:
        acme = world.organization(status=status)

        assert (await root.patch(f"{PATH}/{acme}/tier", {"tier_id": str(TIERS["professional"])})).status == 200

    async def test_an_invalid_value_is_refused(
        self, world: World, root: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        acme = world.organization()

        for body in (
            {},
            {"tier_id": None},
            {"tier_id": str(NO_ID)},
            {"tier_id": "free"},
            {"tier_id": str(TIERS["free"]), "max_users": -1},
            {"tier_id": str(TIERS["free"]), "max_services": 2**31},
            {"tier_id": str(TIERS["free"]), "max_services": "5"},
        ):
            with subtests.test(body=body):
                assert_refused(await root.patch(f"{PATH}/{acme}/tier", body), 400, "BAD_REQUEST")

    async def test_an_unknown_organization_is_not_found(self, root: SignedInUser) -> None:
        answer = await root.patch(f"{PATH}/{NO_ID}/tier", {"tier_id": str(TIERS["free"])})

        assert_refused(answer, 404, "NOT_FOUND")
