"""Credentials that a key of an organization makes, and which of them end with the key."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.organizations import keys
from core.organizations.access import Capability
from core.organizations.keys import OrganizationKeyUnknown
from core.sessions.origins import BACKGROUND
from core.sessions.tokens import TokenKind
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.secret_watch import WATCH
from tests.world.builder import NO_ID
from tests.world.directory import Directory, assert_scim_refused
from tests.world.organization_keys import Program, insert_program
from tests.world.setups import Setups
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import assert_refused

MANAGES, VIEWS_USERS = Capability.SERVICES_MANAGE, Capability.END_USERS_VIEW
INTEGRATES, MANAGES_MEMBERS = Capability.INTEGRATIONS_MANAGE, Capability.ORG_MEMBERS_MANAGE
KEY = {"name": "Backend", "permissions": ["read:users"]}
TOKEN = {"name": "Okta"}
LINK: dict[str, Any] = {"parts": ["scim"], "expires_in_days": 7}
API_KEYS = "/services/shop/api-keys"
ROLE_OFF = {"op": "replace", "path": "active", "value": False}


@pytest.fixture
def shop(team: Team) -> Team:
    """The team with a service."""
    team.world.service(team.organization_id, "shop")
    return team


@pytest.fixture
def visitor(shop: Team) -> Visitor:
    """The browser of a person who has got a setup link."""
    return Visitor(shop.world.client)


async def made(program: Program, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Make something with a key, and return the record."""
    answer = await program.request("POST", path, body=body)
    assert answer.status in {200, 201}, answer.text
    for field in ("key", "token"):
        if field in answer.json:
            WATCH.add(answer.json[field])
    return answer.json


async def make_each(program: Program) -> dict[str, dict[str, Any]]:
    """Make one of each kind."""
    return {
        "api_key": await made(program, API_KEYS, KEY),
        "scim_token": await made(program, "/scim-tokens", TOKEN),
        "setup_link": await made(program, "/setup-links", LINK),
    }


def left(team: Team) -> set[str]:
    """Return the kinds of which something is left."""
    tables = {"api_key": "api_keys", "scim_token": "scim_tokens", "setup_link": "setup_links"}
    return {kind for kind, table in tables.items() if team.world.value(f"SELECT count(*) FROM {table}")}


async def calls_service(team: Team, secret: str) -> Answer:
    """Call the interface of the service with an API key."""
    return await team.world.client.get("/api/service/users", headers={"X-Api-Key": secret})


class TestMaking:
    """A key makes what its own capabilities cover."""

    async def test_each_record_says_which_key_made_it_and_has_the_maker_of_the_key(self, shop: Team) -> None:
        program = insert_program(shop, maker="admin")
        things = await make_each(program)
        by_person = await shop.request("owner", "POST", API_KEYS, body=KEY)
        WATCH.add(by_person.json["key"])

        key_id = str(program.key_id)
        assert {kind: one["made_by_key"] for kind, one in things.items()} == dict.fromkeys(things, key_id)
        listed = (await shop.request("owner", "GET", API_KEYS)).json["api_keys"]
        assert [one["made_by_key"] for one in listed] == [None, key_id]
        assert [one["created_by"] for one in listed] == [str(shop.ids["owner"]), str(shop.ids["admin"])]
        [token] = (await shop.request("owner", "GET", "/scim-tokens")).json["tokens"]
        [link] = (await shop.request("owner", "GET", "/setup-links")).json["setup_links"]
        assert (token["made_by_key"], link["made_by_key"]) == (key_id, key_id)
        assert link["created_by"] == str(shop.ids["admin"])
        assert (await calls_service(shop, things["api_key"]["key"])).status == 200
        assert (await Directory(shop, things["scim_token"]["token"]).request("GET", "/Users")).status == 200
        for action in ("api_key.created", "scim_token.created"):
            [(_, actor, _, details)] = [
                one for one in shop.world.audit_entries(action) if "organization_key_id" in one[3]
            ]
            assert (actor, details["organization_key_id"]) == (None, key_id)

    async def test_an_api_key_has_only_permissions_that_the_key_covers(self, shop: Team) -> None:
        program = insert_program(shop, MANAGES, VIEWS_USERS)

        for permission, status in (("read:users", 201), ("write:service", 201), ("write:users", 403)):
            answer = await program.request("POST", API_KEYS, body=KEY | {"permissions": [permission]})
            assert answer.status == status, answer.text
            if status == 201:
                WATCH.add(answer.json["key"])
        refused = await program.request("POST", API_KEYS, body=KEY | {"permissions": ["write:subscriptions"]})

        assert_refused(refused, 403, "FORBIDDEN")
        assert "write:subscriptions (takes billing.manage)" in refused.json["error"]

    async def test_without_the_capabilities_it_makes_nothing(self, shop: Team) -> None:
        for number, (lacking, path, body) in enumerate(
            (
                (MANAGES, API_KEYS, KEY),
                (INTEGRATES, "/scim-tokens", TOKEN),
                (MANAGES_MEMBERS, "/scim-tokens", TOKEN),
                (INTEGRATES, "/setup-links", LINK),
                (MANAGES_MEMBERS, "/setup-links", LINK),
            )
        ):
            held = [one for one in Capability if one is not lacking]
            program = insert_program(shop, *held, key=f"gk_a{number}c123_{'o' * 43}")
            assert_refused(await program.request("POST", path, body=body), 403, "FORBIDDEN")

        assert left(shop) == set()

    async def test_the_maker_bounds_it_too(self, shop: Team) -> None:
        program = insert_program(shop, maker="admin")
        shop.custom_role("narrow", "services.manage", "integrations.manage")
        body = {"role": "narrow"}
        assert (await shop.request("owner", "PATCH", f"/members/{shop.ids['admin']}", body=body)).status == 200

        assert_refused(await program.request("POST", API_KEYS, body=KEY), 403, "FORBIDDEN")
        assert_refused(await program.request("POST", "/scim-tokens", body=TOKEN), 403, "FORBIDDEN")
        assert_refused(await program.request("POST", "/setup-links", body=LINK), 403, "FORBIDDEN")
        assert_refused(await program.request("DELETE", "/services/shop"), 403, "FORBIDDEN")
        assert left(shop) == set()

    async def test_a_service_is_deleted_by_the_key_of_an_owner_that_manages_services(self, shop: Team) -> None:
        of_admin = insert_program(shop, MANAGES, maker="admin")
        without = insert_program(shop, Capability.SERVICES_CREATE, key=f"gk_second_{'s' * 43}")
        of_owner = insert_program(shop, MANAGES, key=f"gk_third1_{'t' * 43}")

        for program in (of_admin, without):
            assert_refused(await program.request("DELETE", "/services/shop"), 403, "FORBIDDEN")
        assert (await of_owner.request("DELETE", "/services/shop")).status == 204

        [(_, actor, _, details)] = shop.world.audit_entries("service.deleted")
        assert (actor, details["organization_key_id"]) == (None, str(of_owner.key_id))

    async def test_what_a_workload_makes_is_of_the_member_who_added_it(self, shop: Team) -> None:
        program = insert_program(shop)
        shop.world.connection.execute(
            """
            INSERT INTO workloads (id, organization_id, key_id, name, issuer, match, created_at, created_by,
                                   has_second_factor)
            VALUES (%s, %s, %s, 'Job', 'https://ci.example', '{}', %s, %s, false)
            """,
            (NO_ID, shop.organization_id, program.key_id, shop.world.clock(), shop.ids["admin"]),
        )
        token = shop.world.installation.tokens.sign(
            {
                "sub": f"key:{program.key_id}",
                "aud": shop.world.installation.settings.base_url,
                "organization_id": str(shop.organization_id),
                "workload": str(NO_ID),
            },
            kind=TokenKind.ACCESS,
            lifetime=timedelta(minutes=15),
            now=shop.world.clock(),
        )

        for path, body in ((API_KEYS, KEY), ("/scim-tokens", TOKEN), ("/setup-links", LINK)):
            answer = await shop.world.client.post(shop.path + path, body=body, token=token)
            assert answer.status in {200, 201}, answer.text

        for table in ("api_keys", "scim_tokens", "setup_links"):
            assert shop.world.rows(f"SELECT created_by, made_by_key FROM {table}") == [
                (shop.ids["admin"], program.key_id)
            ]


class TestDirectories:
    """A SCIM token of a key gives no role that the key could not give."""

    async def test_it_leaves_admins_alone_whatever_the_key_is_allowed(self, shop: Team) -> None:
        directory = Directory(shop, (await made(insert_program(shop), "/scim-tokens", TOKEN))["token"])

        assert_scim_refused(await directory.patch(str(shop.ids["admin"]), ROLE_OFF), 403)
        assert (await directory.patch(str(shop.ids["member"]), ROLE_OFF)).status == 200

    async def test_it_leaves_roles_alone_that_the_key_does_not_cover(self, shop: Team) -> None:
        shop.custom_role("biller", "billing.manage")
        shop.custom_role("viewer", "services.view")
        biller, viewer = shop.add("biller", "biller"), shop.add("viewer", "viewer")
        roles = Capability.ORG_ROLES_MANAGE, Capability.SERVICES_VIEW
        program = insert_program(shop, INTEGRATES, MANAGES_MEMBERS, *roles)
        directory = Directory(shop, (await made(program, "/scim-tokens", TOKEN))["token"])

        assert_scim_refused(await directory.patch(str(biller), ROLE_OFF), 403)
        assert (await directory.patch(str(viewer), ROLE_OFF)).status == 200


class TestLinks:
    """A setup link of a key acts within the capabilities of the key, and no longer than it."""

    async def test_its_parts_and_roles_are_those_that_the_key_covers(self, shop: Team) -> None:
        shop.custom_role("biller", "billing.manage")
        program = insert_program(shop, INTEGRATES, Capability.ORG_ROLES_MANAGE)
        everything = insert_program(shop, key=f"gk_second_{'s' * 43}")
        groups: dict[str, Any] = {"parts": ["groups"], "roles": ["biller"]}

        for body in ({"parts": ["scim"]}, {"parts": ["domain"]}, {"parts": ["upstream", "siem"]}, groups):
            assert_refused(await program.request("POST", "/setup-links", body=body), 403, "FORBIDDEN")
        assert (await program.request("POST", "/setup-links", body={"parts": ["upstream", "groups"]})).status == 200
        assert (await everything.request("POST", "/setup-links", body=groups)).status == 200
        admins = await everything.request("POST", "/setup-links", body=groups | {"roles": ["admin"]})
        assert_refused(admins, 403, "FORBIDDEN")

    async def test_it_ends_with_the_expiry_of_the_key(self, shop: Team, clock: SettableClock) -> None:
        program = insert_program(shop)
        ends_at = clock.now + timedelta(days=3)
        shop.world.connection.execute("UPDATE organization_keys SET expires_at = %s", (ends_at,))

        long = await made(program, "/setup-links", LINK)
        short = await made(program, "/setup-links", LINK | {"expires_in_days": 2})

        assert long["expires_at"] == ends_at.isoformat().replace("+00:00", "Z")
        assert short["expires_at"] < long["expires_at"]

    async def test_it_is_dead_once_a_role_of_it_allows_more_than_the_key(self, shop: Team, visitor: Visitor) -> None:
        shop.custom_role("viewer", "services.view")
        roles = Capability.ORG_ROLES_MANAGE, Capability.SERVICES_VIEW
        program = insert_program(shop, INTEGRATES, *roles)
        link = await made(program, "/setup-links", {"parts": ["groups"], "roles": ["viewer"]})
        assert (await Setups(shop, visitor).begin(link)).status == 200

        shop.world.connection.execute("UPDATE organization_roles SET permissions = '{billing.manage}'")

        assert (await visitor.open("/app/setup/parts/groups")).status == 404

    async def test_a_token_that_is_made_with_it_counts_as_made_by_the_key(self, shop: Team, visitor: Visitor) -> None:
        program = insert_program(shop)
        link = await made(program, "/setup-links", LINK)
        setups = Setups(shop, visitor)
        await setups.begin(link)
        await visitor.submit(await setups.open("scim"), "/app/setup/parts/scim")

        assert shop.world.rows("SELECT created_by, made_by_key FROM scim_tokens") == [
            (shop.ids["owner"], program.key_id)
        ]


class TestEnding:
    """What ends with a key."""

    async def test_what_it_made_is_listed_by_owner_and_admins(self, shop: Team, clock: SettableClock) -> None:
        program = insert_program(shop)
        things = dict[str, dict[str, Any]]()
        for kind, path, body in (
            ("api_key", API_KEYS, KEY),
            ("scim_token", "/scim-tokens", TOKEN),
            ("setup_link", "/setup-links", LINK),
        ):
            clock.advance(timedelta(minutes=1))
            things[kind] = await made(program, path, body)
        path = f"/keys/{program.key_id}/made"

        listed = await shop.request("admin", "GET", path)
        second = await shop.request("owner", "GET", f"{path}?limit=1&offset=1")

        names = {"api_key": "Backend", "scim_token": "Okta", "setup_link": "scim"}
        expected = [
            {
                "kind": kind,
                "id": things[kind]["id"],
                "name": names[kind],
                "service_slug": "shop" if kind == "api_key" else None,
                "customer_id": None,
                "made_at": things[kind]["created_at"],
            }
            for kind in ("setup_link", "scim_token", "api_key")
        ]
        assert listed.json == {"things": expected, "total": 3}
        assert second.json == {"things": expected[1:2], "total": 3}
        assert_refused(await shop.request("member", "GET", path), 403, "FORBIDDEN")
        assert_refused(await program.request("GET", path), 403, "FORBIDDEN")
        assert_refused(await shop.request("owner", "GET", f"/keys/{NO_ID}/made"), 404, "NOT_FOUND")
        other = insert_program(shop, key=f"gk_second_{'s' * 43}")
        nothing = await shop.request("owner", "GET", f"/keys/{other.key_id}/made")
        assert nothing.json == {"things": [], "total": 0}

    async def test_who_deletes_it_is_shown_its_first_things_and_their_number(
        self, shop: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = insert_program(shop)
        await make_each(program)
        monkeypatch.setattr(keys, "SHOWN_MAX", 2)
        session_id = UUID(claims_of(await shop.token("owner"))["sid"])
        database = shop.world.installation.database.on_behalf_of(BACKGROUND, session_id)

        ends = await database.transact(keys.show_ends, shop.slug, program.key_id)

        assert (len(ends.made.things), ends.made.total) == (2, 3)
        assert (ends.key.id, ends.maker_email) == (program.key_id, "owner@example.com")
        with pytest.raises(OrganizationKeyUnknown):
            await database.transact(keys.show_ends, shop.slug, NO_ID)

    @pytest.mark.parametrize("query", ["", "?with_made=false"])
    async def test_only_its_links_end_so_that_keys_can_be_replaced(
        self, shop: Team, visitor: Visitor, query: str
    ) -> None:
        program = insert_program(shop)
        things = await make_each(program)
        await Setups(shop, visitor).begin(things["setup_link"])

        assert (await shop.request("owner", "DELETE", f"/keys/{program.key_id}{query}")).status == 204

        assert left(shop) == {"api_key", "scim_token"}
        assert (await visitor.open("/app/setup/parts/scim")).status == 404
        assert (await calls_service(shop, things["api_key"]["key"])).status == 200
        [listed] = (await shop.request("owner", "GET", API_KEYS)).json["api_keys"]
        assert listed["made_by_key"] == str(program.key_id)
        [ended] = [
            details
            for _, _, _, details in shop.world.audit_entries("organization.updated")
            if details.get("reason") == "organization_key_deleted"
        ]
        assert ended["setup_link"] == {"id": things["setup_link"]["id"], "parts": ["scim"], "action": "revoked"}

    async def test_all_of_it_ends_where_that_is_asked_and_nothing_else(self, shop: Team) -> None:
        program, other = insert_program(shop), insert_program(shop, key=f"gk_second_{'s' * 43}")
        things, others = await make_each(program), await make_each(other)

        assert (await shop.request("admin", "DELETE", f"/keys/{program.key_id}?with_made=true")).status == 204

        assert_refused(await calls_service(shop, things["api_key"]["key"]), 401, "UNAUTHORIZED")
        assert_scim_refused(await Directory(shop, things["scim_token"]["token"]).request("GET", "/Users"), 401)
        for table, kind in (("api_keys", "api_key"), ("scim_tokens", "scim_token"), ("setup_links", "setup_link")):
            assert shop.world.rows(f"SELECT id FROM {table}") == [(UUID(others[kind]["id"]),)]
        [(_, actor, target, details)] = shop.world.audit_entries("api_key.deleted")
        assert (actor, target) == (shop.ids["admin"], things["api_key"]["id"])
        assert details == {
            "api_key_id": things["api_key"]["id"],
            "service_id": things["api_key"]["service_id"],
            "service_slug": "shop",
            "name": "Backend",
            "permissions": ["read:users"],
            "reason": "organization_key_deleted",
        }
        [(_, _, target, details)] = shop.world.audit_entries("scim_token.revoked")
        assert (target, details["scim_token_id"]) == (str(shop.organization_id), things["scim_token"]["id"])
        assert len(shop.world.events("api_key.deleted")) == len(shop.world.events("scim_token.revoked")) == 1

    async def test_nothing_is_made_while_the_key_ends(self, shop: Team) -> None:
        program = insert_program(shop)
        path = f"/keys/{program.key_id}?with_made=true"

        await shop.token("owner")
        answers = await at_once(
            lambda: shop.request("owner", "DELETE", path),
            lambda: program.request("POST", API_KEYS, body=KEY),
            lambda: program.request("POST", "/scim-tokens", body=TOKEN),
            lambda: program.request("POST", "/setup-links", body=LINK),
        )

        assert 204 in statuses_of(answers)
        assert left(shop) == set()

    async def test_the_links_of_a_key_end_however_it_ends(self, shop: Team) -> None:
        program = insert_program(shop, maker="admin")
        await make_each(program)

        assert (await shop.request("owner", "POST", f"/members/{shop.ids['admin']}")).status == 200

        assert left(shop) == {"api_key", "scim_token"}
