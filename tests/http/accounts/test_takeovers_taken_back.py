"""Undoing a takeover takes back what it set, admitted and shared, and what its credentials did."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest

from core.organizations.access import Capability
from tests.application import Answer
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL, Service
from tests.world.organization_keys import KEY as KEY_OF_BOSS
from tests.world.organization_keys import insert_organization_key
from tests.world.takeovers import BOSS, FRIEND, STEP, Intrusion, intrusion_of
from tests.world.victim import Victim
from tests.world.visitor import Visitor
from tests.world.workload_issuer import ask, running_issuer

BACK, EVIL = "https://shop.example/back", "https://evil.example/in"
KEY = {"kty": "RSA", "kid": "evil", "alg": "RS256", "use": "sig", "n": "u" * 342, "e": "AQAB"}
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
GROUP = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Admins"}
SAML = {"enabled": True, "entity_id": "https://sp.example", "acs_url": "https://sp.example/acs"}
SETUP = "/app/setup/parts/scim"
WEBHOOK = {"name": "Hook", "url": "https://shop.example/hook", "events": ["user.removed"]}
INSIDER, OTHER = "insider@example.com", "other@example.com"


@pytest.fixture
def founder(victim: Victim, clock: SettableClock) -> Intrusion:
    return intrusion_of(victim, clock, "owner")


@pytest.fixture
def shop(founder: Intrusion) -> Service:
    return founder.world.service(founder.acme, redirect_uris=[BACK])


def service_of(one: Intrusion, column: str) -> Any:
    return one.world.value(f"SELECT {column} FROM services")


async def change_service(one: Intrusion, **fields: Any) -> None:
    await one.act("PATCH", "/services/shop", fields)


async def by_boss(one: Intrusion, method: str, path: str, body: Any) -> None:
    """Send a request below the path of Acme as an admin who is not of the takeover."""
    if BOSS not in one.members():
        one.world.member(one.acme, one.world.user(BOSS), "admin")
    token = (await one.world.sign_in(BOSS)).access_token
    answer = await one.world.client.request(method, f"/api/organizations/acme{path}", token=token, body=body)
    assert answer.status < 300, answer.text


async def scim(one: Intrusion, method: str, path: str, body: Any = None) -> Answer:
    """Send a request of the directory with the token that the takeover has made."""
    one.clock.advance(STEP)
    answer = await one.world.client.request(
        method,
        f"/scim/v2{path}",
        token=one.directory_token,
        body=body,
        headers={"Content-Type": "application/scim+json"},
    )
    assert answer.status < 300, answer.text
    return answer


async def directory(one: Intrusion) -> None:
    """Make a token for the groups of the directory."""
    made = await one.act("POST", "/scim-tokens", {"name": "Directory", "groups": "directory"})
    one.directory_token = made.json["token"]


def people(one: Intrusion, *emails: str) -> list[UUID]:
    """Return members of Acme with these addresses."""
    found = []
    for email in emails:
        found.append(one.world.user(email))
        one.world.member(one.acme, found[-1])
    return found


def group_of(one: Intrusion, *members: UUID, name: str = "Admins") -> UUID:
    """Insert a group of the directory with members, which gives the role admin."""
    group_id, authority_id, now = one.world.new_id(), one.world.new_id(), one.clock()
    run = one.world.connection.execute
    run(
        "INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)"
        " VALUES (%s, %s, %s, %s, %s)",
        (group_id, one.acme, name, now, now),
    )
    run(
        "INSERT INTO directory_authorities (id, organization_id, maker_role) VALUES (%s, %s, 'owner')",
        (authority_id, one.acme),
    )
    for user_id in members:
        run(
            "INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)"
            " VALUES (%s, %s, %s, %s)",
            (one.acme, group_id, user_id, authority_id),
        )
    return group_id


async def give_role(one: Intrusion, customer_id: UUID, organization_id: UUID, email: str = OTHER) -> None:
    """Give a person of a customer, who has signed in, a role of the vendor's own with a key of the takeover."""
    person = one.world.user_id(email)
    one.world.connection.execute(
        """
        INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at)
        VALUES (%s, %s, %s, now(), now())
        """,
        (customer_id, organization_id, person),
    )
    made = await one.act("POST", "/services/shop/api-keys", {"name": "K", "permissions": ["write:customers"]})
    one.clock.advance(STEP)
    given = await one.world.client.put(
        f"/api/service/customers/{customer_id}/users/{person}",
        headers={"X-Api-Key": made.json["key"]},
        body={"roles": ["editor"]},
    )
    assert given.status == 200, given.text


class TestServices:
    """Where a service leads, and how it proves itself, is as it was before."""

    async def test_what_was_added_goes_and_what_was_there_stays(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        await change_service(founder, redirect_uris=[BACK, EVIL], post_logout_redirect_uris=[EVIL])
        await by_boss(founder, "PATCH", "/services/shop", {"redirect_uris": [BACK, EVIL, "https://new.example/back"]})

        await founder.undo()

        assert service_of(founder, "redirect_uris") == [BACK, "https://new.example/back"]
        assert service_of(founder, "post_logout_redirect_uris") == []
        [withdrawn] = [one for one in await founder.world.mails() if one.template == "takeover_undone"]
        assert "settings of the service shop: redirect_uris, post_logout_redirect_uris" in withdrawn.values["withdrawn"]

    async def test_keys_that_were_registered_authenticate_nobody(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        await change_service(founder, jwks={"keys": [KEY]})
        assert service_of(founder, "jwks") is not None

        await founder.undo()

        assert service_of(founder, "jwks") is None

    async def test_an_address_that_was_replaced_comes_back(self, founder: Intrusion, shop: Service) -> None:
        await by_boss(founder, "PATCH", "/services/shop", {"backchannel_logout_uri": "https://shop.example/out"})
        await founder.take_over()
        for address in ("https://evil.example/first", EVIL):
            await change_service(founder, backchannel_logout_uri=address)

        await founder.undo()

        assert service_of(founder, "backchannel_logout_uri") == "https://shop.example/out"

    async def test_what_was_there_before_stays_also_when_it_was_taken_and_given_again(
        self, founder: Intrusion, shop: Service
    ) -> None:
        await founder.take_over()
        for addresses in ([EVIL], [EVIL, BACK]):
            await change_service(founder, redirect_uris=addresses)

        await founder.undo()

        assert service_of(founder, "redirect_uris") == [BACK]

    async def test_an_address_that_an_admin_has_set_in_between_comes_back(
        self, founder: Intrusion, shop: Service
    ) -> None:
        await founder.take_over()
        await change_service(founder, backchannel_logout_uri="https://evil.example/first")
        await by_boss(founder, "PATCH", "/services/shop", {"backchannel_logout_uri": "https://shop.example/out"})
        await change_service(founder, backchannel_logout_uri=EVIL)

        await founder.undo()

        assert service_of(founder, "backchannel_logout_uri") == "https://shop.example/out"

    async def test_an_address_that_an_admin_has_set_since_stays(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        await change_service(founder, backchannel_logout_uri=EVIL)
        await by_boss(founder, "PATCH", "/services/shop", {"backchannel_logout_uri": "https://shop.example/out"})

        await founder.undo()

        assert service_of(founder, "backchannel_logout_uri") == "https://shop.example/out"

    async def test_scopes_and_claims_are_those_of_before(self, founder: Intrusion, shop: Service) -> None:
        claims = [{"claim": name, "from": "organization.slug", "in_access_token": False} for name in ("one", "two")]
        read, write = ({"name": f"shop:{one}", "description": f"{one} the shop"} for one in ("read", "write"))
        roles = [{"name": one, "title": one} for one in ("editor", "viewer")]
        await by_boss(founder, "PATCH", "/services/shop", {"scopes": [read], "claims": claims[:1], "roles": roles})
        await founder.take_over()
        await change_service(
            founder,
            scopes=[read | {"description": "Nothing"}, write],
            machine_scopes=["shop:write"],
            claims=[claims[0] | {"in_access_token": True}, claims[1]],
            roles=[one | {"scopes": ["shop:read"]} for one in roles],
        )
        await by_boss(founder, "PATCH", "/services/shop", {"roles": [roles[0] | {"scopes": ["shop:read"]}, roles[1]]})

        await founder.undo()

        assert service_of(founder, "scopes") == [read]
        assert service_of(founder, "machine_scopes") == []
        assert service_of(founder, "claims") == claims[:1]
        assert [one.get("scopes", []) for one in service_of(founder, "roles")] == [[], []]

    async def test_a_new_service_leads_nowhere(self, founder: Intrusion) -> None:
        await founder.take_over()
        await founder.act(
            "POST", "/services", {"slug": "shop", "name": "Shop", "service_type": "web", "redirect_uris": [EVIL]}
        )

        await founder.undo()

        assert service_of(founder, "redirect_uris") == []

    async def test_what_a_key_of_the_service_set_falls_back(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        made = await founder.act("POST", "/services/shop/api-keys", {"name": "K", "permissions": ["write:service"]})
        founder.clock.advance(STEP)
        answer = await founder.world.client.patch(
            "/api/service/info", headers={"X-Api-Key": made.json["key"]}, body={"redirect_uris": [BACK, EVIL]}
        )
        assert answer.status == 200, answer.text

        await founder.undo()

        assert service_of(founder, "redirect_uris") == [BACK]

    async def test_a_name_stays_and_so_does_what_the_takeover_has_taken_away_again(
        self, founder: Intrusion, shop: Service
    ) -> None:
        await founder.take_over()
        await change_service(founder, name="Other")
        await change_service(founder, redirect_uris=[BACK, EVIL])
        await change_service(founder, redirect_uris=[BACK])

        await founder.undo()

        assert (service_of(founder, "name"), service_of(founder, "redirect_uris")) == ("Other", [BACK])

    async def test_what_has_been_deleted_since_is_passed_over(self, founder: Intrusion, shop: Service) -> None:
        world = founder.world
        world.serve_customers(shop, "editor")
        other = world.organization("other")
        world.member(other, world.user(OTHER), "owner")
        customer_id = world.customer(shop, other)
        world.connection.execute("UPDATE service_customers SET vendor_paused_at = now()")
        await founder.take_over()
        await change_service(founder, redirect_uris=[BACK, EVIL])
        await founder.act("POST", "/services/shop/saml", SAML)
        path = f"/services/shop/customers/{customer_id}"
        await founder.act("PATCH", path, {"paused": False, "external_id": "evil-1"})
        await give_role(founder, customer_id, other)
        world.connection.execute("DELETE FROM service_customers")
        world.connection.execute("DELETE FROM services")

        await founder.undo()

        assert founder.role() == "owner"


class TestSaml:
    """Assertions go where they went before."""

    async def test_addresses_come_back(self, founder: Intrusion, shop: Service) -> None:
        await by_boss(founder, "POST", "/services/shop/saml", SAML | {"slo_url": "https://sp.example/slo"})
        await founder.take_over()
        await founder.act("POST", "/services/shop/saml", SAML | {"acs_url": EVIL, "slo_url": EVIL})

        await founder.undo()

        rows = founder.world.rows("SELECT enabled, acs_url, slo_url FROM saml_configurations")
        assert rows == [(True, "https://sp.example/acs", "https://sp.example/slo")]

    async def test_where_the_address_of_before_is_not_known_it_is_off(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        await founder.act("POST", "/services/shop/saml", SAML)
        founder.world.connection.execute(
            "UPDATE audit_entries SET details = details - 'changes' WHERE action = 'saml.configuration_updated'"
        )

        await founder.undo()

        rows = founder.world.rows("SELECT enabled, entity_id, acs_url FROM saml_configurations")
        assert rows == [(False, None, None)]

    async def test_what_an_admin_has_set_since_stays(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        await founder.act("POST", "/services/shop/saml", SAML | {"acs_url": EVIL})
        await by_boss(founder, "POST", "/services/shop/saml", SAML | {"entity_id": "https://other.example"})
        founder.world.connection.execute("UPDATE saml_configurations SET enabled = false")

        await founder.undo()

        rows = founder.world.rows("SELECT enabled, entity_id, acs_url FROM saml_configurations")
        assert rows == [(False, "https://other.example", SAML["acs_url"])]


class TestCustomers:
    """Who was admitted is out, and what was shared is shared no more."""

    @pytest.fixture
    def evil(self, founder: Intrusion, shop: Service) -> UUID:
        founder.world.serve_customers(shop, "editor")
        evil = founder.world.organization("evil")
        founder.world.member(evil, founder.world.user("boss@evil.example"), "owner")
        return evil

    async def by_evil(self, one: Intrusion, method: str, path: str, body: Any) -> Answer:
        token = (await one.world.sign_in("boss@evil.example")).access_token
        answer = await one.world.client.request(method, f"/api/organizations/evil{path}", token=token, body=body)
        assert answer.status < 300, answer.text
        return answer

    async def test_a_customer_that_was_let_in_is_none_any_more(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        await founder.take_over()
        await founder.act("POST", "/services/shop/customers", {"organization": "evil"})
        await self.by_evil(founder, "POST", "/products", {"client_id": str(shop.client_id)})

        await founder.undo()

        assert founder.world.rows("SELECT id FROM service_customers") == []
        assert founder.world.audit_entries("customer.ended", "details ->> 'reason'") == [("email_change_undone",)]

    async def test_an_offer_is_withdrawn(self, founder: Intrusion, shop: Service, evil: UUID) -> None:
        await founder.take_over()
        await founder.act("POST", "/services/shop/customers", {"organization": "evil"})

        await founder.undo()

        assert founder.world.rows("SELECT id FROM service_customers") == []

    async def test_who_came_while_the_service_was_open_to_all_is_out(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        founder.world.connection.execute("UPDATE services SET customers = 'none', individuals = 'all'")
        await founder.take_over()
        await change_service(founder, customers="any")
        await self.by_evil(founder, "POST", "/products", {"client_id": str(shop.client_id)})

        await founder.undo()

        assert founder.world.rows("SELECT id FROM service_customers") == []
        assert service_of(founder, "customers") == "none"

    async def test_who_came_to_a_service_that_was_open_to_all_before_stays(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        founder.world.connection.execute("UPDATE services SET customers = 'any'")
        await founder.take_over()
        for policy in ("listed", "any"):
            await change_service(founder, customers=policy)
        await self.by_evil(founder, "POST", "/products", {"client_id": str(shop.client_id)})

        await founder.undo()

        assert founder.world.value("SELECT count(*) FROM service_customers") == 1
        assert service_of(founder, "customers") == "any"

    async def test_a_pause_that_was_lifted_is_there_again(self, founder: Intrusion, shop: Service, evil: UUID) -> None:
        customer_id = founder.world.customer(shop, evil)
        founder.world.connection.execute("UPDATE service_customers SET vendor_paused_at = now()")
        await founder.take_over()
        await founder.act("PATCH", f"/services/shop/customers/{customer_id}", {"paused": False})

        await founder.undo()

        assert founder.world.value("SELECT vendor_paused_at IS NOT NULL FROM service_customers") is True

    async def test_the_external_id_of_a_customer_and_roles_of_its_people_are_those_of_before(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        customer_id = founder.world.customer(shop, evil)
        founder.world.connection.execute("UPDATE service_customers SET external_id = 'crm-1'")
        await founder.take_over()
        path = f"/services/shop/customers/{customer_id}"
        for external_id in ("evil-1", "evil-2"):
            await founder.act("PATCH", path, {"external_id": external_id})
        await give_role(founder, customer_id, evil, "boss@evil.example")

        await founder.undo()

        assert founder.world.value("SELECT external_id FROM service_customers") == "crm-1"
        entries = founder.world.audit_entries("customer.user_changed", "details ->> 'own_roles'")
        assert entries == [('["editor"]',), ("[]",)]

    async def test_customers_of_others_keep_the_service_that_the_takeover_opened(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        founder.world.connection.execute("UPDATE services SET customers = 'none', individuals = 'all'")
        await founder.take_over()
        await change_service(founder, customers="listed")
        await by_boss(founder, "POST", "/services/shop/customers", {"organization": "evil"})
        await self.by_evil(founder, "POST", "/products", {"client_id": str(shop.client_id)})

        await founder.undo()

        assert service_of(founder, "customers") == "listed"
        assert founder.world.value("SELECT count(*) FROM service_customers") == 1

    async def test_a_pause_that_is_set_again_stays_and_so_does_an_external_id_whose_former_one_is_taken(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        customer_id = founder.world.customer(shop, evil)
        founder.world.connection.execute("UPDATE service_customers SET external_id = 'crm-1', vendor_paused_at = now()")
        await founder.take_over()
        path = f"/services/shop/customers/{customer_id}"
        await founder.act("PATCH", path, {"paused": False, "external_id": "evil-1"})
        await by_boss(founder, "PATCH", path, {"paused": True})
        founder.world.organization("third")
        await by_boss(founder, "POST", "/services/shop/customers", {"organization": "third", "external_id": "crm-1"})

        await founder.undo()

        rows = founder.world.rows("SELECT external_id, vendor_paused_at IS NULL FROM service_customers ORDER BY 1")
        assert rows == [("crm-1", True), ("evil-1", False)]

    async def test_roles_of_a_person_who_is_gone_and_entries_without_roles_are_passed_over(
        self, founder: Intrusion, shop: Service, evil: UUID
    ) -> None:
        customer_id = founder.world.customer(shop, evil)
        await founder.take_over()
        await give_role(founder, customer_id, evil, "boss@evil.example")
        founder.world.connection.execute("DELETE FROM customer_users")
        founder.world.connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success,
                                       details, created_at)
            VALUES (%s, %s, %s, 'customer.user_changed', 'user', %s, true, '{}', %s)
            """,
            (founder.world.new_id(), founder.acme, founder.victim.app.id, str(evil), founder.clock()),
        )

        await founder.undo()

        assert founder.role() == "owner"

    async def test_a_product_whose_pause_was_lifted_is_paused_again_and_names_no_groups(
        self, founder: Intrusion
    ) -> None:
        world = founder.world
        desk = world.service(world.organization("evil"), "desk")
        world.serve_customers(desk, "editor")
        world.customer(desk, founder.acme)
        world.connection.execute("UPDATE service_customers SET customer_paused_at = now()")
        group_id = group_of(founder)
        await founder.take_over()
        path = f"/products/{desk.client_id}"
        await founder.act("PATCH", path, {"paused": False})
        await founder.act("PATCH", path, {"groups": [str(group_id)]})

        await founder.undo()

        assert world.rows("SELECT customer_paused_at IS NULL, groups FROM service_customers") == [(False, [])]

    async def test_of_a_product_whose_pause_was_lifted_nothing_else_changes(self, founder: Intrusion) -> None:
        world = founder.world
        desk = world.service(world.organization("evil"), "desk")
        world.serve_customers(desk, "editor")
        world.customer(desk, founder.acme)
        world.connection.execute("UPDATE service_customers SET customer_paused_at = now()")
        await founder.take_over()
        path = f"/products/{desk.client_id}"
        await founder.act("PATCH", path, {"paused": False})
        await by_boss(founder, "PATCH", path, {"paused": True})

        await founder.undo()

        assert world.value("SELECT customer_paused_at IS NULL FROM service_customers") is False

    async def test_a_closed_service_is_closed_again_and_its_assignments_are_those_of_before(
        self, founder: Intrusion, shop: Service
    ) -> None:
        roles = [{"name": name, "title": name.title()} for name in ("editor", "reader")]
        kept = [{"subject": "role:admin", "roles": ["editor"]}, {"subject": "role:member", "roles": ["reader"]}]
        await by_boss(founder, "PATCH", "/services/shop", {"roles": roles, "access": "assigned", "assignments": kept})
        await founder.take_over()
        both = [{"subject": "role:member", "roles": ["editor", "reader"]}, {"subject": "everyone", "roles": ["editor"]}]
        await founder.act("PATCH", "/services/shop", {"access": "everyone", "assignments": both})

        await founder.undo()

        assert founder.world.value("SELECT access FROM services WHERE id = %s", shop.id) == "assigned"
        # What was removed stays removed; what was replaced is as before.
        assert founder.world.rows("SELECT role, cardinality(role_ids) FROM service_assignments") == [("member", 1)]

    async def test_assignments_that_others_have_taken_back_already_are_left(
        self, founder: Intrusion, shop: Service
    ) -> None:
        await founder.take_over()
        await founder.act("PATCH", "/services/shop", {"assignments": [{"subject": "everyone", "roles": []}]})
        await by_boss(founder, "PATCH", "/services/shop", {"assignments": []})

        await founder.undo()

        assert founder.world.rows("SELECT subject FROM service_assignments") == []

    async def test_assignments_of_a_service_that_is_gone_or_whose_roles_are_gone_are_passed_over(
        self, founder: Intrusion, shop: Service
    ) -> None:
        roles = [{"name": name, "title": name.title()} for name in ("editor", "reader")]
        kept = [{"subject": "role:member", "roles": ["reader"]}]
        await by_boss(founder, "PATCH", "/services/shop", {"roles": roles, "access": "assigned", "assignments": kept})
        await founder.take_over()
        both = [{"subject": "role:member", "roles": ["editor", "reader"]}]
        await founder.act("PATCH", "/services/shop", {"assignments": both})
        await founder.act("PATCH", "/services/shop", {"roles": roles[:1]})
        wiki = {"slug": "wiki", "name": "Wiki", "service_type": "web", "access": "members"}
        await founder.act("POST", "/services", wiki)
        await founder.act("DELETE", "/services/wiki")

        await founder.undo()

        assert founder.world.rows("SELECT subject FROM service_assignments") == []

    async def test_a_product_that_has_ended_since_is_passed_over(self, founder: Intrusion) -> None:
        world = founder.world
        desk = world.service(world.organization("evil"), "desk")
        world.serve_customers(desk, "editor")
        world.customer(desk, founder.acme)
        await founder.take_over()
        await founder.act("PATCH", f"/products/{desk.client_id}", {"shares_directory": True})
        world.connection.execute("DELETE FROM service_customers")

        await founder.undo()

        assert founder.role() == "owner"

    async def test_a_product_that_was_begun_ends(self, founder: Intrusion) -> None:
        evil = founder.world.organization("evil")
        desk = founder.world.service(evil, "desk")
        founder.world.serve_customers(desk, "editor")
        founder.world.connection.execute("UPDATE services SET customers = 'any' WHERE slug = 'desk'")
        await founder.take_over()
        await founder.act("POST", "/products", {"client_id": str(desk.client_id)})

        await founder.undo()

        assert founder.world.rows("SELECT id FROM service_customers") == []

    async def test_a_directory_that_was_shared_is_not_shared_any_more(self, founder: Intrusion) -> None:
        evil = founder.world.organization("evil")
        desk = founder.world.service(evil, "desk")
        founder.world.serve_customers(desk, "editor")
        founder.world.customer(desk, founder.acme)
        founder.world.connection.execute("UPDATE service_customers SET access = 'assigned'")
        await founder.take_over()
        changes = {
            "shares_directory": True,
            "access": "members",
            "assignments": [{"subject": "role:member", "roles": ["editor"]}],
        }
        await founder.act("PATCH", f"/products/{desk.client_id}", changes)

        await founder.undo()

        assert founder.world.rows("SELECT shares_directory, access FROM service_customers") == [(False, "assigned")]
        assert founder.world.rows("SELECT subject FROM customer_assignments") == []


class TestCredentials:
    """What keys, tokens and links of the takeover did is taken back like what the person did."""

    async def test_whom_a_directory_token_put_into_a_group_is_out_of_it(self, founder: Intrusion) -> None:
        [insider] = people(founder, INSIDER)
        admins = group_of(founder)
        await by_boss(
            founder, "PUT", "/group-rules", {"rules": [{"source": "scim", "group": str(admins), "role": "admin"}]}
        )
        await founder.take_over()
        await directory(founder)
        await scim(
            founder,
            "PATCH",
            f"/Groups/{admins}",
            {
                "schemas": [PATCH],
                "Operations": [{"op": "add", "path": "members", "value": [{"value": str(insider)}]}],
            },
        )
        assert founder.members()[INSIDER] == ("admin", True)

        await founder.undo()

        assert founder.members()[INSIDER] == ("member", True)
        assert founder.world.rows("SELECT user_id FROM directory_group_members") == []

    async def test_whom_a_directory_token_took_out_is_in_again(self, founder: Intrusion) -> None:
        insider, other = people(founder, INSIDER, OTHER)
        admins = group_of(founder, insider, other)
        await founder.take_over()
        await directory(founder)
        await scim(
            founder,
            "PUT",
            f"/Groups/{admins}",
            GROUP | {"members": [{"value": str(founder.victim.app.id)}]},
        )
        # A token that is revoked leaves what it did as it is.
        token_id = founder.world.value("SELECT id FROM scim_tokens")
        await founder.act("DELETE", f"/scim-tokens/{token_id}")

        await founder.undo()

        assert {row[0] for row in founder.world.rows("SELECT user_id FROM directory_group_members")} == {insider, other}

    async def test_whose_place_a_directory_token_made_worth_more_has_the_one_of_before(
        self, founder: Intrusion
    ) -> None:
        [insider] = people(founder, INSIDER)
        admins = group_of(founder, insider)
        founder.world.connection.execute("UPDATE directory_authorities SET maker_role = 'member'")
        await by_boss(
            founder, "PUT", "/group-rules", {"rules": [{"source": "scim", "group": str(admins), "role": "admin"}]}
        )
        await founder.take_over()
        await directory(founder)
        await scim(founder, "PUT", f"/Groups/{admins}", GROUP | {"members": [{"value": str(insider)}]})
        assert founder.members()[INSIDER] == ("admin", True)

        await founder.undo()

        assert founder.members()[INSIDER] == ("member", True)
        rows = founder.world.rows(
            "SELECT a.maker_role FROM directory_group_members m JOIN directory_authorities a ON a.id = m.authority_id"
        )
        assert rows == [("member",)]

    async def test_what_a_directory_of_before_says_meanwhile_holds(self, founder: Intrusion) -> None:
        insider, other, third = people(founder, INSIDER, OTHER, "third@example.com")
        admins = group_of(founder, insider)
        await directory(founder)
        honest = founder.directory_token
        founder.world.connection.execute("UPDATE scim_tokens SET created_at = created_at - interval '9 days'")
        await founder.take_over()
        await directory(founder)
        evil = founder.directory_token
        steps = [
            (evil, "remove", insider),
            (honest, "add", insider),
            (honest, "remove", insider),
            (evil, "add", other),
            (honest, "add", other),
            (evil, "add", third),
        ]
        for token, op, user_id in steps:
            founder.directory_token = token
            change = {"op": op, "path": "members", "value": [{"value": str(user_id)}]}
            await scim(founder, "PATCH", f"/Groups/{admins}", {"schemas": [PATCH], "Operations": [change]})

        await founder.undo()

        assert founder.world.rows("SELECT user_id FROM directory_group_members") == [(other,)]
        assert founder.world.rows("SELECT number FROM recent_acts") == []

    async def test_a_token_that_was_there_before_leaves_what_it_did(self, founder: Intrusion) -> None:
        [insider] = people(founder, INSIDER)
        admins = group_of(founder)
        await directory(founder)
        await founder.take_over()
        await scim(
            founder,
            "PUT",
            f"/Groups/{admins}",
            GROUP | {"members": [{"value": str(insider)}]},
        )

        await founder.undo()

        assert founder.world.rows("SELECT user_id FROM directory_group_members") == [(insider,)]

    async def test_end_users_whom_a_key_added_are_none_any_more(self, founder: Intrusion, shop: Service) -> None:
        await founder.take_over()
        made = await founder.act("POST", "/services/shop/api-keys", {"name": "K", "permissions": ["write:users"]})
        founder.clock.advance(STEP)
        answer = await founder.world.client.post(
            "/api/service/users", headers={"X-Api-Key": made.json["key"]}, body={"email": "end@evil.example"}
        )
        assert answer.status < 300, answer.text

        await founder.undo()

        assert founder.world.rows("SELECT user_id FROM service_users WHERE origin = 'key'") == []

    async def test_what_a_token_by_a_setup_link_did_is_taken_back(self, founder: Intrusion) -> None:
        [insider], visitor = people(founder, INSIDER), Visitor(founder.world.client)
        admins = group_of(founder)
        await founder.take_over()
        body = {"parts": ["scim", "groups"], "roles": ["admin"], "expires_in_days": 7}
        made = await founder.act("POST", "/setup-links", body)
        path = made.json["url"].removeprefix("http://localhost:8000")
        founder.clock.advance(STEP)
        await visitor.submit(await visitor.open(path), path)
        page = await visitor.submit(await visitor.open(SETUP), SETUP)
        [founder.directory_token] = set(re.findall(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", page.text))
        WATCH.add(founder.directory_token)
        await scim(founder, "PUT", f"/Groups/{admins}", GROUP | {"members": [{"value": str(insider)}]})

        await founder.undo()

        assert founder.world.rows("SELECT id FROM setup_links") == []
        assert founder.world.rows("SELECT id FROM scim_tokens") == []
        assert founder.world.rows("SELECT user_id FROM directory_group_members") == []

    async def test_what_a_workload_on_the_key_of_an_honest_member_did_is_taken_back(
        self, founder: Intrusion, shop: Service
    ) -> None:
        world = founder.world
        boss = world.user(BOSS)
        world.member(founder.acme, boss, "admin")
        permissions = (Capability.SERVICES_VIEW, Capability.SERVICES_MANAGE, Capability.WEBHOOKS_MANAGE)
        key_id = insert_organization_key(world, founder.acme, boss, KEY_OF_BOSS, permissions=permissions)
        await founder.take_over()
        with running_issuer() as issuer:
            workload = {"name": "Job", "issuer": issuer.url, "match": {"sub": "job-1"}}
            await founder.act("POST", f"/keys/{key_id}/workloads", workload)
            answer = await ask(world, f"key:{key_id}", issuer.token(world))
            token = answer.json["access_token"]
            await founder.act("PATCH", "/services/shop", {"redirect_uris": [BACK, EVIL]}, token=token)
            await founder.act("POST", "/webhooks", WEBHOOK, token=token)
            await founder.act("POST", "/services/shop/workloads", workload, token=token)
        founder.clock.advance(STEP)
        honest = await world.client.patch(
            "/api/organizations/acme/services/shop",
            headers={"X-Api-Key": KEY_OF_BOSS},
            body={"redirect_uris": [BACK, EVIL, "https://new.example/back"]},
        )
        assert honest.status == 200, honest.text

        await founder.undo()

        assert service_of(founder, "redirect_uris") == [BACK, "https://new.example/back"]
        assert world.value("SELECT count(*) FROM webhooks WHERE is_active") == 0
        assert world.value("SELECT count(*) FROM workloads") == 0
        assert world.value("SELECT count(*) FROM organization_keys") == 1

    async def test_a_member_whom_a_token_let_in_again_is_suspended_again(self, founder: Intrusion) -> None:
        [insider] = people(founder, INSIDER)
        founder.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (insider,))
        await founder.take_over()
        await directory(founder)
        change = {"op": "replace", "path": "active", "value": True}
        await scim(founder, "PATCH", f"/Users/{insider}", {"schemas": [PATCH], "Operations": [change]})
        assert founder.members()[INSIDER] == ("member", True)

        await founder.undo()

        assert founder.members()[INSIDER] == ("member", False)

    async def test_a_member_whom_a_token_has_only_turned_off_and_on_keeps_what_they_made(
        self, founder: Intrusion
    ) -> None:
        await by_boss(founder, "POST", "/webhooks", WEBHOOK | {"name": "Before"})
        await founder.take_over()
        await directory(founder)
        await by_boss(founder, "POST", "/webhooks", WEBHOOK)
        for is_active in (False, True):
            change = {"op": "replace", "path": "active", "value": is_active}
            path = f"/Users/{founder.world.user_id(BOSS)}"
            await scim(founder, "PATCH", path, {"schemas": [PATCH], "Operations": [change]})

        await founder.undo()

        assert founder.members()[BOSS] == ("admin", True)
        assert founder.world.value("SELECT bool_and(is_active) FROM webhooks") is True

    async def test_whom_a_member_invited_whom_a_token_let_in_again_has_no_access(self, founder: Intrusion) -> None:
        insider = founder.world.user(INSIDER)
        founder.world.member(founder.acme, insider, "admin")
        theirs = (await founder.world.sign_in(INSIDER)).access_token
        founder.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (insider,))
        await founder.take_over()
        await directory(founder)
        change = {"op": "replace", "path": "active", "value": True}
        await scim(founder, "PATCH", f"/Users/{insider}", {"schemas": [PATCH], "Operations": [change]})
        await founder.befriend("member", token=theirs)

        await founder.undo()

        assert founder.members()[INSIDER] == ("admin", False)
        assert founder.members()[FRIEND] == ("member", False)


async def test_the_own_client_at_a_provider_goes(founder: Intrusion) -> None:
    client = {"client_id": "acme", "client_secret": "the-secret-of-acme"}
    await by_boss(founder, "PUT", "/oauth-credentials/websuite", client)
    await founder.take_over()
    await founder.act("PUT", "/oauth-credentials/codehost", {"client_id": "evil", "client_secret": "the-evil-secret"})

    await founder.undo()

    assert founder.world.rows("SELECT provider, client_id FROM oauth_credentials") == [("websuite", "acme")]


async def test_what_goes_on_is_listed_with_the_place_where_it_ends(founder: Intrusion) -> None:
    await founder.take_over()
    await founder.act("PUT", "/domain", {"domain": "login.acme.example"})

    await founder.undo()

    [mail] = [one for one in await founder.world.mails() if one.template == "takeover_undone"]
    assert "domain.set" in mail.values["changed"]
    assert "(/app/organizations/acme/domain)" in mail.values["changed"]
    assert founder.members() == {EMAIL: ("owner", True)}
