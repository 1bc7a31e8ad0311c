"""Explaining sign-ins for a customer of a service, to its vendor, to the customer and to the platform."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.platform.sign_in_checks import SignInWay
from tests.application import Answer
from tests.world.builder import EMAIL, Service
from tests.world.explaining import logged_reason
from tests.world.signing_in import claims_of
from tests.world.support import SupportDesk
from tests.world.team import Team
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "vendor", "service_slug": "shop"}
UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
STRANGER = "stranger@example.com"
OF_ACCOUNT = {"failures", "credential", "mail_limit", "activated", "reopening", "address_verified", "second_factor"}


@pytest.fixture
def vendor(world: World) -> Team:
    """The vendor of a service, with its owner."""
    team = world.team("vendor")
    team.add("seller", "owner")
    return team


@pytest.fixture
def shop(world: World, vendor: Team) -> Service:
    """The service, which organizations use."""
    service = world.service(vendor.organization_id, "shop")
    world.serve_customers(service, "editor")
    return service


@pytest.fixture
def globex(world: World, shop: Service) -> Team:
    """An organization with its owner and a member."""
    team = world.team("globex")
    team.add("head", "owner")
    world.member(team.organization_id, world.user(EMAIL))
    return team


@pytest.fixture
def customer_id(world: World, shop: Service, globex: Team) -> UUID:
    """The organization as a customer of the service, for which its member has not signed in."""
    return world.customer(shop, globex.organization_id)


async def _ask(team: Team, by: str, email: str = EMAIL, **query: object) -> Answer:
    fields = "&".join(f"{name}={value}" for name, value in {"email": email, **query}.items())
    return await team.request(by, "GET", f"/why?{fields}")


async def _ask_vendor(vendor: Team, customer: object, email: str = EMAIL, **query: object) -> Answer:
    return await _ask(vendor, "seller", email, service="shop", customer=customer, **query)


async def _ask_customer(globex: Team, shop: Service, email: str = EMAIL, **query: object) -> Answer:
    return await _ask(globex, "head", email, product=shop.client_id, **query)


async def _visit(world: World) -> Answer:
    return await world.log_in(EMAIL, **AT_SHOP, customer="globex")


def _verdicts(answer: Answer, way: str = "password") -> dict[str, str]:
    assert answer.status == 200, answer.text
    [walked] = [one for one in answer.json["ways"] if one["way"] == way]
    return {one["rule"]: one["verdict"] for one in walked["rules"]}


def _refused_by(answer: Answer, way: str = "password") -> str | None:
    assert answer.status == 200, answer.text
    [walked] = [one for one in answer.json["ways"] if one["way"] == way]
    return walked["refused_by"]


class TestPlatform:
    """The platform reads everything."""

    async def _ask(self, desk: SupportDesk, customer: object, **query: object) -> Answer:
        query = {"email": EMAIL, "organization": "vendor", "service": "shop", "customer": customer} | query
        fields = "&".join(f"{name}={value}" for name, value in query.items())
        return await desk.request("GET", f"/api/platform/why?{fields}")

    async def test_both_halves_are_told(
        self, world: World, desk: SupportDesk, shop: Service, customer_id: UUID
    ) -> None:
        told = await self._ask(desk, "globex")
        by_id = await self._ask(desk, customer_id)

        assert told.json == by_id.json
        assert _refused_by(told) is None
        assert told.json["customer"] == {
            "customer_id": str(customer_id),
            "slug": "globex",
            "name": "Globex",
            "state": "active",
            "paused_by": [],
            "has_signed_in": False,
            "membership": "confirmed",
            "is_assigned": True,
        }
        assert (await _visit(world)).status == 200
        assert (await self._ask(desk, "globex")).json["customer"]["has_signed_in"] is True

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ("UPDATE service_customers SET vendor_paused_at = now()", {"paused_by": ["vendor"], "state": "paused"}),
            (
                "UPDATE service_customers SET vendor_paused_at = now(), customer_paused_at = now()",
                {"paused_by": ["vendor", "customer"]},
            ),
            ("UPDATE service_customers SET access = 'assigned'", {"is_assigned": False, "membership": "confirmed"}),
            (
                "UPDATE memberships SET suspended_at = now() WHERE role = 'member'",
                {"membership": "suspended", "is_assigned": True},
            ),
            ("DELETE FROM memberships WHERE role = 'member'", {"membership": "none", "is_assigned": False}),
            ("UPDATE organizations SET status = 'suspended' WHERE slug = 'globex'", {"state": "active"}),
        ],
    )
    async def test_what_closes_it_is_named_as_the_sign_in_is_refused(
        self, world: World, desk: SupportDesk, customer_id: UUID, change: str, expected: dict[str, Any]
    ) -> None:
        world.connection.execute(change.encode())

        told = await self._ask(desk, customer_id)
        refused = await _visit(world)

        assert expected.items() <= told.json["customer"].items()
        assert _refused_by(told) == "customer"
        assert_refused(refused, 403, "FORBIDDEN")
        assert logged_reason() == "customer_closed"

    async def test_the_owner_of_a_customer_stays_its_owner_when_they_prove_the_address(
        self, world: World, desk: SupportDesk, vendor: Team, customer_id: UUID
    ) -> None:
        world.connection.execute("UPDATE memberships SET role = 'admin' WHERE role = 'owner'")
        world.connection.execute("UPDATE memberships SET role = 'owner' WHERE role = 'member'")
        assert (await _visit(world)).status == 200
        world.member(vendor.organization_id, world.user_id(EMAIL), is_confirmed=False)
        world.connection.execute("UPDATE users SET changed_by_service_at = now() WHERE email = %s", (EMAIL,))

        told = await desk.request("GET", f"/api/platform/why?email={EMAIL}&organization=vendor&service=shop")
        await world.mails()
        await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **AT_SHOP})
        token = (await world.mail()).values["token"]
        signed_in = await world.client.post("/api/auth/magic-link/verify", body={"token": token, **AT_SHOP})

        assert _refused_by(told, "link") is None
        assert claims_of(signed_in.json["access_token"])["customer"] == "globex"

    async def test_an_unconfirmed_membership_is_named(self, world: World, desk: SupportDesk, customer_id: UUID) -> None:
        world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")

        told = await self._ask(desk, customer_id)

        assert (_refused_by(told), told.json["customer"]["membership"]) == (None, "unconfirmed")

    @pytest.mark.parametrize("customer", ["nowhere", UNKNOWN, "vendor"])
    async def test_an_unknown_customer_refuses(self, desk: SupportDesk, customer_id: UUID, customer: str) -> None:
        told = await self._ask(desk, customer)

        assert (_refused_by(told), told.json["customer"]) == ("customer", None)

    async def test_a_customer_takes_its_service(self, desk: SupportDesk, customer_id: UUID) -> None:
        answer = await desk.request("GET", f"/api/platform/why?email={EMAIL}&organization=vendor&customer=globex")

        assert_refused(answer, 400, "BAD_REQUEST")
        assert [one["field"] for one in answer.json["details"]] == ["service"]

    async def test_to_come_alone_is_a_question_of_its_own(
        self, world: World, desk: SupportDesk, customer_id: UUID
    ) -> None:
        told = await self._ask(desk, "")

        assert (_refused_by(told), told.json["customer"]) == ("customer", None)

    async def test_the_enforcement_and_the_connection_are_those_of_the_customer(
        self, world: World, desk: SupportDesk, globex: Team, customer_id: UUID
    ) -> None:
        connection_id = _enforce(world, globex)
        # It exempts its owner at home, and not here.
        world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (globex.ids["head"],))
        world.connection.execute("UPDATE memberships SET role = 'owner' WHERE role = 'member'")

        told = await self._ask(desk, customer_id)
        refused = await _visit(world)

        assert _refused_by(told) == "single_sign_on"
        assert_refused(refused, 403, "SSO_REQUIRED")
        [walked] = [one for one in told.json["ways"] if one["way"] == SignInWay.CONNECTION]
        assert (walked["connection"]["id"], walked["refused_by"]) == (str(connection_id), None)


class TestVendor:
    """The vendor reads about people who have signed in for the customer, and whose records it may see."""

    @pytest.mark.parametrize("state", ["open", "paused", "assigned", "mfa"])
    async def test_a_person_whom_it_may_not_see_is_as_unknown(
        self, world: World, vendor: Team, globex: Team, customer_id: UUID, state: str
    ) -> None:
        changes = {
            "open": "SELECT",
            "paused": "UPDATE service_customers SET customer_paused_at = now()",
            "assigned": "UPDATE service_customers SET access = 'assigned', shares_directory = true",
            "mfa": "UPDATE organizations SET mfa_required = true WHERE slug = 'globex'",
        }
        world.connection.execute(changes[state].encode())
        world.user(STRANGER)

        asked = [
            await _ask_vendor(vendor, customer, email)
            for customer in (customer_id, "globex", "nowhere", UNKNOWN)
            for email in (EMAIL, STRANGER, "nobody@example.com")
        ]

        assert asked[0].json["account"] is None
        assert all(one.json == asked[0].json for one in asked)
        assert _refused_by(asked[0]) == "account"

    async def test_a_person_who_has_signed_in_is_told_as_far_as_the_vendor_goes(
        self, world: World, vendor: Team, customer_id: UUID
    ) -> None:
        world.connection.execute("UPDATE users SET mfa_enabled_at = NULL")
        assert (await _visit(world)).status == 200

        told = await _ask_vendor(vendor, customer_id)

        assert told.json["account"] == {"id": str(world.user_id(EMAIL)), "email": EMAIL, "is_told": False}
        verdicts = _verdicts(told)
        assert verdicts["customer"] == "passes"
        assert {verdicts[rule] for rule in (*OF_ACCOUNT & verdicts.keys(), "single_sign_on")} == {"not_told"}
        assert verdicts["required_second_factor"] == "not_told"
        assert {one["way"] for one in told.json["ways"]} == {"password", "link", "passkey"}
        assert told.json["customer"] == {
            "customer_id": str(customer_id),
            "slug": "globex",
            "name": "Globex",
            "state": "active",
            "paused_by": [],
            "has_signed_in": True,
            "membership": None,
            "is_assigned": None,
        }
        assert (told.json["attempts"], told.json["role"], told.json["problems"]) == ([], None, [])

    async def test_the_rules_of_the_customer_do_not_change_the_answer(
        self, world: World, vendor: Team, globex: Team, customer_id: UUID
    ) -> None:
        assert (await _visit(world)).status == 200
        before = await _ask_vendor(vendor, customer_id)

        _enforce(world, globex)
        world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'globex'")
        after = await _ask_vendor(vendor, customer_id)

        assert after.json == before.json

    async def test_that_it_does_not_let_the_person_in_is_told_without_why(
        self, world: World, vendor: Team, customer_id: UUID
    ) -> None:
        assert (await _visit(world)).status == 200
        told = []
        for change in (
            "UPDATE service_customers SET access = 'assigned'",
            "UPDATE memberships SET suspended_at = now() WHERE role = 'member'",
        ):
            world.connection.execute(change.encode())
            told.append(await _ask_vendor(vendor, customer_id))

        assert {_refused_by(one) for one in told} == {"customer"}
        assert told[0].json == told[1].json

    async def test_a_person_whose_membership_is_unconfirmed_again_is_as_unknown(
        self, world: World, vendor: Team, customer_id: UUID
    ) -> None:
        assert (await _visit(world)).status == 200
        world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")

        told = await _ask_vendor(vendor, customer_id)

        assert (told.json["account"], told.json["customer"]) == (None, None)

    async def test_a_directory_that_is_shown_shows_confirmed_people_who_may(
        self, world: World, vendor: Team, customer_id: UUID
    ) -> None:
        world.connection.execute("UPDATE service_customers SET shares_directory = true")

        confirmed = await _ask_vendor(vendor, customer_id)
        world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")
        unconfirmed = await _ask_vendor(vendor, customer_id)

        assert confirmed.json["account"]["is_told"] is False
        assert confirmed.json["customer"]["has_signed_in"] is False
        assert unconfirmed.json["account"] is None

    async def test_without_a_customer_it_learns_nothing_of_customers(
        self, world: World, vendor: Team, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        _enforce(world, globex, domain="elsewhere.example")
        world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'globex'")
        world.connection.execute("UPDATE services SET individuals = 'others'")
        other = world.user(STRANGER)
        for user_id in (other, world.user_id(EMAIL)):
            world.link(vendor.organization_id, shop.id, user_id)

        of_member = await _ask(vendor, "seller", EMAIL, service="shop")
        of_stranger = await _ask(vendor, "seller", STRANGER, service="shop")

        assert of_member.json["account"] is not None
        assert of_member.json["ways"] == of_stranger.json["ways"]
        assert _verdicts(of_member)["customer"] == "not_told"

    async def test_an_own_user_is_unknown_for_a_customer_that_does_not_show_them(
        self, world: World, vendor: Team, shop: Service, customer_id: UUID
    ) -> None:
        world.link(vendor.organization_id, shop.id, world.user_id(EMAIL))

        told = await _ask_vendor(vendor, customer_id)

        assert (told.json["account"], told.json["customer"]) == (None, None)

    async def test_another_vendor_is_told_nothing(
        self, world: World, vendor: Team, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        assert (await _visit(world)).status == 200
        rival = world.team("rival")
        rival.add("peddler", "owner")
        world.serve_customers(world.service(rival.organization_id, "shop"))
        world.service(vendor.organization_id, "desk")

        told = [
            await _ask(rival, "peddler", service="shop", customer=customer_id),
            await _ask(rival, "peddler", service="shop", customer="globex"),
            await _ask(vendor, "seller", service="desk", customer=customer_id),
            await _ask(vendor, "seller", service="nothing", customer=customer_id),
        ]

        assert {str(one.json["account"]) for one in told} == {"None"}
        assert_refused(await _ask(vendor, "seller", customer=customer_id), 400, "BAD_REQUEST")


class TestCustomer:
    """The customer reads about its own members, and its own half."""

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ("SELECT", None),
            ("UPDATE service_customers SET vendor_paused_at = now()", "customer"),
            ("UPDATE service_customers SET access = 'assigned'", "customer"),
            ("UPDATE memberships SET suspended_at = now() WHERE role = 'member'", "customer"),
            ("UPDATE organizations SET mfa_required = true WHERE slug = 'globex'", "required_second_factor"),
            ("UPDATE services SET security_profile = NULL, individuals = 'none'", None),
        ],
    )
    async def test_it_reads_its_own_rules_as_they_refuse(
        self, world: World, shop: Service, globex: Team, customer_id: UUID, change: str, expected: str | None
    ) -> None:
        head = await globex.token("head")
        # With a second factor, so that the head may go on where the organization requires one.
        world.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")
        world.connection.execute(change.encode())

        told = await world.client.get(
            f"/api/organizations/globex/why?email={EMAIL}&product={shop.client_id}", token=head
        )
        visited = await _visit(world)

        assert told.json["account"] == {"id": str(world.user_id(EMAIL)), "email": EMAIL, "is_told": True}
        assert _refused_by(told) == expected
        assert visited.status == (403 if expected else 200), visited.text
        assert told.json["customer"]["customer_id"] == str(customer_id)

    async def test_each_fact_of_its_half_is_told(
        self, world: World, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        world.connection.execute("UPDATE service_customers SET vendor_paused_at = now(), access = 'assigned'")
        world.assign(customer_id, f"user:{world.user_id(EMAIL)}", "editor")

        told = await _ask_customer(globex, shop)

        assert told.json["customer"] == {
            "customer_id": str(customer_id),
            "slug": "globex",
            "name": "Globex",
            "state": "paused",
            "paused_by": ["vendor"],
            "has_signed_in": False,
            "membership": "confirmed",
            "is_assigned": True,
        }
        assert told.json["role"]["role"] == "member"

    async def test_its_enforcement_names_its_connection(
        self, world: World, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        connection_id = _enforce(world, globex)

        told = await _ask_customer(globex, shop)

        assert _refused_by(told) == "single_sign_on"
        [walked] = [one for one in told.json["ways"] if one["way"] == "password"]
        [rule] = [one for one in walked["rules"] if one["rule"] == "single_sign_on"]
        assert rule["required"]["id"] == str(connection_id)
        assert _refused_by(told, "connection") is None

    async def test_what_its_member_is_to_the_vendor_or_to_others_changes_nothing(
        self, world: World, vendor: Team, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        before = await _ask_customer(globex, shop)

        user_id = world.user_id(EMAIL)
        world.member(vendor.organization_id, user_id)
        world.connection.execute(
            "UPDATE memberships SET suspended_at = now() WHERE organization_id = %s AND user_id = %s",
            (vendor.organization_id, user_id),
        )
        world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'vendor'")
        other = world.organization("other")
        world.member(other, user_id)
        world.customer(shop, other, paused_by=["customer"])
        after = await _ask_customer(globex, shop)

        assert after.json == before.json
        assert _verdicts(after)["not_suspended"] == _verdicts(after)["security_profile"] == "not_told"

    async def test_what_the_vendor_has_given_its_member_changes_nothing_for_a_password(
        self, world: World, vendor: Team, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        world.connection.execute(
            "UPDATE users SET changed_by_service_at = now(), mfa_enabled_at = now() WHERE email = %s", (EMAIL,)
        )
        before = await _ask_customer(globex, shop)

        world.member(vendor.organization_id, world.user_id(EMAIL), is_confirmed=False)
        after = await _ask_customer(globex, shop)

        assert _verdicts(after) == _verdicts(before)
        assert (_verdicts(after)["address_owned"], _verdicts(after)["second_factor"]) == ("not_told", "asks")

    async def test_what_concerns_an_account_alone_waits_for_a_confirmed_membership(
        self, world: World, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")

        told = await _ask_customer(globex, shop)

        assert told.json["account"]["is_told"] is False
        verdicts = _verdicts(told)
        assert {verdicts[rule] for rule in OF_ACCOUNT & verdicts.keys()} == {"not_told"}
        assert verdicts["customer"] == "passes"

    async def test_who_is_no_member_is_as_unknown(
        self, world: World, vendor: Team, shop: Service, globex: Team, customer_id: UUID
    ) -> None:
        visitor = world.user(STRANGER)
        other = world.organization("other")
        world.member(other, visitor)
        world.customer(shop, other)
        own = world.service(globex.organization_id, "own")
        world.link(globex.organization_id, own.id, world.user("buyer@example.com"))
        assert (await world.log_in(STRANGER, **AT_SHOP, customer="other")).status == 200

        told = [
            await _ask_customer(globex, shop, email)
            for email in ("nobody@example.com", STRANGER, "seller@example.com", "buyer@example.com")
        ]

        assert told[0].json["account"] is None
        assert all(one.json == told[0].json for one in told)

    async def test_a_product_that_it_does_not_use_is_unknown(
        self, world: World, vendor: Team, shop: Service, globex: Team
    ) -> None:
        foreign = world.service(vendor.organization_id, "desk")
        world.customer(foreign, world.organization("other"))

        unknown = [await _ask(globex, "head", product=one) for one in (UNKNOWN, shop.client_id, foreign.client_id)]
        both = await _ask(globex, "head", product=shop.client_id, service="shop")
        offer = {"organization": "globex"}
        assert (await vendor.request("seller", "POST", "/services/shop/customers", body=offer)).status == 200
        offered = await _ask(globex, "head", product=shop.client_id)

        for answer in unknown:
            assert_refused(answer, 404, "NOT_FOUND")
        assert_refused(both, 400, "BAD_REQUEST")
        assert_refused(offered, 400, "BAD_REQUEST")


def _enforce(world: World, team: Team, domain: str = "example.com") -> UUID:
    """Let an organization require its connection of a mail domain; return the connection."""
    world.mail_domain(team.organization_id, domain)
    world.connection.execute("UPDATE domain_routes SET enforced = true WHERE domain = %s", (domain,))
    return world.value(
        """
        UPDATE upstream_connections
        SET    enabled = true, issuer = 'https://login.example.com'
        WHERE  organization_id = %s
        RETURNING id
        """,
        team.organization_id,
    )
