"""The authorization matrix of one service for many customers: the people of both sides call every route of both.

`vendor` has the service `shop`, which `globex` and `initech` use. A person who belongs to both customers comes for one
of them with each session; the admins of each organization belong to no other; the vendor's program has a key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import pytest

from core.errors import ErrorCode
from entrypoints import capabilities
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.application import Answer
from tests.sampling import drawn_of_each
from tests.world.backend import insert_key
from tests.world.builder import Service
from tests.world.world import World

VENDOR, GLOBEX, INITECH = "vendor", "globex", "initech"
IN_BOTH, ONLY_LISTED = "both@example.com", "quiet@globex.example"
KEY = f"sk_vendor_{'v' * 43}"
# The customers for which a user has signed in, to switch among them.
SWITCHER = "/api/user/customers"
UNKNOWN_ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
SLUGS = ("org_slug", "slug")

ROUTES = sorted(capabilities.routes(is_development=True), key=lambda route: route.name)
SIGNED_IN = [route for route in ROUTES if route.who.kind is CredentialKind.ACCESS_TOKEN]
IN_ORGANIZATION = [route for route in SIGNED_IN if route.who.operation is not None]
GOVERNING_PLATFORM = [route for route in SIGNED_IN if route.who.governs_platform]
OF_ONESELF = [
    route
    for route in SIGNED_IN
    if route.method == "GET" and route.who.operation is None and route not in GOVERNING_PLATFORM
]
BY_KEY = [route for route in ROUTES if route.who.kind is CredentialKind.API_KEY]


class Side(StrEnum):
    """A person of the three organizations, by their role."""

    VENDOR_ADMIN = "an admin of the vendor"
    CUSTOMER_ADMIN = "an admin of a customer"
    OTHER_CUSTOMER_ADMIN = "an admin of another customer"
    FOR_GLOBEX = "a person in two customers, for one of them"
    FOR_INITECH = "the same person, for the other one"


HOME = {Side.VENDOR_ADMIN: VENDOR, Side.CUSTOMER_ADMIN: GLOBEX, Side.OTHER_CUSTOMER_ADMIN: INITECH}
FOR_CUSTOMER = {Side.FOR_GLOBEX: GLOBEX, Side.FOR_INITECH: INITECH}


@dataclass(frozen=True)
class Trade:
    """The three organizations, and the tokens of their people."""

    world: World
    service: Service
    organizations: dict[str, UUID]
    customers: dict[str, UUID]
    tokens: dict[Side, str]

    async def call(self, route: Route, slug: str, headers: dict[str, str], **named: str) -> Answer:
        """Call a route below an organization, with a body that no route accepts, if the route takes one."""
        names = dict.fromkeys(SLUGS, slug) | {"service_slug": "shop", "client_id": str(self.service.client_id)} | named
        path = re.sub(r":([a-z_]+)", lambda part: names.get(part[1], str(UNKNOWN_ID)), route.path)
        body = b"[]" if route.body is not None else None
        return await self.world.client.request(route.method, path, headers=headers, data=body)

    async def call_as(self, side: Side, route: Route, slug: str, **named: str) -> Answer:
        """Call a route as one of the people."""
        return await self.call(route, slug, {"Authorization": f"Bearer {self.tokens[side]}"}, **named)

    def told_of(self, *slugs: str) -> set[str]:
        """Return what would name these organizations: their ids and slugs, and the ids of their records."""
        ids = {str(one[slug]) for slug in slugs for one in (self.organizations, self.customers) if slug in one}
        return ids | set(slugs)


@pytest.fixture
async def trade(world: World) -> Trade:
    """A vendor with two customers, in which everybody has signed in."""
    organizations = {slug: world.organization(slug) for slug in (VENDOR, GLOBEX, INITECH)}
    service = world.service(organizations[VENDOR], "shop")
    world.serve_customers(service, "editor")
    customers = {slug: world.customer(service, organizations[slug]) for slug in (GLOBEX, INITECH)}
    both = world.user(IN_BOTH)
    for slug in (GLOBEX, INITECH):
        world.member(organizations[slug], both)
    world.member(organizations[GLOBEX], world.user(ONLY_LISTED))
    tokens = dict[Side, str]()
    for side, slug in HOME.items():
        email = f"{side.name.lower()}@example.com"
        world.member(organizations[slug], world.user(email), "admin")
        tokens[side] = (await world.sign_in(email)).access_token
    for side, slug in FOR_CUSTOMER.items():
        signed_in = await world.sign_in(IN_BOTH, org_slug=VENDOR, service_slug="shop", customer=slug)
        tokens[side] = signed_in.access_token
    insert_key(world, organizations[VENDOR], service.id, KEY)
    return Trade(world, service, organizations, customers, tokens)


def _refusal(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.json["error_code"] if answer.status >= 400 else None


@pytest.mark.matrix
async def test_neither_side_opens_a_route_of_the_other_nor_one_customer_of_another(
    trade: Trade, subtests: pytest.Subtests
) -> None:
    for route, side in drawn_of_each(IN_ORGANIZATION, tuple(HOME)):
        for slug in trade.organizations.keys() - {HOME[side]}:
            with subtests.test(route=route.name, side=side, organization=slug):
                named = {"customer_id": str(next(iter(trade.customers.values())))}
                refused = await trade.call_as(side, route, slug, **named)

                assert _refusal(refused) == (403, ErrorCode.FORBIDDEN.name)


@pytest.mark.matrix
async def test_a_token_for_a_customer_opens_no_route_of_any_organization(
    trade: Trade, subtests: pytest.Subtests
) -> None:
    for route, side in drawn_of_each(IN_ORGANIZATION, tuple(FOR_CUSTOMER)):
        for slug in trade.organizations:
            with subtests.test(route=route.name, side=side, organization=slug):
                refused = await trade.call_as(side, route, slug)

                assert _refusal(refused) == (403, ErrorCode.FORBIDDEN.name)


@pytest.mark.matrix
async def test_a_token_for_a_customer_governs_no_platform_even_of_its_owner(
    trade: Trade, subtests: pytest.Subtests
) -> None:
    trade.world.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (IN_BOTH,))

    for route, side in drawn_of_each(GOVERNING_PLATFORM, tuple(FOR_CUSTOMER)):
        with subtests.test(route=route.name, side=side):
            refused = await trade.call_as(side, route, VENDOR)

            assert _refusal(refused) == (403, ErrorCode.FORBIDDEN.name)


@pytest.mark.matrix
async def test_a_token_for_a_customer_tells_nothing_of_another_customer_of_its_user(
    trade: Trade, subtests: pytest.Subtests
) -> None:
    routes = [route for route in OF_ONESELF if route.path != SWITCHER]
    for route, side in drawn_of_each(routes, tuple(FOR_CUSTOMER)):
        [other] = set(FOR_CUSTOMER.values()) - {FOR_CUSTOMER[side]}
        with subtests.test(route=route.name, side=side):
            answer = await trade.call_as(side, route, VENDOR)

            assert answer.status < 500
            # The vendor's program never learns the id of an organization.
            strange = trade.told_of(other) | {str(trade.organizations[FOR_CUSTOMER[side]])}
            assert {one for one in strange if one in answer.text} == set()


@pytest.mark.matrix
async def test_the_key_of_the_vendor_tells_of_nobody_who_has_not_come_and_of_no_id_of_an_organization(
    trade: Trade, subtests: pytest.Subtests
) -> None:
    quiet = str(trade.world.user_id(ONLY_LISTED))

    for route in BY_KEY:
        for slug, customer_id in trade.customers.items():
            with subtests.test(route=route.name, customer=slug):
                answer = await trade.call(
                    route, VENDOR, {"X-Api-Key": KEY}, user_id=quiet, customer_id=str(customer_id), id=str(customer_id)
                )

                assert answer.status < 500
                assert "user_id" not in route.path_parameters or answer.status in {400, 403, 404}, answer.text
                strange = {ONLY_LISTED, *(str(trade.organizations[one]) for one in (GLOBEX, INITECH))}
                if answer.status < 400:
                    strange.add(quiet)
                assert {one for one in strange if one in answer.text} == set()
