"""API keys as members create, read and delete them."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from core.services.api_keys import KEYS_MAX, LIFETIME_DAYS_MAX, Permission
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.backend import insert_key
from tests.world.builder import NO_ID
from tests.world.team import Team
from tests.world.world import assert_refused

KEYS = "/services/shop/api-keys"
BODY = {"name": "Backend", "permissions": ["write:users", "read:users", "read:users"]}


@pytest.fixture
def service_id(team: Team) -> UUID:
    """The id of a service of the team."""
    return team.world.service(team.organization_id).id


@pytest.fixture
def shop(team: Team, service_id: UUID) -> Team:
    """The team with its service."""
    assert service_id
    return team


async def create(shop: Team, *, by: str = "owner", **fields: Any) -> Answer:
    return await shop.request(by, "POST", KEYS, body=BODY | fields)


async def created(shop: Team, **fields: Any) -> dict[str, Any]:
    answer = await create(shop, **fields)
    assert answer.status == 201, answer.text
    return answer.json


class TestCreate:
    """POST /api/organizations/:org_slug/services/:service_slug/api-keys."""

    async def test_the_key_is_shown_once_and_stored_as_a_hash(
        self, shop: Team, service_id: UUID, clock: SettableClock
    ) -> None:
        answer = await create(shop, expires_in_days=30)

        assert answer.status == 201, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        secret = answer.json["key"]
        assert re.fullmatch(r"sk_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", secret)
        assert answer.json == {
            "id": answer.json["id"],
            "service_id": str(service_id),
            "name": "Backend",
            "key": secret,
            "prefix": secret[:9],
            "permissions": ["read:users", "write:users"],
            "expires_at": (clock.now + timedelta(days=30)).isoformat().replace("+00:00", "Z"),
            "created_at": clock.now.isoformat().replace("+00:00", "Z"),
            "created_by": str(shop.ids["owner"]),
            "made_by_key": None,
        }
        assert shop.world.value("SELECT key_hash FROM api_keys") == hashlib.sha256(secret.encode()).digest()

    async def test_the_key_works_at_once(self, shop: Team) -> None:
        key = (await created(shop))["key"]

        answer = await shop.world.client.get("/api/service/users", headers={"X-Api-Key": key})

        assert answer.status == 200

    async def test_an_invalid_field_is_400(self, shop: Team, subtests: pytest.Subtests) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"name": " "}, "name"),
            ({"name": "x" * 101}, "name"),
            ({"permissions": []}, "permissions"),
            ({"permissions": ["read:all"]}, "permissions[0]"),
            ({"expires_in_days": 0}, "expires_in_days"),
            ({"expires_in_days": LIFETIME_DAYS_MAX + 1}, "expires_in_days"),
        ]
        for fields, field in cases:
            with subtests.test(fields=fields, field=field):
                answer = await create(shop, **fields)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field

    async def test_it_is_recorded_without_the_secret(self, shop: Team, service_id: UUID) -> None:
        key = await created(shop)

        details = {
            "api_key_id": key["id"],
            "service_id": str(service_id),
            "service_slug": "shop",
            "name": "Backend",
            "permissions": ["read:users", "write:users"],
            "expires_at": None,
        }
        assert shop.world.audit_entries("api_key.created") == [
            (shop.organization_id, shop.ids["owner"], key["id"], details)
        ]
        assert shop.world.events("api_key.created") == [(shop.organization_id, "owner@example.com", details)]

    async def test_only_those_who_manage_the_service_create_keys(self, shop: Team, service_id: UUID) -> None:
        assert_refused(await create(shop, by="member"), 403, "FORBIDDEN")

        shop.world.grant(shop.organization_id, service_id, shop.ids["member"], "manager")
        # Every member views end users, and no grant on the service allows changing them.
        assert (await create(shop, by="member", permissions=["read:users", "write:service"])).status == 201
        assert_refused(await create(shop, by="member"), 403, "FORBIDDEN")

    async def test_each_permission_takes_the_capability_that_its_maker_needs_for_it(self, shop: Team) -> None:
        expected = {
            "read:users": "end_users.view",
            "write:users": "end_users.manage",
            "delete:users": "end_users.manage",
            "read:subscriptions": "end_users.view",
            "write:subscriptions": "billing.manage",
            "delete:subscriptions": "billing.manage",
            "read:analytics": "analytics.view",
            "read:service": None,
            "write:service": None,
            "read:customers": "end_users.view",
            "write:customers": "end_users.manage",
            "setup:customers": "end_users.view",
        }
        assert set(expected) == set(Permission), "a permission of a key is not in this table"
        shop.custom_role("bare", "services.manage")
        shop.add("bare", "bare")

        for permission, capability in expected.items():
            refused = await create(shop, by="bare", permissions=["read:service", permission])
            if capability is None:
                assert refused.status == 201, permission
                continue
            assert_refused(refused, 403, "FORBIDDEN")
            assert capability in refused.json["error"], permission
            assert permission in refused.json["error"]
            role = permission.replace(":", "-")
            shop.custom_role(role, "services.manage", capability)
            shop.add(role, role)
            assert (await create(shop, by=role, permissions=[permission])).status == 201, permission

    async def test_the_maximum_number_of_keys_holds_against_races(self, shop: Team, service_id: UUID) -> None:
        for number in range(KEYS_MAX - 1):
            insert_key(shop.world, shop.organization_id, service_id, f"sk_{number:06}_{'a' * 43}")
        await shop.token("owner")

        answers = await at_once(*[partial(create, shop)] * 3)

        assert statuses_of(answers) == [201, 400, 400]


class TestRead:
    """Listing keys, and showing one."""

    async def test_members_see_the_keys_without_their_secrets_the_newest_first(
        self, shop: Team, clock: SettableClock
    ) -> None:
        keys = []
        for name in ("one", "two", "three"):
            keys.append(await created(shop, name=name))
            clock.now += timedelta(seconds=1)

        answer = await shop.request("member", "GET", f"{KEYS}?limit=2&offset=1")

        for key in keys:
            del key["key"]
            key["last_used_at"] = None
        assert answer.json == {"api_keys": [keys[1], keys[0]], "total": 3}
        shown = await shop.request("member", "GET", f"{KEYS}/{keys[0]['id']}")
        assert shown.json == keys[0]

    async def test_a_page_beyond_the_last_key_is_empty(self, shop: Team) -> None:
        await created(shop)

        assert (await shop.request("member", "GET", f"{KEYS}?offset=5")).json == {"api_keys": [], "total": 1}

    async def test_expired_keys_remain_in_the_list(self, shop: Team, clock: SettableClock) -> None:
        await created(shop, expires_in_days=1)
        clock.now += timedelta(days=2)
        shop.tokens.clear()

        assert (await shop.request("member", "GET", KEYS)).json["total"] == 1

    async def test_a_key_of_another_service_or_tenant_is_404(self, shop: Team) -> None:
        globex = shop.world.organization("globex")
        foreign = insert_key(shop.world, globex, shop.world.service(globex, "till").id, f"sk_aaaaaa_{'a' * 43}")
        sibling = insert_key(
            shop.world,
            shop.organization_id,
            shop.world.service(shop.organization_id, "till").id,
            f"sk_bbbbbb_{'b' * 43}",
        )

        for key_id in (foreign, sibling, NO_ID):
            for method in ("GET", "DELETE"):
                assert_refused(await shop.request("owner", method, f"{KEYS}/{key_id}"), 404, "NOT_FOUND")
        assert shop.world.value("SELECT count(*) FROM api_keys") == 2


class TestDelete:
    """DELETE /api/organizations/:org_slug/services/:service_slug/api-keys/:api_key_id."""

    async def test_a_deleted_key_loses_access_at_once(self, shop: Team) -> None:
        key = await created(shop)

        answer = await shop.request("admin", "DELETE", f"{KEYS}/{key['id']}")

        assert (answer.status, answer.content) == (204, b"")
        used = await shop.world.client.get("/api/service/users", headers={"X-Api-Key": key["key"]})
        assert_refused(used, 401, "UNAUTHORIZED")
        [(_, actor_id, target_id, details)] = shop.world.audit_entries("api_key.deleted")
        assert (actor_id, target_id, details["name"]) == (shop.ids["admin"], key["id"], "Backend")

    async def test_of_two_concurrent_deletions_one_succeeds(self, shop: Team) -> None:
        key = await created(shop)

        answers = await at_once(*[partial(shop.request, "owner", "DELETE", f"{KEYS}/{key['id']}")] * 2)

        assert statuses_of(answers) == [204, 404]

    async def test_a_member_cannot_delete_one(self, shop: Team) -> None:
        key = await created(shop)

        assert_refused(await shop.request("member", "DELETE", f"{KEYS}/{key['id']}"), 403, "FORBIDDEN")


def test_the_permissions_are_those_of_the_document() -> None:
    kinds = {"users": ("read", "write", "delete"), "subscriptions": ("read", "write", "delete")}
    documented = {f"{verb}:{noun}" for noun, verbs in kinds.items() for verb in verbs}

    of_customers = {"read:customers", "write:customers", "setup:customers"}
    assert set(Permission) == documented | {"read:analytics", "read:service", "write:service"} | of_customers
