"""The people of customers as the vendor may see them, in plain Python, and all that its program and its events say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.tenants.customers import Customer, Membership
from tests.tenants.desk import Desk
from tests.tenants.model import Violation
from tests.world.people_events import publish_everything

if TYPE_CHECKING:
    from tests.tenants.neighbourhood import Neighbourhood

LISTED: Final = "a customer's people were listed"
REMOVED: Final = "customer.user_removed"
ADDED: Final = "customer.user_added"


@dataclass(frozen=True)
class Person:
    """A member of a customer, with what the vendor may know of them."""

    email: str
    membership: Membership
    has_come: bool
    is_active: bool
    service_roles: tuple[str, ...]
    own_roles: tuple[str, ...]


def members_of(hood: Neighbourhood, desk: Desk, customer: Customer) -> dict[str, Person]:
    """Read who is a member of a customer, by the ids of their accounts."""
    rows = hood.world.rows(
        """
        SELECT u.id::text, u.email, u.deactivated_at IS NULL, m.id::text, m.role, m.suspended_at IS NOT NULL,
               m.confirmed_at IS NOT NULL,
               ARRAY(SELECT group_id::text FROM directory_group_members g
                     WHERE  g.gives_products AND g.organization_id = m.organization_id AND g.user_id = m.user_id),
               EXISTS (SELECT FROM customer_users v WHERE v.customer_id = %s AND v.user_id = m.user_id)
        FROM   memberships m
        JOIN   users u ON u.id = m.user_id
        WHERE  m.organization_id = %s
        """,
        customer.id,
        customer.organization_id,
    )
    found = dict[str, Person]()
    for user_id, email, is_active, membership_id, role, is_suspended, is_confirmed, groups, has_come in rows:
        membership = Membership(membership_id, role, is_suspended, is_confirmed, frozenset(groups))
        own = desk.names(customer.own_roles.get(membership_id, frozenset()))
        found[user_id] = Person(email, membership, has_come, is_active, desk.roles(customer, membership), own)
    return found


def seen_of(hood: Neighbourhood, desk: Desk, customer: Customer) -> dict[str, Person]:
    """Return whom of a customer the vendor may see: who has come in, and who may where the directory is shared."""
    return {
        user_id: one
        for user_id, one in members_of(hood, desk, customer).items()
        if one.is_active and desk.shows(customer, one.membership, has_come=one.has_come)
    }


async def judge_lists(hood: Neighbourhood, desk: Desk) -> None:
    """Raise `Violation` when the vendor's program is shown others than it may see, or other roles."""
    for customer in desk.customers:
        path = f"/api/service/customers/{customer.id}/users"
        answer = await hood.send("GET", path, headers={"X-Api-Key": desk.key})
        if customer.is_ended:
            if answer.status != 404:
                raise Violation("told", f"the vendor reads the people of {customer.slug}, which is no customer")
            continue
        listed = {
            one["id"]: (one["email"], tuple(one["service_roles"]), tuple(one["own_roles"]))
            for one in answer.json["users"]
        }
        expected = {
            user_id: (one.email, one.service_roles, one.own_roles)
            for user_id, one in seen_of(hood, desk, customer).items()
        }
        if listed != expected:
            raise Violation("told", f"the vendor reads {listed} of {customer.slug}, which are {expected}")
        if listed:
            hood.explained.add(LISTED)
        by_other = await hood.send("GET", path, headers={"X-Api-Key": hood.organizations[customer.of].key})
        if by_other.status != 404:
            raise Violation("told", f"another one than the vendor reads the people of {customer.slug}")


async def judge_news(hood: Neighbourhood, desk: Desk) -> None:
    """Send the events of people that wait; raise `Violation` when they are about others, or say something else."""
    seen = {one: seen_of(hood, desk, one) for one in desk.customers if not one.is_ended}
    for customer, people in seen.items():
        if customer.shares_directory:
            desk.told |= {(user_id, customer.id) for user_id in people}
            desk.shown |= {one.email for one in people.values()}
    await publish_everything(hood.world.installation.database)
    came, last = _come(hood, desk), dict[tuple[str, str], tuple[str, Any]]()
    hidden = [one.organization_id for one in desk.customers]
    for organization_id, kind, actor_id, data in hood.world.rows(
        """
        SELECT   organization_id, type, actor_user_id, data
        FROM     events
        WHERE    type LIKE 'customer.user\\_%%' AND data ->> 'customer_id' = ANY (%s)
        ORDER BY id
        """,
        [one.id for one in desk.customers],
    ):
        person = (data["user_id"], data["customer_id"])
        if organization_id != desk.party.organization_id or actor_id is not None:
            raise Violation("told", f"{kind} of {data} was told to {organization_id}")
        if person not in desk.told | (came if kind != ADDED else set()) or any(one in str(data) for one in hidden):
            raise Violation("told", f"the vendor was told {data} by {kind}, of somebody whom it does not know")
        last[person] = kind, data
        hood.explained.add(kind)
    for customer, people in seen.items():
        known = {user_id for user_id, of in {*last, *came} if of == customer.id}
        for user_id in known | people.keys():
            _judge_last(customer, user_id, people.get(user_id), last.get((user_id, customer.id)))


def _judge_last(customer: Customer, user_id: str, person: Person | None, last: tuple[str, Any] | None) -> None:
    """Raise `Violation` when the last event of a person is not what the vendor may see of them."""
    kind, data = last or ("", {})
    if person is None:
        if kind != REMOVED:
            raise Violation("untold", f"the vendor still knows {user_id} of {customer.slug} after {kind or 'nothing'}")
    elif kind == REMOVED and not person.has_come:
        raise Violation("untold", f"the vendor does not know of {person.email} of {customer.slug}")
    elif kind not in {"", REMOVED} and (data["email"], tuple(data["service_roles"])) != (
        person.email,
        person.service_roles,
    ):
        raise Violation("untold", f"{kind} says {data} of {person}")


def _come(hood: Neighbourhood, desk: Desk) -> set[tuple[str, str]]:
    """Return the accounts that have come in, with the customers for which they did."""
    rows = hood.world.rows(
        """
        SELECT DISTINCT actor_user_id::text, data ->> 'customer_id'
        FROM   events
        WHERE  type = 'user.login.success' AND organization_id = %s AND data ? 'customer_id'
        UNION
        SELECT user_id::text, customer_id::text
        FROM   customer_users
        WHERE  customer_id = ANY (%s)
        """,
        desk.party.organization_id,
        [one.id for one in desk.customers],
    )
    return set(rows)
