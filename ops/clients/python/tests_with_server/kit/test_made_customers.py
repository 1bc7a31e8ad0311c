"""Customers that the program of a vendor has made: it connects their providers, and a person may claim one."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from running_product import running_product

from gatehouse_client import Gatehouse, TokenVerifier, service
from gatehouse_client.testing import Directory, EntraDirectory, GatehouseKit, IdentityProvider
from gatehouse_client.testing.requests import KitFailed

ROLES = [{"name": name, "title": name.title()} for name in ("editor", "viewer")]
ANN, BEN = "ann@globex.example", "ben@globex.example"
DOMAIN = "globex.example"
by_provider = pytest.mark.parametrize("protocol", ["oidc", "saml"])


def claims_of(token: str) -> dict[str, Any]:
    """Read a token, which Gatehouse has issued a moment ago."""
    return jwt.decode(token, options={"verify_signature": False})


def test_a_customer_is_made_once_by_its_name(gatehouse: GatehouseKit) -> None:
    shop = gatehouse.product("shop")

    globex = gatehouse.made_customer(shop, "Globex", external_id="crm-7")

    assert gatehouse.made_customer(shop, "Globex") == globex
    backend = Gatehouse(gatehouse.base_url, api_key=globex.key)
    # One that the program of the product has made.
    initech = backend.send(service.make_customer(name="Initech"))
    assert gatehouse.made_customer(shop, "Initech").id == initech["id"]
    record = backend.send(service.show_customer(globex.id))
    assert (record["organization"]["name"], record["external_id"], record["unclaimed"]) == ("Globex", "crm-7", True)
    assert globex.key not in repr(globex)


@by_provider
@pytest.mark.parametrize("kind", ["okta", "entra"])
def test_a_person_types_the_mailed_code_at_their_first_sign_in_alone(
    gatehouse: GatehouseKit, kind: str, protocol: str
) -> None:
    globex = gatehouse.made_customer("shop", "Globex")
    provider: IdentityProvider = getattr(gatehouse, kind)(globex, DOMAIN, protocol=protocol)
    provider.add(ANN)

    token = gatehouse.token(ANN, customer=globex, provider=provider)
    codes = [mail for mail in gatehouse.mails.all(ANN) if "code" in mail.subject.lower()]
    again = gatehouse.token(ANN, customer=globex, provider=provider)

    for one in (token, again):
        caller = TokenVerifier(gatehouse.base_url, audience=globex.product.client_id).verify(one)
        assert (caller.email, caller.customer and caller.customer.id, caller.customer_role) == (ANN, globex.id, None)
    assert [mail for mail in gatehouse.mails.all(ANN) if "code" in mail.subject.lower()] == codes


@by_provider
@pytest.mark.parametrize("kind", ["okta", "entra"])
def test_the_it_staff_of_a_customer_connects_its_provider_with_a_setup_link(
    gatehouse: GatehouseKit, kind: str, protocol: str
) -> None:
    globex = gatehouse.made_customer("shop", "Globex")
    backend = Gatehouse(gatehouse.base_url, api_key=globex.key)
    link = backend.send(service.create_customer_setup_link(globex.id, parts=["upstream", "mail_domain"]))

    provider: IdentityProvider = getattr(gatehouse, kind)(globex, DOMAIN, protocol=protocol, setup_link=link["url"])
    provider.add(ANN)

    [connection] = backend.send(service.list_customer_connections(globex.id))["connections"]
    assert (connection["id"], connection["enabled"], connection["state"]) == (provider.connection_id, True, "tested")
    [domain] = backend.send(service.list_customer_mail_domains(globex.id))["mail_domains"]
    assert (domain["domain"], domain["status"]) == (DOMAIN, "verified")
    assert claims_of(gatehouse.token(ANN, customer=globex, provider=provider))["customer_id"] == globex.id
    with pytest.raises(KitFailed, match="made_customer"):
        gatehouse.okta("bolt", "bolt.example", setup_link=link["url"])


def test_each_customer_asks_for_a_code_of_its_own(gatehouse: GatehouseKit) -> None:
    customers = [gatehouse.made_customer("shop", name) for name in ("Globex", "Initech")]
    subjects: list[str] = []
    for number, customer in enumerate(customers):
        okta = gatehouse.okta(customer, f"company-{number}.example")
        okta.add(ANN)
        subjects.append(claims_of(gatehouse.token(ANN, customer=customer, provider=okta))["sub"])

    assert subjects[0] == subjects[1]


def test_an_account_with_a_password_types_the_code_and_no_password(gatehouse: GatehouseKit) -> None:
    ann = gatehouse.person(ANN)
    globex = gatehouse.made_customer("shop", "Globex")
    okta = gatehouse.okta(globex, DOMAIN)
    okta.add(ANN)

    assert claims_of(gatehouse.token(ann, customer=globex, provider=okta))["sub"] == ann.id


def test_a_browser_comes_back_to_the_page_of_a_running_product(gatehouse: GatehouseKit) -> None:
    with running_product(gatehouse) as home, gatehouse.browser() as browser:
        globex = gatehouse.made_customer("shop", "Globex")
        okta = gatehouse.okta(globex, DOMAIN)
        okta.add(ANN)
        record = Gatehouse(gatehouse.base_url, api_key=globex.key).send(service.show_customer(globex.id))

        # Their address leads to the provider.
        page = gatehouse.visit(browser, f"{home}/orders?page=2", ANN, provider=okta)

    assert (str(page.url), page.text) == (f"{home}/orders?page=2", f"/orders {ANN} of {record['organization']['slug']}")


def test_groups_of_the_provider_and_of_the_directory_give_roles(gatehouse: GatehouseKit) -> None:
    shop = gatehouse.product("shop", roles=ROLES)
    globex = gatehouse.made_customer(shop, "Globex")
    okta = gatehouse.okta(globex, DOMAIN)
    okta.add(ANN, groups=["Billing"])
    okta.add(BEN)
    gatehouse.directory(globex).add_to_group("Support", BEN)

    gatehouse.made_customer(shop, "Globex", roles={"group:Billing": ["viewer"]}, provider=okta)
    gatehouse.made_customer(shop, "Globex", roles={"group:Billing": ["editor"]}, provider=okta)
    gatehouse.made_customer(shop, "Globex", roles={"group:Support": ["viewer"]})

    roles = [claims_of(gatehouse.token(one, customer=globex, provider=okta))["service_roles"] for one in (ANN, BEN)]
    assert roles == [["editor"], ["viewer"]]
    with pytest.raises(KitFailed, match="by groups"):
        gatehouse.made_customer(shop, "Globex", roles={"everyone": ["viewer"]})


@pytest.mark.parametrize("kind", [Directory, EntraDirectory])
def test_a_directory_of_a_customer_lets_people_in_and_out(gatehouse: GatehouseKit, kind: type[Directory]) -> None:
    globex = gatehouse.made_customer("shop", "Globex")
    okta = gatehouse.okta(globex, DOMAIN)
    okta.add(ANN)
    directory = gatehouse.directory(globex, kind)
    directory.add(ANN)
    gatehouse.token(ANN, customer=globex, provider=okta)

    directory.deactivate(ANN)

    with pytest.raises(KitFailed):
        gatehouse.token(ANN, customer=globex, provider=okta)
    directory.activate(ANN)
    assert claims_of(gatehouse.token(ANN, customer=globex, provider=okta))["customer_id"] == globex.id


def test_a_claimed_customer_is_an_organization_with_an_owner(gatehouse: GatehouseKit) -> None:
    globex = gatehouse.made_customer("shop", "Globex", owner_email="cleo@globex.example")
    okta = gatehouse.okta(globex, DOMAIN)
    okta.add(ANN)
    gatehouse.token(ANN, customer=globex, provider=okta)

    organization = gatehouse.claim(globex, "cleo@globex.example", vendor_setup=["groups"])

    assert (organization.slug, organization.owner.email) == ("globex", "cleo@globex.example")
    [owner] = gatehouse.ask(organization.owner, "GET", "/api/organizations/globex/members")["members"]
    assert owner["membership"]["role"] == "owner"
    record = Gatehouse(gatehouse.base_url, api_key=globex.key).send(service.show_customer(globex.id))
    assert (record["unclaimed"], record["vendor_setup"]) == (False, ["groups"])
    # The people that the vendor admits go on.
    assert claims_of(gatehouse.token(ANN, customer=globex, provider=okta))["customer"] == "globex"


def test_a_customer_is_claimed_by_the_newest_link(gatehouse: GatehouseKit) -> None:
    # The first link is still on its way.
    globex = gatehouse.made_customer("shop", "Globex", owner_email="cleo@globex.example")

    assert gatehouse.claim(globex, "cleo@globex.example", slug="globex-corp").slug == "globex-corp"


def test_a_provider_is_connected_by_the_program_that_is_tested(gatehouse: GatehouseKit) -> None:
    shop = gatehouse.product("shop", customers="listed")
    backend = Gatehouse(gatehouse.base_url, api_key=gatehouse.api_key(shop, "write:customers", "setup:customers"))
    made = backend.send(service.make_customer(name="Globex"))
    globex = gatehouse.made_customer(shop, "Globex")
    okta = gatehouse.okta(globex, protocol="saml")
    okta.add(ANN)

    fields = {"name": "Okta", "metadata_xml": okta.metadata_xml}
    backend.send(service.create_customer_connection(made["id"], type="saml", **fields))

    assert claims_of(gatehouse.token(ANN, customer=globex, provider=okta))["customer_id"] == made["id"]


def test_what_is_noted_about_a_customer_is_said_by_its_tokens(gatehouse: GatehouseKit) -> None:
    claims = [{"claim": "region", "from": "customer.metadata.region", "in_access_token": True}]
    globex = gatehouse.made_customer(gatehouse.product("shop", claims=claims), "Globex")
    okta = gatehouse.okta(globex, DOMAIN)
    okta.add(ANN)

    gatehouse.note({"region": "north"}, product="shop", customer=globex)

    assert claims_of(gatehouse.token(ANN, customer=globex, provider=okta))["region"] == "north"
