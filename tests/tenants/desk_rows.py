"""What a vendor and its customers set, as rows, and what is read of them: the one place that calls can replace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from core.secrets import hash_token
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.seeds import Numbers
from tests.tenants.customers import Assignment, Customer, Facts, Membership, V
from tests.tenants.desk import Desk
from tests.world.backend import insert_key
from tests.world.builder import PASSWORD, Service, new_id
from tests.world.relying_party import insert_relying_party

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tenants.neighbourhood import Neighbourhood
    from tests.world.visitor import Visitor

ROLES = ("editor", "viewer")
BROWSERS_KEPT_MAX = 4
# The claims of its own that the desk has in every token, and their sources.
CLAIMS: Final = {
    "desk_role": "membership.role",
    "desk_organization": "organization.metadata.note",
    "desk_person": "service_user.metadata.note",
    "desk_customer": "customer.metadata.note",
    "desk_customer_role": "customer.role",
    "desk_roles": "service_roles",
    "desk_badge": "directory.external_id",
    "desk_groups": "directory.groups",
}
_PAUSED: Final[dict[str, LiteralString]] = {
    "vendor": "UPDATE service_customers SET vendor_paused_at = %s WHERE id = %s",
    "customer": "UPDATE service_customers SET customer_paused_at = %s WHERE id = %s",
}
numbers = Numbers()


async def opened(hood: Neighbourhood) -> Desk:
    """Return the desk; the first step that uses it makes a vendor with a connection, and A and B as customers."""
    if hood.desk is not None:
        return hood.desk
    world, number = hood.world, next(numbers)
    party = insert_relying_party(world, slug=f"v-{number:05}", service_slug="desk")
    service = Service(id=party.service_id, client_id=party.client_id)
    role_ids = world.serve_customers(service, *ROLES)
    owner = f"owner@v{number}.example"
    world.member(party.organization_id, world.user(owner), "owner")
    token = (await world.sign_in(owner, PASSWORD, address="127.0.0.1")).access_token
    key = f"sk_v{number:05}_{'k' * 43}"
    insert_key(world, party.organization_id, party.service_id, key)
    connection = {
        "type": "oidc",
        "name": "Vendor",
        "issuer": hood.work.url,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    }
    path = f"/api/organizations/{party.slug}/upstream-providers"
    made = await hood.send("POST", path, connection, token=token)
    hood.desk = Desk(
        party,
        service,
        token,
        key,
        made.json["id"],
        role_ids={name: str(role_id) for name, role_id in role_ids.items()},
    )
    for of in hood.organizations:
        begin(hood, hood.desk, of)
    _say_claims(hood, hood.desk)
    return hood.desk


def _say_claims(hood: Neighbourhood, desk: Desk) -> None:
    """Let the desk have claims; every organization notes something about itself."""
    world = hood.world
    claims = [{"claim": claim, "from": source, "in_access_token": True} for claim, source in CLAIMS.items()]
    world.connection.execute("UPDATE services SET claims = %s WHERE id = %s", (Jsonb(claims), desk.party.service_id))
    for organization_id in organizations(hood, desk).values():
        note = {"note": f"organization {organization_id}"}
        world.connection.execute("UPDATE organizations SET metadata = %s WHERE id = %s", (Jsonb(note), organization_id))


def organizations(hood: Neighbourhood, desk: Desk) -> dict[str, UUID]:
    """Return the organizations by their names, the vendor among them."""
    customers = {name: one.party.organization_id for name, one in hood.organizations.items()}
    return customers | {V: desk.party.organization_id}


def begin(hood: Neighbourhood, desk: Desk, of: str) -> Customer:
    """Make an organization a customer, with a record of its own."""
    organization = hood.organizations[of]
    organization_id = organization.party.organization_id
    customer_id = hood.world.customer(desk.service, organization_id)
    customer = Customer(str(customer_id), of, organization.slug, str(organization_id))
    desk.customers.append(customer)
    return customer


def end(hood: Neighbourhood, customer: Customer) -> None:
    """End the record of a customer."""
    hood.world.connection.execute("DELETE FROM service_customers WHERE id = %s", (customer.id,))
    customer.is_ended = True


def pause(hood: Neighbourhood, customer: Customer, side: str, *, is_paused: bool) -> None:
    """Set or lift the pause of one side."""
    at = hood.world.clock() if is_paused else None
    hood.world.connection.execute(_PAUSED[side], (at, customer.id))
    (customer.pauses.add if is_paused else customer.pauses.discard)(side)


def suspend(hood: Neighbourhood, customer: Customer, *, is_suspended: bool) -> None:
    """Suspend the organization of a customer, or let it go on."""
    hood.world.set_organization_status(UUID(customer.organization_id), "suspended" if is_suspended else "active")
    customer.is_suspended = is_suspended


def set_access(hood: Neighbourhood, customer: Customer, access: str) -> None:
    """Say whether all members of a customer may come in, or those alone that are assigned."""
    hood.world.connection.execute("UPDATE service_customers SET access = %s WHERE id = %s", (access, customer.id))
    customer.access = access


def assign(
    hood: Neighbourhood, desk: Desk, customer: Customer, subjects: Sequence[tuple[str, Assignment]], *roles: str
) -> None:
    """Replace the assignments of a customer by these subjects, as the interface writes them, with roles by name."""
    hood.world.connection.execute("DELETE FROM customer_assignments WHERE customer_id = %s", (customer.id,))
    for written, _ in subjects:
        hood.world.assign(UUID(customer.id), written, *roles)
    role_ids = frozenset(desk.role_ids[name] for name in roles)
    customer.assignments = [Assignment(one.subject, role_ids) for _, one in subjects]


def set_sharing(hood: Neighbourhood, customer: Customer, *, is_on: bool) -> None:
    """Say whether a customer shows the vendor who may come in for it."""
    hood.world.connection.execute(
        "UPDATE service_customers SET shares_directory = %s WHERE id = %s", (is_on, customer.id)
    )
    customer.shares_directory = is_on


def set_individuals(hood: Neighbourhood, desk: Desk, individuals: str) -> None:
    """Say who may use the desk without a customer."""
    desk.party.set(individuals=individuals)
    desk.individuals = individuals


def make_role_anew(desk: Desk, name: str) -> None:
    """Delete a role of the service, and make another one of the same name."""
    desk.role_ids[name] = str(new_id())
    desk.party.set(role_ids=Jsonb(desk.role_ids))


def facts_of(hood: Neighbourhood, desk: Desk, user_id: str) -> Facts:
    """Read what holds for an account."""
    names = {one.party.organization_id: name for name, one in hood.organizations.items()}
    names[desk.party.organization_id] = V
    rows = hood.world.rows(
        """
        SELECT m.organization_id, m.id::text, m.role, m.suspended_at IS NOT NULL, m.confirmed_at IS NOT NULL,
               ARRAY(SELECT group_id::text FROM directory_group_members g
                     WHERE  g.gives_products AND g.organization_id = m.organization_id AND g.user_id = m.user_id)
        FROM   memberships m
        WHERE  m.user_id = %s AND m.organization_id = ANY (%s)
        """,
        user_id,
        list(names),
    )
    [[email, visited, has_come_alone, used]] = hood.world.rows(
        """
        SELECT (SELECT email FROM users WHERE id = %s),
               ARRAY(SELECT customer_id::text FROM customer_users WHERE user_id = %s),
               EXISTS (SELECT FROM service_users
                       WHERE  user_id = %s AND service_id = %s AND last_login_at IS NOT NULL),
               ARRAY(SELECT organization_id FROM service_users WHERE user_id = %s)
        """,
        user_id,
        user_id,
        user_id,
        desk.party.service_id,
        user_id,
    )
    return Facts(
        memberships={
            names[organization_id]: Membership(membership_id, role, is_suspended, is_confirmed, frozenset(groups))
            for organization_id, membership_id, role, is_suspended, is_confirmed, groups in rows
        },
        domain_of=next((name for name in hood.organizations if hood.is_at(name, email)), None),
        visited=frozenset(visited),
        has_come_alone=has_come_alone,
        used=frozenset(names[organization_id] for organization_id in used if organization_id in names),
    )


def user_in(hood: Neighbourhood, visitor: Visitor) -> str | None:
    """Return the account that a browser is signed in to, which may have got another address since; None without one."""
    secrets = [hash_token(value) for name, value in visitor.cookies.items() if "gatehouse_session" in name]
    rows = hood.world.rows(
        """
        SELECT s.user_id::text
        FROM   browser_sessions b
        JOIN   sessions s ON s.id = b.session_id
        WHERE  b.secret_hash = ANY (%s)
        """,
        secrets,
    )
    return rows[0][0] if rows else None
