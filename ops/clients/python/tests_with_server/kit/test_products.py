"""A product that runs, whose people sign in by a password or a provider, and tokens as it gets them."""

from __future__ import annotations

from datetime import UTC, datetime

import jwt
import pytest
from running_product import running_product

from gatehouse_client import TokenRefused, TokenVerifier
from gatehouse_client.testing import GatehouseKit, IdentityProvider
from gatehouse_client.testing.requests import KitFailed

ROLES = [{"name": name, "title": name.title()} for name in ("editor", "viewer")]
ANN = "ann@bolt.example"
PROVIDERS = [("okta", "oidc"), ("okta", "saml"), ("entra", "oidc"), ("entra", "saml")]
by_provider = pytest.mark.parametrize(("kind", "protocol"), PROVIDERS)


def connected(gatehouse: GatehouseKit, kind: str, protocol: str) -> IdentityProvider:
    """Return a provider that Bolt has connected, which knows Ann."""
    provider: IdentityProvider = getattr(gatehouse, kind)("bolt", "bolt.example", protocol=protocol)
    provider.add(ANN, groups=["Billing team"])
    return provider


def roles_in(token: str) -> object:
    """Return the roles of the product in a token, which Gatehouse has issued a moment ago."""
    return jwt.decode(token, options={"verify_signature": False})["service_roles"]


@by_provider
def test_a_browser_comes_back_to_the_page_of_a_running_product_by_a_provider(
    gatehouse: GatehouseKit, kind: str, protocol: str
) -> None:
    provider = connected(gatehouse, kind, protocol)

    with running_product(gatehouse) as home, gatehouse.browser() as browser:
        page = gatehouse.visit(browser, f"{home}/orders?page=2", ANN, provider=provider)
        again = gatehouse.visit(browser, f"{home}/", ANN, provider=provider)

    assert (str(page.url), page.text) == (f"{home}/orders?page=2", f"/orders {ANN} of bolt")
    assert again.text == f"/ {ANN} of bolt"


def test_a_browser_comes_back_to_the_page_of_a_running_product_by_a_password(gatehouse: GatehouseKit) -> None:
    ann = gatehouse.person("ann", customer="bolt")

    with running_product(gatehouse) as home, gatehouse.browser() as browser:
        page = gatehouse.visit(browser, f"{home}/orders", ann)

    assert (str(page.url), page.text) == (f"{home}/orders", f"/orders {ANN} of bolt")


@by_provider
def test_an_account_with_a_password_is_linked_to_the_provider(
    gatehouse: GatehouseKit, kind: str, protocol: str
) -> None:
    provider = connected(gatehouse, kind, protocol)
    ann = gatehouse.person(ANN, customer="bolt")
    shop = gatehouse.product("shop", customers=["bolt"])

    caller = TokenVerifier(gatehouse.base_url, audience=shop.client_id).verify(
        gatehouse.token(ann, product=shop, provider=provider)
    )

    assert caller.subject == ann.id
    identities = gatehouse.ask(ann, "GET", "/api/user/identities")
    assert [(one["provider"], one["email"]) for one in identities] == [("upstream", ANN)]


def test_a_password_never_takes_the_place_of_the_provider(gatehouse: GatehouseKit) -> None:
    okta = connected(gatehouse, "okta", "oidc")
    eve = gatehouse.person("eve@cord.example")
    # An address of another domain, which leads to no provider.
    okta.add(eve.email)

    with running_product(gatehouse) as home, gatehouse.browser() as browser:
        with pytest.raises(KitFailed, match=r"eve@cord\.example arrived at .*/app/sign-in"):
            gatehouse.visit(browser, home, eve, provider=okta)
        with pytest.raises(KitFailed, match="add them first"):
            gatehouse.visit(browser, home, "dan@bolt.example", provider=okta)


def test_a_session_of_a_product_with_the_clock_ends_with_that_of_gatehouse(gatehouse: GatehouseKit) -> None:
    okta = connected(gatehouse, "okta", "oidc")

    with running_product(gatehouse) as home, gatehouse.browser() as browser:
        gatehouse.visit(browser, home, ANN, provider=okta)
        # Past the access token, which the product refreshes.
        gatehouse.clock.advance(minutes=20)
        refreshed = browser.get(home)
        gatehouse.clock.advance(days=400)
        ended = browser.get(home)
        # The provider has the time of the instance as well.
        page = gatehouse.visit(browser, home, ANN, provider=okta)

    assert ANN in refreshed.text
    assert str(ended.url).startswith(gatehouse.base_url)
    assert page.text == f"/ {ANN} of bolt"


@by_provider
def test_a_token_by_a_provider_is_one_of_the_code_flow(gatehouse: GatehouseKit, kind: str, protocol: str) -> None:
    provider = connected(gatehouse, kind, protocol)
    shop = gatehouse.product("shop", customers=["bolt"])

    answer = gatehouse.sign_in(ANN, product=shop, customer="bolt", provider=provider)
    token = gatehouse.token(ANN, product=shop, provider=provider)

    assert answer.keys() >= {"access_token", "id_token"}
    caller = TokenVerifier(gatehouse.base_url, audience=shop.client_id).verify(token)
    assert (caller.email, caller.customer and caller.customer.slug) == (ANN, "bolt")
    with pytest.raises(KitFailed, match="product="):
        gatehouse.token(ANN, provider=provider)


def test_a_product_without_a_secret_gets_a_token_by_a_provider(gatehouse: GatehouseKit) -> None:
    okta = connected(gatehouse, "okta", "oidc")
    app = gatehouse.product("app", service_type="mobile", customers=["bolt"])

    token = gatehouse.token(ANN, product=app, provider=okta)

    assert app.client_secret == ""
    assert TokenVerifier(gatehouse.base_url, audience=app.client_id).verify(token).email == ANN


@pytest.mark.parametrize("days", [0, 40])
@pytest.mark.parametrize("kind", [None, "okta", "entra"])
def test_an_expired_token_is_refused_by_every_clock_and_the_clock_stays(
    gatehouse: GatehouseKit, kind: str | None, days: int
) -> None:
    shop = gatehouse.product("shop", customers=["bolt"])
    provider = connected(gatehouse, kind, "saml") if kind else None
    person = ANN if kind else gatehouse.person(ANN, customer="bolt")
    before = gatehouse.clock.advance(days=days)

    token = gatehouse.token(person, product=shop, customer="bolt", provider=provider, expired=True)

    # Of the machine's time, and of the instance's.
    by_machine = TokenVerifier(gatehouse.base_url, audience=shop.client_id)
    verifier = TokenVerifier(gatehouse.base_url, audience=shop.client_id, clock=gatehouse.clock)
    for one in (by_machine, verifier):
        with pytest.raises(TokenRefused, match="expired"):
            one.verify(token)
    # It is where it was, for Gatehouse and for a product.
    times = (gatehouse.clock.now, datetime.fromtimestamp(gatehouse.clock(), UTC))
    assert [(one - before).days for one in times] == [0, 0]
    # What comes later goes on as before.
    later = gatehouse.token(person, product=shop, customer="bolt", provider=provider)
    assert verifier.verify(later).email == ANN


def test_a_group_of_the_directory_gives_roles_in_one_call(gatehouse: GatehouseKit) -> None:
    shop = gatehouse.product("shop", roles=ROLES, customers=["bolt"])
    gatehouse.customer(shop, "bolt", roles={"group:Billing": ["editor"], "everyone": ["viewer"]})
    ann = gatehouse.person("ann", customer="bolt", groups=["Billing"])
    ben = gatehouse.person("ben", customer="bolt")

    roles = [roles_in(gatehouse.token(one, product=shop, customer="bolt")) for one in (ann, ben)]
    # By its id, as the interface names it.
    support = gatehouse.directory("bolt").add_group("Support")
    gatehouse.customer(shop, "bolt", roles={f"group:{support}": ["editor"]})
    after = roles_in(gatehouse.token(ann, product=shop, customer="bolt"))

    assert (roles, after) == ([["editor", "viewer"], ["viewer"]], [])
    groups = gatehouse.ask("owner@bolt.example", "GET", "/api/organizations/bolt/groups")["groups"]
    assert [one["name"] for one in groups] == ["Billing", "Support"]


@by_provider
def test_a_group_of_the_provider_gives_roles_in_one_call(gatehouse: GatehouseKit, kind: str, protocol: str) -> None:
    provider = connected(gatehouse, kind, protocol)
    provider.add("ben@bolt.example", groups=["Support"])
    provider.add("cid@bolt.example")
    shop = gatehouse.product("shop", roles=ROLES)

    roles = {"group:Billing team": ["editor", "viewer"], "group:Support": ["viewer"]}
    gatehouse.customer(shop, "bolt", roles=roles, provider=provider)

    given = [roles_in(gatehouse.token(email, product=shop, provider=provider)) for email in provider.people]
    assert given == [["editor", "viewer"], ["viewer"], []]
    # The same group for another product.
    other = gatehouse.product("other", roles=ROLES)
    gatehouse.customer(other, "bolt", roles={"group:Support": ["editor"]}, provider=provider)
    assert roles_in(gatehouse.token("ben@bolt.example", product=other, provider=provider)) == ["editor"]
