"""Two vendors whose programs make customers of their services and set them up, and what people hold there.

The vendors are organizations beside A and B, which share their names. What their programs made is kept as the answers
say it. Each history has them once a step uses them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.seeds import Numbers
from tests.tenants.neighbourhood import A, B
from tests.world.backend import insert_key
from tests.world.builder import PASSWORD, Service
from tests.world.directory import SCIM_JSON
from tests.world.relying_party import insert_relying_party, insert_service_of

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.model import Person
    from tests.tenants.neighbourhood import Neighbourhood
    from tests.world.relying_party import RelyingParty
    from tests.world.visitor import Visitor

ROLES: Final = ("editor", "viewer")
# What the key of a program may do that makes customers, and one that does all but that.
PROGRAM: Final = ("read:customers", "write:customers", "setup:customers")
WITHOUT_SETUP: Final = ("read:customers", "write:customers", "read:users", "write:users")
PARTS: Final = ("upstream", "mail_domain", "scim", "groups")
# The lists of what is made for a customer, below it.
LISTS: Final = ("connections", "mail-domains", "scim-tokens", "group-rules", "setup-links")
NETWORK: Final = "127.0.0.1"
GUESSES_MAX: Final = 5
CUSTOMERS_MAX: Final = 2
numbers = Numbers()


@dataclass(eq=False)
class OpenedLink:
    """A setup link that was opened in a browser, and the parts that it names; `by_key` made it, None for a member."""

    visitor: Visitor
    parts: tuple[str, ...]
    by_key: str | None
    # What has ended it; empty while nothing has.
    ended: str = ""


@dataclass(eq=False)
class MadeCustomer:
    """A customer that the program of a vendor has made, and what was made for it."""

    of: str
    id: str
    # The path of the connection that was made for it, whose provider is the attacker's or that of work.
    connection_id: str | None = None
    is_at_work: bool = False
    # Whether the vendor has switched it off.
    is_off: bool = False
    # The secrets of SCIM tokens that the vendor was shown, and the users of the directory by their addresses.
    tokens: list[str] = field(default_factory=list[str])
    users: dict[str, str] = field(default_factory=dict[str, str])
    group_id: str | None = None
    in_group: set[str] = field(default_factory=set[str])
    # The roles that a rule gives by the group of the directory, and by the group that the connection asserts.
    group_rule: tuple[str, ...] = ()
    asserted_rule: tuple[str, ...] = ()
    asserted: dict[str, bool] = field(default_factory=dict[str, bool])
    # Whom the vendor admits, by account: whether the directory lets them in now.
    admitted: dict[str, bool] = field(default_factory=dict[str, bool])
    domains: dict[str, str] = field(default_factory=dict[str, str])
    links: list[OpenedLink] = field(default_factory=list[OpenedLink])
    # The links by which it can be claimed: each with its address. The last one is open, unless something has ended it.
    claim_links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    is_claimable: bool = False
    # The slug of the organization once a person owns it, the address of that person, and what the vendor may set up.
    slug: str = ""
    owner: str = ""
    vendor_setup: set[str] = field(default_factory=set[str])
    # What the owner has adopted: the secrets of tokens, and the ids of connections.
    adopted: list[str] = field(default_factory=list[str])
    adopted_connections: list[str] = field(default_factory=list[str])
    # Whether the organization has proved a mail domain itself, and whether its own directory has the group.
    has_own_domain: bool = False
    has_own_group: bool = False
    is_paused: bool = False
    is_ended: bool = False
    # Who has signed in for it.
    active: set[str] = field(default_factory=set[str])

    @property
    def is_unclaimed(self) -> bool:
        """Whether no person owns its organization."""
        return not self.slug

    def is_open_to(self, part: str) -> bool:
        """Return whether the vendor may set a part up."""
        return not self.is_paused and not self.is_ended and (self.is_unclaimed or part in self.vendor_setup)

    def lose_connection(self) -> None:
        """Record that the connection is gone, with the mail domains and the rule of it, and what it has named."""
        self.connection_id, self.asserted_rule, self.domains, self.is_off = None, (), {}, False
        self.asserted.clear()

    def admits(self, user_id: str) -> bool:
        """Return whether an account may come in by what was made for the customer."""
        return not self.is_paused and not self.is_ended and self.admitted.get(user_id, False)

    def roles_of(self, user_id: str) -> list[str]:
        """Return the roles of the service that its rules give an account."""
        roles = set(self.group_rule) if user_id in self.in_group and self.admitted.get(user_id) else set[str]()
        if self.asserted.get(user_id) and self.connection_id is not None:
            roles |= set(self.asserted_rule)
        return sorted(roles)


@dataclass(eq=False)
class Visit:
    """A session at the service of a vendor for a customer; `is_by_connection` if the customer's connection began it."""

    person: Person
    user_id: str
    token: str
    refresh_token: str
    customer: MadeCustomer
    is_by_connection: bool = False
    is_by_code: bool = False
    # The browser of one by the connection.
    visitor: Visitor | None = None
    # What has ended it, whatever else lets its person in; empty while nothing has.
    ended: str = ""
    is_dead: bool = False


@dataclass
class Vendor:
    """A vendor: its service, another service of it, its owner, and the keys of its program."""

    name: str
    party: RelyingParty
    other: RelyingParty
    owner: str
    owner_token: str
    key: str
    key_id: str
    weak_key: str
    other_key: str
    customers: list[MadeCustomer] = field(default_factory=list[MadeCustomer])
    is_suspended: bool = False

    @property
    def path(self) -> str:
        """The path of the customers of its service, for members."""
        return f"/api/organizations/{self.party.slug}/services/{self.party.service_slug}/customers"

    @property
    def present(self) -> list[MadeCustomer]:
        """The customers that have not ended."""
        return [one for one in self.customers if not one.is_ended]


@dataclass
class Market:
    """The two vendors, and the sessions at their services."""

    vendors: dict[str, Vendor]
    visits: list[Visit] = field(default_factory=list[Visit])
    # The customers of vendors that were deleted.
    former: list[MadeCustomer] = field(default_factory=list[MadeCustomer])

    def end_visits_by_connection(self, customer: MadeCustomer, how: str) -> None:
        """Record that the sessions have ended that the connection of a customer has begun."""
        for visit in self.visits:
            if visit.customer is customer and visit.is_by_connection:
                visit.ended = visit.ended or how

    @property
    def customers(self) -> list[MadeCustomer]:
        """The customers of both vendors, also those that have ended."""
        return [*self.former, *(one for vendor in self.vendors.values() for one in vendor.customers)]


async def opened(hood: Neighbourhood) -> Market:
    """Return the vendors; the first step that uses them makes them."""
    if hood.market is None:
        hood.market = Market({name: await _vendor(hood, name) for name in (A, B)})
    return hood.market


async def vendor_of(hood: Neighbourhood, of: str) -> Vendor:
    """Return the vendor of a name."""
    return (await opened(hood)).vendors[of]


async def begin_anew(hood: Neighbourhood, of: str) -> None:
    """Make another vendor in place of one that was deleted, whose customers have ended with it."""
    market = await opened(hood)
    for customer in market.vendors[of].customers:
        customer.is_ended = True
    market.former += market.vendors[of].customers
    market.vendors[of] = await _vendor(hood, of)


async def customer_of(hood: Neighbourhood, of: str, pick: int = 0) -> MadeCustomer:
    """Return a customer of a vendor that has not ended; one is made if there is none."""
    vendor = await vendor_of(hood, of)
    if not vendor.present:
        await make(hood, vendor)
    return vendor.present[pick % len(vendor.present)]


async def make(hood: Neighbourhood, vendor: Vendor, *, by_member: bool = False) -> MadeCustomer:
    """Let a vendor make a customer of the name that all of them have, by its program or by a member.

    The platform lets a vendor go on before that it has suspended.
    """
    if vendor.is_suspended:
        hood.world.set_organization_status(vendor.party.organization_id, "active")
        vendor.is_suspended = False
    body = {"name": "Globex"}
    if by_member:
        answer = await hood.send("POST", vendor.path, body, token=vendor.owner_token)
    else:
        answer = await by_key(hood, vendor.key, "POST", "", body)
    assert answer.status == 200, answer.text
    customer = MadeCustomer(vendor.name, answer.json["id"])
    vendor.customers.append(customer)
    return customer


async def by_key(hood: Neighbourhood, key: str, method: str, path: str, body: Any = None) -> Answer:
    """Send a request below the customers of a service with a key."""
    return await hood.send(method, f"/api/service/customers{path}", body, headers={"X-Api-Key": key})


async def at(hood: Neighbourhood, customer: MadeCustomer, method: str, path: str, body: Any = None) -> Answer:
    """Send a request below a customer with the key of the program that has made it."""
    vendor = await vendor_of(hood, customer.of)
    return await by_key(hood, vendor.key, method, f"/{customer.id}{path}", body)


async def by_directory(hood: Neighbourhood, token: str, method: str, path: str, body: Any = None) -> Answer:
    """Send a request of a directory."""
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": SCIM_JSON} if body is not None else None
    return await hood.send(method, f"/scim/v2{path}", token=token, data=data, headers=headers)


def add_key(hood: Neighbourhood, party: RelyingParty, owner: str, *permissions: str) -> tuple[str, str]:
    """Insert a key of a service, which an owner has made; return its id and its secret."""
    key = f"sk_m{next(numbers):05}_{'k' * 43}"
    key_id = insert_key(hood.world, party.organization_id, party.service_id, key, permissions=permissions)
    hood.world.connection.execute(
        "UPDATE api_keys SET created_by = (SELECT id FROM users WHERE email = %s) WHERE id = %s", (owner, key_id)
    )
    return str(key_id), key


async def _vendor(hood: Neighbourhood, name: str) -> Vendor:
    world, number = hood.world, next(numbers)
    slug = f"vendor-{name}{number:05}"
    party = insert_relying_party(world, slug=slug)
    other = insert_service_of(world, party.organization_id, slug=slug, service_slug="blog")
    for one in (party, other):
        world.serve_customers(Service(id=one.service_id, client_id=one.client_id), *ROLES)
    owner = f"owner@{slug}.example"
    world.member(party.organization_id, world.user(owner), "owner")
    token = (await world.sign_in(owner, PASSWORD, address=NETWORK)).access_token
    key_id, key = add_key(hood, party, owner, *PROGRAM)
    _, weak_key = add_key(hood, party, owner, *WITHOUT_SETUP)
    _, other_key = add_key(hood, other, owner, *PROGRAM)
    return Vendor(name, party, other, owner, token, key, key_id, weak_key, other_key)
