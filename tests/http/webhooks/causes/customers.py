"""What causes events about customers of services: at the vendor, and at the customer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from core.customers import mail_domains
from core.customers.setup_callers import CustomerPath
from core.mail.mail import MailTemplate
from core.sessions.origins import BACKGROUND
from tests.http.webhooks.causes.stage import Stage
from tests.world.backend import KEY, insert_key
from tests.world.builder import Service
from tests.world.customer_setups import CONNECTION
from tests.world.people_events import publish_everything
from tests.world.team import Team
from tests.world.visitor import Visitor

CUSTOMERS = "/services/shop/customers"
CLAIMING = "/app/claims/own"


def _service_of(stage: Stage, organization_id: UUID) -> Service:
    service = stage.world.service(organization_id)
    stage.world.serve_customers(service, "editor")
    return service


async def _offer(stage: Stage) -> tuple[Team, Service, str]:
    """Offer a service to another organization; return the organization, the service and the path of the offer."""
    service = _service_of(stage, stage.team.organization_id)
    other = stage.world.team("beta")
    other.add("head", "owner")
    offered = await stage.request("POST", CUSTOMERS, {"organization": "beta"})
    return other, service, f"{CUSTOMERS}/{offered['id']}"


async def _sell(stage: Stage) -> str:
    """Offer the service and let the organization accept; return the path of the customer."""
    other, service, path = await _offer(stage)
    accepted = await other.request("head", "POST", "/products", body={"client_id": str(service.client_id)})
    assert accepted.status == 200, accepted.text
    return path


async def _use(stage: Stage) -> str:
    """Let the owner of a customer sign in; return the person's path, below the path of the vendor's program."""
    path = await _sell(stage)
    signed_in = await stage.world.log_in(
        "head@example.com", org_slug=stage.team.slug, service_slug="shop", customer="beta"
    )
    assert signed_in.status == 200, signed_in.text
    return f"/customers/{path.rpartition('/')[2]}/users/{stage.world.user_id('head@example.com')}"


async def change_a_person_of_a_customer(stage: Stage) -> None:
    path = await _use(stage)
    service_id = stage.world.value("SELECT id FROM services WHERE slug = 'shop'")
    insert_key(stage.world, stage.team.organization_id, service_id, KEY)
    await stage.service_request(KEY, "PUT", path, {"roles": ["editor"]})


async def see_a_person_added_to_a_customer(stage: Stage) -> None:
    await _sell(stage)
    stage.world.connection.execute("UPDATE service_customers SET shares_directory = true")
    await _tell(stage)


async def lose_a_person_of_a_customer(stage: Stage) -> None:
    await _use(stage)
    stage.world.connection.execute(
        "UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (stage.world.user_id("head@example.com"),)
    )
    await _tell(stage)


async def _tell(stage: Stage) -> None:
    await publish_everything(stage.world.installation.database)


async def offer_a_service(stage: Stage) -> None:
    await _offer(stage)


async def gain_a_customer(stage: Stage) -> None:
    await _sell(stage)


async def be_declined(stage: Stage) -> None:
    other, service, _ = await _offer(stage)
    declined = await other.request("head", "DELETE", f"/products/{service.client_id}")
    assert declined.status == 204, declined.text


async def pause_a_customer(stage: Stage) -> None:
    await stage.request("PATCH", await _sell(stage), {"paused": True})


async def resume_a_customer(stage: Stage) -> None:
    path = await _sell(stage)
    for is_paused in (True, False):
        await stage.request("PATCH", path, {"paused": is_paused})


async def note_about_a_customer(stage: Stage) -> None:
    await stage.request("PATCH", await _sell(stage), {"metadata": {"plan": "gold"}})


async def end_a_customer(stage: Stage) -> None:
    await stage.request("DELETE", await _sell(stage))


async def _make(stage: Stage) -> str:
    """Make a customer; return its path."""
    _service_of(stage, stage.team.organization_id)
    return f"{CUSTOMERS}/{(await stage.request('POST', CUSTOMERS, {'name': 'Globex'}))['id']}"


async def _connect(stage: Stage) -> tuple[str, str]:
    """Make a customer with a connection; return the path of the customer, and the id of the connection."""
    path = await _make(stage)
    return path, (await stage.request("POST", f"{path}/connections", CONNECTION))["id"]


async def connect_a_customer(stage: Stage) -> None:
    await _connect(stage)


async def give_a_customer_a_directory(stage: Stage) -> None:
    await stage.request("POST", f"{await _make(stage)}/scim-tokens", {"name": "Okta"})


async def _prove(stage: Stage) -> str:
    """Prove a mail domain for a customer; return its path."""
    path, connection_id = await _connect(stage)
    domain = {"domain": "globex.com", "provider_id": connection_id}
    made = await stage.request("POST", f"{path}/mail-domains", domain)
    session_id = stage.world.value("SELECT id FROM sessions WHERE user_id = %s", stage.team.ids["owner"])
    database = stage.world.installation.database.on_behalf_of(BACKGROUND, session_id)
    customer = CustomerPath(org_slug=stage.team.slug, service_slug="shop", customer_id=UUID(path.rpartition("/")[2]))
    await database.transact(mail_domains.verify, customer, UUID(made["id"]), [made["txt_value"]])
    return f"{path}/mail-domains/{made['id']}"


async def prove_a_domain_of_a_customer(stage: Stage) -> None:
    await _prove(stage)


async def lose_a_domain_of_a_customer(stage: Stage) -> None:
    await stage.request("DELETE", await _prove(stage))


async def name_the_owner_of_a_customer(stage: Stage) -> None:
    await stage.request("POST", f"{await _make(stage)}/owner", {"email": "ann@globex.example"})


async def _claim(stage: Stage) -> None:
    """Let a person claim the one customer to which a link was mailed."""
    [mailed] = [one for one in await stage.world.mails() if one.template is MailTemplate.CUSTOMER_CLAIM]
    stage.world.user("ann@globex.example")
    visitor = Visitor(stage.world.client)
    await visitor.sign_in("ann@globex.example")
    page = await visitor.open(f"{CLAIMING}?token={mailed.values['token']}")
    claimed = await visitor.submit(page, CLAIMING, {"name": "Globex", "slug": "globex"})
    assert claimed.status == 200, claimed.text


async def see_a_customer_claimed(stage: Stage) -> None:
    await name_the_owner_of_a_customer(stage)
    await _claim(stage)


async def claim_the_organization(stage: Stage) -> None:
    vendor = stage.world.team("vendor")
    vendor.add("seller", "owner")
    _service_of(stage, vendor.organization_id)
    made: dict[str, Any] = (await vendor.request("seller", "POST", CUSTOMERS, body={"name": "Globex"})).json
    await vendor.request("seller", "POST", f"{CUSTOMERS}/{made['id']}/owner", body={"email": "ann@globex.example"})
    # The webhook belongs to the organization that the vendor has made, which has no owner yet.
    stage.world.connection.execute(
        "UPDATE service_customers SET organization_id = %s WHERE id = %s", (stage.team.organization_id, made["id"])
    )
    stage.world.connection.execute("DELETE FROM memberships WHERE organization_id = %s", (stage.team.organization_id,))
    stage.world.connection.execute(
        "UPDATE organizations SET is_unclaimed = true WHERE id = %s", (stage.team.organization_id,)
    )
    await _claim(stage)


async def _be_offered(stage: Stage) -> tuple[str, str]:
    """Let another organization offer its service; return the client id, and the path of the product."""
    vendor = stage.world.team("vendor")
    vendor.add("seller", "owner")
    service = _service_of(stage, vendor.organization_id)
    offered = await vendor.request("seller", "POST", CUSTOMERS, body={"organization": stage.team.slug})
    assert offered.status == 200, offered.text
    return str(service.client_id), f"/products/{service.client_id}"


async def _buy(stage: Stage) -> str:
    """Accept the offer of another organization; return the path of the product."""
    client_id, path = await _be_offered(stage)
    await stage.request("POST", "/products", {"client_id": client_id})
    return path


async def accept_a_product(stage: Stage) -> None:
    await _buy(stage)


async def decline_a_product(stage: Stage) -> None:
    _, path = await _be_offered(stage)
    await stage.request("DELETE", path)


async def pause_a_product(stage: Stage) -> None:
    await stage.request("PATCH", await _buy(stage), {"paused": True})


async def resume_a_product(stage: Stage) -> None:
    path = await _buy(stage)
    for is_paused in (True, False):
        await stage.request("PATCH", path, {"paused": is_paused})


async def end_a_product(stage: Stage) -> None:
    await stage.request("DELETE", await _buy(stage))


async def change_a_product(stage: Stage) -> None:
    await stage.request("PATCH", await _buy(stage), {"access": "assigned"})


async def have_a_person_impersonated(stage: Stage) -> None:
    world, team = stage.world, stage.team
    service = world.service(world.organization("vendor"))
    world.customer(service, team.organization_id)
    await world.log_in("member@example.com", org_slug="vendor", service_slug="shop", customer=team.slug)
    owner = await world.signed_in_platform_owner()
    body = {"reason": "help", "org_slug": "vendor", "service_slug": "shop", "customer": team.slug}
    path = f"/api/platform/impersonate/{team.ids['member']}"
    acting = await world.client.post(path, body=body, token=owner.tokens.access_token)
    assert acting.status == 200, acting.text
