"""What the fixture `gatehouse` gives, and that each test has a state of its own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import re

import httpx
import jwt
import pytest

from gatehouse_client.testing import Directory, EntraDirectory, GatehouseKit, IdentityProvider
from gatehouse_client.testing.pages import submitted
from gatehouse_client.testing.requests import KitFailed

SHOP_ROLES = [{"name": "editor", "title": "Editor"}]


def claims_of(token: str) -> dict[str, object]:
    """Read a token, which Gatehouse has issued a moment ago."""
    return jwt.decode(token, options={"verify_signature": False})


def test_a_member_has_the_role_that_was_asked_for(gatehouse: GatehouseKit) -> None:
    ann = gatehouse.person("ann", role="admin", organization="bolt")

    members = gatehouse.ask(ann, "GET", "/api/organizations/bolt/members")["members"]

    roles = {one["user"]["email"]: one["membership"]["role"] for one in members}
    assert roles == {"ann@bolt.example": "admin", "owner@bolt.example": "owner"}
    assert ann.password not in repr(ann)


@pytest.mark.parametrize("number", [1, 2])
def test_each_test_begins_with_a_fresh_state(gatehouse: GatehouseKit, number: int) -> None:
    # The second one would be refused in the state of the first.
    ann = gatehouse.person(f"ann-{number}", organization="bolt")

    assert len(gatehouse.ask(ann, "GET", "/api/organizations")) == 1
    assert {mail.to for mail in gatehouse.mails.all()} == {ann.email, "owner@bolt.example"}


def test_a_person_of_a_customer_has_roles_and_groups(gatehouse: GatehouseKit) -> None:
    shop = gatehouse.product("shop", organization="acme", roles=SHOP_ROLES)
    gatehouse.customer(shop, "bolt", roles={"role:admin": ["editor"]})
    ann = gatehouse.person("ann", role="admin", customer="bolt", groups=["Billing"])

    claims = claims_of(gatehouse.token(ann, product=shop, customer="bolt"))

    assert claims["aud"] == shop.client_id
    assert (claims["customer"], claims["customer_role"], claims["service_roles"]) == ("bolt", "admin", ["editor"])
    groups = gatehouse.ask("owner@bolt.example", "GET", "/api/organizations/bolt/groups")["groups"]
    assert [(one["name"], one["member_count"]) for one in groups] == [("Billing", 1)]


def test_tokens_have_the_scopes_and_say_what_was_noted(gatehouse: GatehouseKit) -> None:
    sources = {
        "tier": "organization.metadata.tier",
        "contract": "customer.metadata.contract",
        "beta": "service_user.metadata.beta",
    }
    shop = gatehouse.product(
        "shop",
        organization="acme",
        scopes=[{"name": "orders:read", "description": "Read your orders"}],
        claims=[{"claim": name, "from": source, "in_access_token": True} for name, source in sources.items()],
    )
    gatehouse.customer(shop, "bolt")
    ann = gatehouse.person("ann", customer="bolt")
    before = claims_of(gatehouse.token(ann, product=shop, customer="bolt"))

    assert gatehouse.note({"tier": "gold", "other": ["a"]}, organization="acme")["tier"] == "gold"
    gatehouse.note({"contract": 7}, product=shop, customer="bolt")
    gatehouse.note({"beta": True}, product=shop, person=ann)
    claims = claims_of(gatehouse.token(ann, product=shop, customer="bolt"))

    assert sources.keys().isdisjoint(before)
    assert [claims[name] for name in sources] == ["gold", 7, True]
    assert claims["scope"] == "orders:read"
    assert gatehouse.note(None, product=shop, person=ann) == {}
    with pytest.raises(KitFailed, match="no customer"):
        gatehouse.note({}, product=shop, customer="cord")
    for lacking in ({}, {"product": shop}):
        with pytest.raises(KitFailed):
            gatehouse.note({}, **lacking)


@pytest.mark.parametrize("kind", [Directory, EntraDirectory])
def test_a_directory_deactivates_and_removes_people(gatehouse: GatehouseKit, kind: type[Directory]) -> None:
    directory = gatehouse.directory("bolt", kind)
    ann = gatehouse.person("ann", customer="bolt", groups=["Billing"])

    directory.remove_from_group("Billing", ann.email)
    groups = gatehouse.ask("owner@bolt.example", "GET", "/api/organizations/bolt/groups")["groups"]
    assert [(one["name"], one["member_count"]) for one in groups] == [("Billing", 0)]
    directory.deactivate(ann.email)
    with pytest.raises(KitFailed, match="403"):
        gatehouse.ask(ann, "GET", "/api/organizations/bolt/members")
    directory.activate(ann.email)
    assert len(gatehouse.ask(ann, "GET", "/api/organizations/bolt/members")["members"]) == 2
    directory.remove(ann.email)

    assert len(gatehouse.ask("owner@bolt.example", "GET", "/api/organizations/bolt/members")["members"]) == 1


def test_an_event_is_delivered_and_signed(gatehouse: GatehouseKit) -> None:
    hook = gatehouse.webhook("bolt", "user.joined")
    ann = gatehouse.person("ann", organization="bolt")

    delivery = hook.wait_for("user.joined")

    assert delivery.event["data"]["user_id"] == ann.id
    signed = f"{delivery.headers['webhook-id']}.{delivery.headers['webhook-timestamp']}.".encode() + delivery.body
    key = base64.b64decode(hook.secret.removeprefix("whsec_"))
    signature = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert hmac.compare_digest(delivery.headers["webhook-signature"], signature)


def test_the_clock_ends_what_has_an_end(gatehouse: GatehouseKit) -> None:
    token = gatehouse.token("ann")
    before = gatehouse.clock.now

    after = gatehouse.clock.advance(minutes=16)

    assert (after - before).total_seconds() >= 16 * 60
    assert gatehouse.send("GET", "/api/user", token=token).status_code == 401


def test_a_mail_has_the_link_of_the_person(gatehouse: GatehouseKit) -> None:
    ann = gatehouse.person("ann")

    gatehouse.send("POST", "/api/auth/forgot-password", {"email": ann.email})
    link = gatehouse.mails.wait_for(ann.email, containing="reset-password").link("reset-password")

    assert link.startswith(gatehouse.base_url)
    with pytest.raises(KitFailed, match="no link"):
        gatehouse.mails.wait_for(ann.email).link("elsewhere")


def test_the_backend_of_a_product_calls_with_its_key(gatehouse: GatehouseKit) -> None:
    shop = gatehouse.product("shop")
    key = gatehouse.api_key(shop, "read:users")
    ann = gatehouse.person("ann")
    gatehouse.token(ann, product=shop)

    found = gatehouse.send("GET", "/api/service/users", key=key).json()["users"]

    assert [one["id"] for one in found] == [ann.id]


@pytest.mark.parametrize("product", ["okta", "entra"])
@pytest.mark.parametrize("protocol", ["oidc", "saml"])
def test_a_person_signs_in_by_the_provider_of_their_organization(
    gatehouse: GatehouseKit, product: str, protocol: str
) -> None:
    provider: IdentityProvider = getattr(gatehouse, product)("bolt", "bolt.example", protocol=protocol)
    ann = provider.add("ann@bolt.example", groups=["Billing"])
    with httpx.Client(base_url=gatehouse.base_url, follow_redirects=True, timeout=60.0) as browser:
        page = submitted(browser, browser.get("/app/sign-in"), "/app/sign-in", email=ann.email)
        [link] = set(re.findall(r'href="(/auth/upstream\?[^"]*)"', page.text))

        # Without a session at the provider, its page asks who it is.
        choice = browser.get(html.unescape(link))
        assert provider.product in choice.text
        [person] = re.findall(r'href="([^"]*)"', choice.text)
        page = browser.get(f"{provider.base_url}{html.unescape(person)}")
        if protocol == "saml":
            page = submitted(browser, page, form_path(page), origin=provider.base_url)

        # The connection makes a member of who comes by it.
        assert str(page.url) == f"{gatehouse.base_url}/app/organizations/bolt"


def form_path(page: httpx.Response) -> str:
    """Return the path to which the only form of a page leads."""
    [action] = re.findall(r'<form method="post" action="([^"]*)"', page.text)
    return httpx.URL(action).path


def test_who_is_not_there_cannot_sign_in_at_the_provider(gatehouse: GatehouseKit) -> None:
    okta = gatehouse.okta("bolt", "bolt.example")

    with pytest.raises(KitFailed, match="add them first"):
        okta.sign_in_as("eve@bolt.example")
