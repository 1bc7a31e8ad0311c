"""An organization with a connection to an OpenID provider, and with a verified mail domain that leads to it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tests.world.signing_in import SignedInUser
from tests.world.world import World

CONNECTIONS = "/api/organizations/acme/upstream-providers"
ROUTES = "/api/organizations/acme/domain-routes"


@dataclass
class Connected:
    """The organization, its owner, and the id of its connection."""

    organization_id: UUID
    owner: SignedInUser
    connection_id: str


async def connected_organization(world: World, issuer: str, *, client_id: str, client_secret: str) -> Connected:
    """Return Acme, whose domain `acme.example` signs in at an issuer."""
    organization_id = world.organization("acme")
    owner = await world.signed_in_member(organization_id, email="owner@acme.example")
    body = {
        "type": "oidc",
        "name": "Acme",
        "issuer": issuer,
        "client_id": client_id,
        "client_secret": client_secret,
    }
    created = await owner.post(CONNECTIONS, body)
    assert created.status == 200, created.text
    await prove_domain(world, owner, created.json["id"])
    return Connected(organization_id, owner, created.json["id"])


async def prove_domain(world: World, owner: SignedInUser, connection_id: str) -> None:
    """Route the domain `acme.example` to a connection of Acme, as if its name servers had proved it."""
    route = await owner.post(ROUTES, {"domain": "acme.example", "provider_id": connection_id})
    assert route.status == 200, route.text
    world.connection.execute(
        "UPDATE domain_routes SET status = 'verified', verified_at = %s, proved_at = %s", (world.clock(), world.clock())
    )


async def enforce(world: World, slug: str = "acme", domain: str = "acme.example") -> SignedInUser:
    """Let an organization enforce its sign-in on a domain, as if its name servers had proved it; return the owner."""
    rows = world.rows("SELECT id FROM organizations WHERE slug = %s", slug)
    organization_id = rows[0][0] if rows else world.organization(slug)
    owner = await world.signed_in_member(organization_id, email=f"keeper@{domain}")
    path = f"/api/organizations/{slug}"
    body = {"type": "oidc", "name": slug.title(), "issuer": "https://idp.example", "client_id": "x"}
    made = await owner.post(f"{path}/upstream-providers", {**body, "client_secret": "secret"})
    route = await owner.post(f"{path}/domain-routes", {"domain": domain, "provider_id": made.json["id"]})
    assert route.status == 200, route.text
    world.connection.execute(
        "UPDATE domain_routes SET status = 'verified', verified_at = %s, proved_at = %s WHERE organization_id = %s",
        (world.clock(), world.clock(), organization_id),
    )
    enforced = await owner.patch(f"{path}/domain-routes/{route.json['id']}", {"enforced": True})
    assert enforced.status == 200, enforced.text
    return owner
