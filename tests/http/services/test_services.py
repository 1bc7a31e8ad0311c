"""Services of an organization."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.secret_watch import WATCH
from tests.statements import recorded_statements
from tests.world.builder import TIERS
from tests.world.team import Team
from tests.world.world import assert_refused

SHOP = {"slug": "shop", "name": "Acme Shop", "service_type": "web"}
REDIRECT_URI = "https://shop.example/callback"


async def create(team: Team, slug: str = "shop", *, by: str = "owner", **fields: Any) -> Answer:
    return await team.request(by, "POST", "/services", body=SHOP | {"slug": slug} | fields)


async def created(team: Team, slug: str = "shop", **fields: Any) -> dict[str, Any]:
    answer = await create(team, slug, **fields)
    assert answer.status == 200, answer.text
    return answer.json


async def change(team: Team, *, by: str = "owner", service: str = "shop", **fields: Any) -> Answer:
    return await team.request(by, "PATCH", f"/services/{service}", body=fields)


def secret_hash(team: Team, slug: str = "shop") -> bytes | None:
    return team.world.value("SELECT client_secret_hash FROM services WHERE slug = %s", slug)


class TestCreate:
    """POST /api/organizations/:org_slug/services."""

    async def test_a_service_has_the_fields_of_the_document_and_a_default_plan(
        self, team: Team, clock: SettableClock
    ) -> None:
        at = clock.now.isoformat().replace("+00:00", "Z")

        answer = await create(
            team,
            redirect_uris=[REDIRECT_URI, REDIRECT_URI],
            codehost_scopes=["read:user"],
            device_activation_uri="https://shop.example/activate",
        )

        assert answer.status == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        service = answer.json["service"]
        assert service == {
            "id": service["id"],
            "org_id": str(team.organization_id),
            "slug": "shop",
            "name": "Acme Shop",
            "service_type": "web",
            "client_id": service["client_id"],
            "codehost_scopes": ["read:user"],
            "websuite_scopes": None,
            "officesuite_scopes": None,
            "redirect_uris": [REDIRECT_URI],
            "device_activation_uri": "https://shop.example/activate",
            "post_logout_redirect_uris": [],
            "backchannel_logout_uri": None,
            "frontchannel_logout_uri": None,
            "jwks_uri": None,
            "jwks": None,
            "audiences": [],
            "group_claims": [],
            "groups_as": "names",
            "token_signing": "RS256",
            "security_profile": None,
            "customers": "none",
            "individuals": "all",
            "access": "everyone",
            "assignments": [],
            "roles": [],
            "initiate_login_uri": None,
            "scopes": [],
            "machine_scopes": [],
            "claims": [],
            "previous_secret_expires_at": None,
            "created_at": at,
        }
        plan = answer.json["default_plan"]
        assert plan == {
            "id": plan["id"],
            "service_id": service["id"],
            "name": "Free",
            "price_cents": 0,
            "currency": "usd",
            "features": [],
            "billing_price_id": None,
            "is_default": True,
            "created_at": at,
        }
        assert answer.json["usage"] == {"current_services": 1, "max_services": 3, "tier": "Free"}
        UUID(service["client_id"])

    @pytest.mark.parametrize(
        ("service_type", "has_secret"), [("web", True), ("api", True), ("mobile", False), ("desktop", False)]
    )
    async def test_a_confidential_service_gets_a_secret_of_which_the_hash_is_stored(
        self, team: Team, service_type: str, has_secret: bool
    ) -> None:
        answer = await created(team, service_type=service_type)

        if has_secret:
            assert secret_hash(team) == hashlib.sha256(answer["client_secret"].encode()).digest()
            assert len(answer["client_secret"]) >= 43
        else:
            assert "client_secret" not in answer
            assert secret_hash(team) is None

    async def test_it_is_recorded_with_its_details(self, team: Team) -> None:
        service = (await created(team))["service"]

        details = {
            "service_slug": "shop",
            "service_name": "Acme Shop",
            "service_type": "web",
            "client_id": service["client_id"],
        }
        assert team.world.audit_entries("service.created") == [
            (team.organization_id, team.ids["owner"], service["id"], details)
        ]
        assert team.world.events("service.created") == [
            (team.organization_id, "owner@example.com", details | {"service_id": service["id"]})
        ]

    async def test_a_slug_is_unique_in_its_organization_alone(self, team: Team) -> None:
        team.world.service(team.world.organization("globex"), "shop")

        answers = [await create(team), await create(team)]

        assert answers[0].status == 200
        assert_refused(answers[1], 409, "CONFLICT")

    async def test_an_invalid_field_is_400(self, team: Team, subtests: pytest.Subtests) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"slug": "no"}, "slug"),
            ({"slug": "Shop"}, "slug"),
            ({"slug": "a--b"}, "slug"),
            ({"name": ""}, "name"),
            ({"name": "x" * 101}, "name"),
            ({"service_type": "game"}, "service_type"),
            ({"codehost_scopes": ["a b"]}, "codehost_scopes"),
            ({"websuite_scopes": [""]}, "websuite_scopes"),
            ({"officesuite_scopes": ["x" * 256]}, "officesuite_scopes"),
            ({"codehost_scopes": [f"scope-{number}" for number in range(51)]}, "codehost_scopes"),
            ({"redirect_uris": ["nowhere"]}, "redirect_uris"),
            ({"redirect_uris": None}, "redirect_uris"),
            ({"device_activation_uri": "http://shop.example"}, "device_activation_uri"),
        ]
        for fields, field in cases:
            with subtests.test(fields=fields, field=field):
                answer = await create(team, **fields)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field
                assert team.world.rows("SELECT FROM services") == []

    async def test_only_owners_and_admins_create_services(self, team: Team) -> None:
        assert (await create(team, by="admin")).status == 200
        assert_refused(await create(team, "other", by="member"), 403, "FORBIDDEN")


class TestLimit:
    """The number of services that the tier allows."""

    async def test_the_service_beyond_the_limit_is_refused(self, team: Team) -> None:
        for slug in ("one", "two", "three"):
            assert (await create(team, slug)).status == 200 or len(slug) < 3

        refused = await create(team, "four")
        assert_refused(refused, 400, "SERVICE_LIMIT_EXCEEDED")
        assert "may have 3 services" in refused.json["error"]
        assert "operators of the platform" in refused.json["error"]

    async def test_the_limit_holds_against_races(self, team: Team) -> None:
        await team.token("owner")

        answers = await at_once(*[partial(create, team, f"shop-{number}") for number in range(8)])

        assert statuses_of(answers) == [200] * 3 + [400] * 5
        assert team.world.value("SELECT count(*) FROM services") == 3

    async def test_the_limit_of_the_organization_wins_over_that_of_the_tier(self, team: Team) -> None:
        team.world.connection.execute("UPDATE organizations SET max_services = 1")

        assert (await created(team))["usage"]["max_services"] == 1
        assert_refused(await create(team, "other"), 400, "SERVICE_LIMIT_EXCEEDED")

    async def test_a_tier_without_a_limit_allows_any_number(self, team: Team) -> None:
        team.world.connection.execute("UPDATE organizations SET tier_id = %s", (TIERS["enterprise"],))

        usages = [(await created(team, f"shop-{number}"))["usage"] for number in range(4)]

        assert usages[-1] == {"current_services": 4, "max_services": None, "tier": "Enterprise"}


class TestList:
    """GET /api/organizations/:org_slug/services."""

    @pytest.fixture
    def shops(self, team: Team) -> Team:
        """The team with three services."""
        for slug in ("shop", "blog", "chat"):
            team.world.service(team.organization_id, slug)
        team.world.connection.execute("UPDATE services SET service_type = 'mobile' WHERE slug = 'blog'")
        team.world.service(team.world.organization("globex"), "till")
        return team

    async def test_members_see_the_services_with_counts_in_one_statement(self, shops: Team) -> None:
        world = shops.world
        service_id = world.value("SELECT id FROM services WHERE slug = 'shop'")
        pro = world.plan(shops.organization_id, service_id)
        for number, status in enumerate(("active", "past_due", "cancelled")):
            world.subscription(pro, shops.user(f"user-{number}"), status)
        await shops.token("member")

        with recorded_statements() as statements:
            answer = await shops.request("member", "GET", "/services")

        found = [(one["slug"], one["plan_count"], one["subscription_count"]) for one in answer.json["services"]]
        assert found == [("shop", 2, 2), ("blog", 1, 0), ("chat", 1, 0)]
        assert answer.json["usage"] == {"current_services": 3, "max_services": 3, "tier": "Free"}
        assert len(statements) == 2, "authorization, then the list"

    async def test_it_is_filtered_and_cut_and_the_usage_stays(self, shops: Team, subtests: pytest.Subtests) -> None:
        for query, slugs in (
            ("?service_type=mobile", ["blog"]),
            ("?service_type=desktop", []),
            ("?limit=2", ["shop", "blog"]),
            ("?limit=1&offset=1", ["blog"]),
            ("?offset=2", ["chat"]),
            ("?offset=99999999999999999999", []),
        ):
            with subtests.test(query=query, slugs=slugs):
                answer = await shops.request("member", "GET", f"/services{query}")

                assert [service["slug"] for service in answer.json["services"]] == slugs
                assert answer.json["usage"]["current_services"] == 3

    async def test_invalid_queries_are_400(self, shops: Team, subtests: pytest.Subtests) -> None:
        for query in ("?limit=0", "?offset=-1", "?service_type=game", "?limit=many"):
            with subtests.test(query=query):
                assert_refused(await shops.request("member", "GET", f"/services{query}"), 400, "BAD_REQUEST")


class TestChange:
    """PATCH /api/organizations/:org_slug/services/:service_slug."""

    async def test_lists_are_replaced_and_what_is_not_named_stays(self, team: Team) -> None:
        service = (await created(team, redirect_uris=[REDIRECT_URI], codehost_scopes=["a"], websuite_scopes=["b"]))[
            "service"
        ]

        answer = await change(team, redirect_uris=["https://shop.example/other"], codehost_scopes=None)

        assert answer.status == 200, answer.text
        assert answer.json == service | {"redirect_uris": ["https://shop.example/other"], "codehost_scopes": None}
        assert (await team.request("member", "GET", "/services/shop")).json == answer.json

    async def test_the_changes_are_recorded_and_no_change_is_not(self, team: Team) -> None:
        service = (await created(team))["service"]

        for _ in range(2):
            assert (await change(team, name="Shop 2")).status == 200

        [(organization_id, actor_id, target_id, details)] = team.world.audit_entries("service.updated")
        assert (organization_id, actor_id, target_id) == (team.organization_id, team.ids["owner"], service["id"])
        assert details["changes"] == {"name": {"from": "Acme Shop", "to": "Shop 2"}}
        assert details["service_slug"] == "shop"

    async def test_nothing_or_an_invalid_value_is_400(self, team: Team, subtests: pytest.Subtests) -> None:
        await created(team)

        cases: list[dict[str, Any]] = [
            {},
            {"slug": "other"},
            {"name": None},
            {"name": " "},
            {"service_type": "game"},
            {"websuite_scopes": ["a b"]},
            {"redirect_uris": ["https://shop.example/#fragment"]},
        ]
        for fields in cases:
            with subtests.test(fields=fields):
                assert_refused(await change(team, **fields), 400, "BAD_REQUEST")

    async def test_a_service_that_becomes_public_loses_its_secret(self, team: Team) -> None:
        await created(team)

        assert (await change(team, service_type="mobile")).status == 200
        assert secret_hash(team) is None
        assert (await change(team, service_type="api")).status == 200
        assert secret_hash(team) is None

    async def test_a_confidential_service_keeps_its_secret_when_its_kind_changes(self, team: Team) -> None:
        await created(team)
        before = secret_hash(team)

        assert (await change(team, service_type="api")).status == 200
        assert secret_hash(team) == before

    async def test_a_service_with_addresses_of_an_own_scheme_cannot_become_confidential(self, team: Team) -> None:
        await created(team, service_type="mobile", redirect_uris=["com.example.shop:/callback"])

        assert_refused(await change(team, service_type="web"), 400, "BAD_REQUEST")
        assert (await change(team, service_type="web", redirect_uris=[REDIRECT_URI])).status == 200

    async def test_an_unknown_service_and_that_of_another_tenant_are_404(self, team: Team) -> None:
        team.world.service(team.world.organization("globex"), "till")

        for slug in ("nope", "till"):
            assert_refused(await change(team, service=slug, name="Mine"), 404, "NOT_FOUND")
            assert_refused(await team.request("owner", "GET", f"/services/{slug}"), 404, "NOT_FOUND")
            assert_refused(await team.request("owner", "DELETE", f"/services/{slug}"), 404, "NOT_FOUND")
            assert_refused(await team.request("owner", "POST", f"/services/{slug}/secret/rotate"), 404, "NOT_FOUND")


class TestSecret:
    """POST /api/organizations/:org_slug/services/:service_slug/secret/rotate."""

    async def test_the_new_secret_replaces_the_old_one(self, team: Team) -> None:
        old = (await created(team))["client_secret"]

        answer = await team.request("admin", "POST", "/services/shop/secret/rotate")

        assert answer.status == 200, answer.text
        new = answer.json["client_secret"]
        assert new != old
        assert answer.json["service"]["slug"] == "shop"
        assert secret_hash(team) == hashlib.sha256(new.encode()).digest()

    async def test_the_old_one_is_taken_beside_the_new_one_for_the_hours_that_are_named(
        self, team: Team, clock: SettableClock
    ) -> None:
        made = await created(team)
        first = made["client_secret"]
        rotate = partial(team.request, "owner", "POST", "/services/shop/secret/rotate")

        async def taken(*secrets: str) -> list[bool]:
            WATCH.add(*secrets)
            fields = {"grant_type": "client_credentials", "client_id": made["service"]["client_id"]}
            return [
                (await team.world.client.post("/auth/token", body={**fields, "client_secret": one})).status == 200
                for one in secrets
            ]

        kept = await rotate(body={"keep_previous_hours": 1})
        second = kept.json["client_secret"]

        until = (clock.now + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
        assert kept.json["service"]["previous_secret_expires_at"] == until
        assert (await team.request("owner", "GET", "/services/shop")).json["previous_secret_expires_at"] == until
        assert await taken(first, second) == [True, True]
        assert team.world.audit_entries("service.updated")[-1][-1]["previous_secret_hours"] == 1
        # What was changed besides keeps it.
        await team.request("owner", "PATCH", "/services/shop", body={"name": "Other"})
        clock.advance(timedelta(minutes=59))
        team.tokens.clear()
        third = (await rotate(body={"keep_previous_hours": 168})).json["client_secret"]
        assert await taken(first, second, third) == [False, True, True]
        fourth = (await rotate()).json["client_secret"]
        assert await taken(second, third, fourth) == [False, False, True]
        await rotate(body={"keep_previous_hours": 1})
        assert await taken(fourth) == [True]
        clock.advance(timedelta(hours=1))
        team.tokens.clear()
        assert await taken(fourth) == [False]
        for hours in (-1, 169, "1"):
            refused = await rotate(body={"keep_previous_hours": hours})
            assert (refused.status, refused.json["details"][0]["field"]) == (400, "keep_previous_hours")

    async def test_it_is_recorded_without_the_secret(self, team: Team) -> None:
        await created(team)

        await team.request("owner", "POST", "/services/shop/secret/rotate")

        [(_, _, _, details)] = team.world.audit_entries("service.updated")
        assert details["change"] == "client_secret_rotated"
        assert not [value for value in details.values() if len(str(value)) > 40]

    async def test_a_public_service_has_none(self, team: Team) -> None:
        await created(team, service_type="desktop")

        assert_refused(await team.request("owner", "POST", "/services/shop/secret/rotate"), 400, "BAD_REQUEST")


class TestDelete:
    """DELETE /api/organizations/:org_slug/services/:service_slug."""

    async def test_it_goes_with_everything_that_belongs_to_it(self, team: Team) -> None:
        service_id = UUID((await created(team))["service"]["id"])
        pro = team.world.plan(team.organization_id, service_id)
        bob = team.user("bob")
        team.world.subscription(pro, bob, "expired")
        tokens = await team.world.sign_in("bob@example.com", org_slug="acme", service_slug="shop")
        await team.request(
            "owner", "POST", "/services/shop/api-keys", body={"name": "k", "permissions": ["read:users"]}
        )

        answer = await team.request("owner", "DELETE", "/services/shop")

        assert (answer.status, answer.content) == (204, b"")
        for table in ("services", "plans", "subscriptions", "service_users", "api_keys"):
            assert team.world.rows(f"SELECT FROM {table}") == [], table
        assert team.world.value("SELECT count(*) FROM login_events WHERE user_id = %s", bob) == 1
        assert_refused(await team.world.list_sessions(tokens), 401, "UNAUTHORIZED")
        assert team.world.has_user("bob@example.com")
        [(_, actor_id, target_id, details)] = team.world.audit_entries("service.deleted")
        assert (actor_id, target_id, details["service_slug"]) == (team.ids["owner"], str(service_id), "shop")

    @pytest.mark.parametrize("status", ["active", "past_due"])
    async def test_it_is_refused_while_a_subscription_is_active(self, team: Team, status: str) -> None:
        service_id = UUID((await created(team))["service"]["id"])
        team.world.subscription(team.world.plan(team.organization_id, service_id), team.user("bob"), status)

        assert_refused(await team.request("owner", "DELETE", "/services/shop"), 400, "BAD_REQUEST")
        assert team.world.rows("SELECT slug FROM services") == [("shop",)]

    async def test_only_the_owner_deletes_a_service(self, team: Team) -> None:
        await created(team)

        assert_refused(await team.request("admin", "DELETE", "/services/shop"), 403, "FORBIDDEN")

    async def test_of_two_concurrent_deletions_one_succeeds(self, team: Team) -> None:
        await created(team)

        answers = await at_once(*[partial(team.request, "owner", "DELETE", "/services/shop")] * 2)

        assert statuses_of(answers) == [204, 404]
