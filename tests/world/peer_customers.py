"""Two customers of an independent relying party's service, their people, and what its tokens have to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from adapters.postgres.driver.connection import Connection
from tests.world.builder import Builder, Service

ADA, BOB, CY = "ada@globex.example", "bob@initech.example", "cy@freelance.example"


@dataclass(frozen=True, kw_only=True)
class CustomerSignIn:
    """Who signs in, the customer that the client names, None for none, and the claims that it has to see."""

    email: str
    customer: str | None
    claims: dict[str, Any]


def insert_customers(connection: Connection, known: Mapping[str, str]) -> list[CustomerSignIn]:
    """Insert an admin of one customer, a member of the other, and a member of both, who names one by slug or id."""
    builder = Builder(connection, lambda: datetime.now(UTC))
    client_id = UUID(known["CLIENT_ID"])
    [(service_id,)] = connection.execute("SELECT id FROM services WHERE client_id = %s", (client_id,)).fetchall()
    service = Service(id=service_id, client_id=client_id)
    builder.serve_customers(service, "editor", "viewer")
    ada, bob, cy = (builder.user(email) for email in (ADA, BOB, CY))
    ids: dict[str, UUID] = {}
    for slug, people in (("globex", {ada: "admin", cy: "member"}), ("initech", {bob: "member", cy: "member"})):
        organization_id = builder.organization(slug)
        for user_id, role in people.items():
            builder.member(organization_id, user_id, role)
        ids[slug] = builder.customer(service, organization_id)
    builder.assign(ids["globex"], "everyone", "viewer")
    builder.assign(ids["globex"], "role:admin", "editor")

    def seen(slug: str, role: str, *service_roles: str) -> dict[str, Any]:
        return {
            "customer": slug,
            "customer_id": str(ids[slug]),
            "customer_role": role,
            "service_roles": list(service_roles),
        }

    return [
        CustomerSignIn(email=ADA, customer=None, claims=seen("globex", "admin", "editor", "viewer")),
        CustomerSignIn(email=BOB, customer=None, claims=seen("initech", "member")),
        CustomerSignIn(email=CY, customer="globex", claims=seen("globex", "member", "viewer")),
        CustomerSignIn(email=CY, customer=str(ids["initech"]), claims=seen("initech", "member")),
    ]
