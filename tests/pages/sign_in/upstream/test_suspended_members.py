"""A member that the directory has deactivated reads that, in every way to sign in, and never "no member"."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from core.platform.explained_customers import CustomerMembership
from core.sign_in.reasons import SignInReason
from tests.application import Answer
from tests.shown_text import shows
from tests.world.authorization import address_of
from tests.world.builder import EMAIL, Service
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.explaining import explained_to_organization
from tests.world.openid_acme import Acme
from tests.world.passkeys import Keyring
from tests.world.relying_party import REDIRECT_URI, RelyingParty
from tests.world.saml import SamlService, SamlWorld
from tests.world.visitor import Visitor

AT_ACME: dict[str, Any] = {"org_slug": "acme"}
AT_SHOP: dict[str, Any] = {**AT_ACME, "service_slug": "shop"}
FOR_ACME: dict[str, Any] = {"org_slug": "vendor", "service_slug": "product", "customer": "acme"}
ALONE: dict[str, Any] = {"org_slug": "vendor", "service_slug": "product"}


class Member:
    """A member of Acme with every way in: a password, a mailbox, a passkey and a linked identity."""

    def __init__(self, acme: Acme, shop: SamlService, party: RelyingParty, product: Service) -> None:
        self.acme, self.world, self.shop, self.party, self.product = acme, acme.world, shop, party, product
        self.keyring = Keyring(acme.world)
        self.vendor = RelyingParty(acme.world, acme.organization_id, product.id, product.client_id)
        self.authenticator: Any = None

    async def mailed(self, where: Mapping[str, Any], *, by_code: bool) -> Answer:
        """Sign in with a mailed link or code."""
        await self.world.mails()
        path = "/api/auth/magic-link"
        asked = await self.world.client.post(f"{path}/request", body={"email": EMAIL, **where})
        values = (await self.world.mail()).values
        proof = (
            {"challenge_id": asked.json["challenge_id"], "code": values["code"]}
            if by_code
            else {"token": values["token"]}
        )
        return await self.world.client.post(f"{path}/verify", body={**proof, **where})

    async def by_passkey(self, where: Mapping[str, Any]) -> Answer:
        """Sign in with the passkey."""
        return await self.keyring.sign_in(self.authenticator, EMAIL, **where)

    async def token(self) -> str:
        """Return a token of the account, which names no organization."""
        return (await self.world.sign_in()).access_token

    async def visitor(self) -> Visitor:
        """Return a browser that is signed in to the account."""
        visitor = Visitor(self.world.client)
        await visitor.sign_in()
        return visitor

    async def by_device(self) -> Answer:
        """Approve a device that asks for the service."""
        device = (await self.party.post("/auth/device/code", {"scope": "openid"})).json
        visitor = await self.visitor()
        page = await visitor.open(device["verification_uri_complete"].removeprefix("http://localhost:8000"))
        return await visitor.submit(page, "/auth/device/approve") if "/auth/device/approve" in page.text else page

    async def by_connection(self) -> Answer:
        """Sign in at the identity provider of Acme."""
        self.acme.visitor.cookies.clear()
        return await self.acme.sign_in()

    async def by_openid(self) -> Answer:
        """Come from the service in a browser that is signed in."""
        visitor = await self.visitor()
        page = await visitor.open(address_of(self.party))
        return await visitor.submit(page, "/auth/authorize/allow") if page.status == 200 else page


def ways(member: Member) -> dict[str, Callable[[], Awaitable[Answer]]]:
    """Return every way in to Acme, to its service, and as its member to the product that it uses."""
    world = member.world
    found: dict[str, Callable[[], Awaitable[Answer]]] = {}
    for name, where in (
        ("Acme", AT_ACME),
        ("the service", AT_SHOP),
        ("the customer", FOR_ACME),
        ("the product", ALONE),
    ):
        found |= {
            f"password to {name}": lambda where=where: world.log_in(**where),
            f"mailed link to {name}": lambda where=where: member.mailed(where, by_code=False),
            f"mailed code to {name}": lambda where=where: member.mailed(where, by_code=True),
            f"passkey to {name}": lambda where=where: member.by_passkey(where),
        }

    async def selecting() -> Answer:
        return await world.client.post("/api/organizations/acme/select", token=await member.token())

    async def reading() -> Answer:
        return await world.client.get("/api/organizations/acme", token=await member.token())

    async def page(path: str) -> Answer:
        return await (await member.visitor()).open(path)

    return found | {
        "select": selecting,
        "the interface": reading,
        "the console": lambda: page("/app/organizations/acme"),
        "a sign-in on the way to the console": lambda: Visitor(world.client).sign_in(path="/app/organizations/acme"),
        "OpenID": member.by_openid,
        "OpenID without a session": lambda: Visitor(world.client).sign_in(path=address_of(member.party)),
        "OpenID for the customer": lambda: page(address_of(member.vendor, customer="acme")),
        "OpenID to the product": lambda: page(address_of(member.vendor)),
        "SAML": lambda: page(member.shop.sso()),
        "a device": member.by_device,
        "the connection": member.by_connection,
    }


@pytest.fixture
async def member(acme: Acme, saml: SamlWorld) -> Member:
    """A confirmed member, whose account has a private address."""
    world = acme.world
    await acme.sign_in()
    acme.visitor.cookies.clear()
    world.connection.execute(
        "UPDATE users SET email = %s, password_hash = (SELECT password_hash FROM users WHERE id = %s)"
        " WHERE email = 'ada@acme.example'",
        (EMAIL, world.user("other@example.com")),
    )
    world.member(acme.organization_id, world.user_id(EMAIL))
    service = world.service(acme.organization_id, "shop", redirect_uris=[REDIRECT_URI])
    party = RelyingParty(world, acme.organization_id, service.id, service.client_id)
    party.set(service_type="mobile")
    shop = await saml.configured(acme.organization_id, service.id, "acme")
    product = world.service(world.organization("vendor"), "product", redirect_uris=[REDIRECT_URI])
    world.serve_customers(product)
    world.customer(product, acme.organization_id)
    world.connection.execute("UPDATE services SET service_type = 'mobile'")
    made = Member(acme, shop, party, product)
    made.keyring.token = (await world.sign_in()).access_token
    made.authenticator = await made.keyring.registered()
    return made


async def set_active(member: Member, *, is_active: bool) -> None:
    """Let the directory of Acme deactivate or activate the member."""
    body = {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        "Operations": [{"op": "replace", "path": "active", "value": is_active}],
    }
    path = f"/scim/v2/Users/{member.world.user_id(EMAIL)}"
    answer = await member.world.client.request("PATCH", path, token=TOKEN, body=body)
    assert answer.status == 200, answer.text


async def test_every_way_in_says_that_the_membership_is_deactivated(member: Member, subtests: pytest.Subtests) -> None:
    world, acme = member.world, member.acme
    insert_scim_token(world, acme.organization_id, TOKEN)
    before = await world.sign_in(**AT_ACME)
    await set_active(member, is_active=False)

    # Her sessions have ended, and the next sign-in says why.
    assert (await world.refresh(before.refresh_token)).status == 401
    for name, way in ways(member).items():
        with subtests.test(way=name):
            answer = await way()
            assert re.search(
                "Your membership in (this organization|the organization for .+) is deactivated", answer.text
            )
            assert "not a member" not in answer.text
            # The page that sends a browser back to a service is no error.
            assert answer.status == 403 or (name.startswith("OpenID") and "No access to Product" in answer.text)
            assert (
                answer.status != 403 or not shows(answer.text, "error_code") or answer.json["error_code"] == "FORBIDDEN"
            )
    await set_active(member, is_active=True)
    assert [(await world.log_in(**where)).status for where in (AT_ACME, AT_SHOP, FOR_ACME)] == [200] * 3


async def test_those_who_help_learn_it_and_strangers_do_not(member: Member) -> None:
    world, acme = member.world, member.acme
    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (world.user_id(EMAIL),))

    for service, rules in ((None, {"membership", "affiliation"}), ("shop", {"not_suspended", "affiliation"})):
        explained = await explained_to_organization(world, acme.owner, service_slug=service)
        refusals = [walk.refusal for walk in explained.walks if walk.refusal is not None]
        assert {one.rule.value for one in refusals} == rules
        assert {one.reason for one in refusals} == {SignInReason.SUSPENDED}
    at_product = await explained_to_organization(world, acme.owner, product=member.product.client_id)
    assert at_product.customer is not None
    assert at_product.customer.membership is CustomerMembership.SUSPENDED
    # The page does not mention a membership that its user has never confirmed.
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE suspended_at IS NOT NULL")
    answer = await world.log_in(**FOR_ACME)
    assert (answer.status, "deactivated" in answer.text) == (403, False)
