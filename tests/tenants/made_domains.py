"""Mail domains that vendors prove for customers, and that organizations prove for themselves before and afterwards."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from tests.tenants import vendors
from tests.tenants.making import MAKING
from tests.tenants.market_judging import nothing_outside_changes
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import step

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.neighbourhood import Organization
    from tests.tenants.vendors import MadeCustomer, Vendor

ROUTED: Final = "a mail domain led to a connection that a vendor has made"
MOVED: Final = "a mail domain went back to its own organization"
# For how long a route of a vendor goes on that an organization has proved for itself.
GRACE: Final = timedelta(days=7)


@step(MAKING)
async def vendor_proves_domain(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """A vendor proves the mail domain of A or B for a customer, or gives it up; the company publishes the record."""
    customer = await vendors.customer_of(hood, of)
    organization = list(hood.organizations.values())[pick % 2]
    domain = organization.domain
    vendor = await vendors.vendor_of(hood, of)
    if customer.connection_id is None or vendor.is_suspended or not customer.is_open_to("mail_domain"):
        return
    async with nothing_outside_changes(hood, f"{of} has proved {domain}"):
        if domain in customer.domains:
            if not whole:
                await vendors.at(hood, customer, "DELETE", f"/mail-domains/{customer.domains.pop(domain)}")
        else:
            await _prove(hood, customer, domain)
    await judge_routes(hood)


async def _prove(hood: Neighbourhood, customer: MadeCustomer, domain: str) -> None:
    body = {"domain": domain, "provider_id": customer.connection_id}
    made = await vendors.at(hood, customer, "POST", "/mail-domains", body)
    if made.status != 200:
        raise Violation("denied", f"{customer.id} cannot claim {domain}: {made.text}")
    path = f"/mail-domains/{made.json['id']}"
    early = await vendors.at(hood, customer, "POST", f"{path}/verify")
    if early.status == 200:
        raise Violation("routed", f"{customer.id} has proved {domain} without the record")
    hood.names.publish(made.json["txt_name"], made.json["txt_value"])
    proved = await vendors.at(hood, customer, "POST", f"{path}/verify")
    if proved.status != 200:
        raise Violation("denied", f"{customer.id} cannot prove {domain}, whose record is there: {proved.text}")
    customer.domains[domain] = made.json["id"]


@step(MAKING)
async def organization_proves_domain(hood: Neighbourhood, at: str, whole: bool) -> None:
    """An organization proves its mail domain anew, whatever vendors have proved; a week passes, or not."""
    organization = hood.organizations.get(at)
    if organization is None:
        return
    told = await _losses(hood, organization)
    await _prove_own(hood, organization)
    for vendor_id, number in (await _losses(hood, organization)).items():
        if number != told[vendor_id] + 1:
            raise Violation("untold", f"a vendor was not told that {organization.slug} has proved its domain")
    if whole:
        hood.world.connection.execute(
            "UPDATE domain_routes SET verified_at = %s WHERE organization_id = %s",
            (hood.world.clock() - GRACE, organization.party.organization_id),
        )
    await judge_routes(hood)


async def _prove_own(hood: Neighbourhood, organization: Organization) -> None:
    [name] = [name for name, one in hood.organizations.items() if one is organization]
    [route] = (await hood.by_owner(name, "GET", "/domain-routes")).json["domain_routes"]
    await hood.by_owner(name, "DELETE", f"/domain-routes/{route['id']}")
    body = {"domain": organization.domain, "provider_id": organization.connection_id}
    made = await hood.by_owner(name, "POST", "/domain-routes", body)
    assert made.status == 200, made.text
    hood.names.publish(made.json["txt_name"], made.json["txt_value"])
    proved = await hood.by_owner(name, "POST", f"/domain-routes/{made.json['id']}/verify")
    if proved.status != 200:
        raise Violation("denied", f"{organization.slug} cannot prove its own mail domain: {proved.text}")


async def _losses(hood: Neighbourhood, organization: Organization) -> dict[Any, int]:
    """Return how often each vendor was told that a domain was lost which it has proved for a customer."""
    market = await vendors.opened(hood)
    counts = dict[Any, int]()
    for vendor in market.vendors.values():
        proved = [one for one in vendor.present if organization.domain in one.domains]
        for customer in proved:
            counts[customer.id] = hood.world.value(
                """
                SELECT count(*) FROM events
                WHERE  organization_id = %s AND type = 'customer.domain_lost' AND data ->> 'customer_id' = %s
                  AND  data ->> 'domain' = %s
                """,
                vendor.party.organization_id,
                customer.id,
                organization.domain,
            )
    return counts


async def judge_routes(hood: Neighbourhood) -> None:
    """Raise `Violation` when a mail domain leads to a connection at another place than where it should."""
    market = await vendors.opened(hood)
    for name, organization in hood.organizations.items():
        address = f"anybody@{organization.domain}"
        anywhere = await _look_up(hood, address)
        if anywhere.json.get("connection_id") != organization.connection_id:
            raise Violation("routed", f"{address} leads to {anywhere.text}, and not to the connection of {name}")
        for vendor in market.vendors.values():
            for party in (vendor.party, vendor.other):
                here = {"org_slug": party.slug, "service_slug": party.service_slug}
                found = await _look_up(hood, address, **here)
                expected = _expected(hood, vendor, organization) if party is vendor.party else set[str | None]()
                if found.json.get("connection_id") not in (expected or {None}):
                    raise Violation("routed", f"{address} leads to {found.text} at the service of {vendor.name}")
                if found.json.get("sso_required"):
                    raise Violation("routed", f"{address} has to take the connection of a vendor")
                hood.explained |= {ROUTED} if expected else set()
        own = {"org_slug": organization.slug, "service_slug": organization.party.service_slug}
        at_home = await _look_up(hood, address, **own)
        if at_home.json.get("connection_id") != organization.connection_id:
            raise Violation("routed", f"{address} leads to {at_home.text} at the service of {name}")


def _expected(hood: Neighbourhood, vendor: Vendor, organization: Organization) -> set[str | None]:
    """Return to which connections a domain may lead at the service of a vendor; none where it leads to no one."""
    if vendor.is_suspended:
        return set()
    moved = "SELECT verified_at <= %s FROM domain_routes WHERE organization_id = %s"
    if hood.world.value(moved, hood.world.clock() - GRACE, organization.party.organization_id):
        hood.explained.add(MOVED)
        return set()
    proved = [one for one in vendor.present if organization.domain in one.domains]
    return {one.connection_id for one in proved if not one.is_paused and not one.is_off}


async def _look_up(hood: Neighbourhood, address: str, **here: str) -> Answer:
    return await hood.send("POST", "/api/auth/lookup-email", {"email": address, **here})
