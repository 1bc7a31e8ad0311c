"""One history's world: two organizations, their credentials, their people and mailboxes, and sending as each of them.

Each history has names and addresses of its own in the database of the test, so none sees another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from core.mail import mail
from core.mail.mail import MailMessage
from tests.application import Answer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.seeds import Numbers
from tests.tenants.customers import V
from tests.tenants.desk import Desk
from tests.tenants.model import Ended, Held, Model, Person, Violation, Way
from tests.tenants.office import Office
from tests.world.backend import insert_key
from tests.world.builder import PASSWORD, hash_password
from tests.world.directory import SCIM_JSON, insert_scim_token
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.world import MAILS_MAX, World

if TYPE_CHECKING:
    from datetime import datetime

    from tests.name_server import NameServer
    from tests.tenants.hijacking import Takeover
    from tests.tenants.keyrings import Keyring
    from tests.tenants.machines import Machine
    from tests.tenants.staff import Staff
    from tests.tenants.vendors import Market

A, B = "a", "b"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TECHNICIAN, DEPUTY = "technician", "deputy"
# A test machine with too much to do refuses for a moment.
BUSY, TRIES_MAX = 503, 5
numbers = Numbers()


class ServerFailed(AssertionError):
    """The server could not do what it was asked: a defect, unless a rule was undone that the database keeps too."""


@dataclass
class Organization:
    """An organization with its credentials, and the users that they have made."""

    slug: str
    domain: str
    party: RelyingParty
    plan_id: UUID
    # The address of the owner, and a session in no organization.
    owner: str
    owner_token: str
    scim_token: str
    # Of a directory that sends groups, made by the owner; and one whose maker could give no role.
    directory_token: str
    weak_token: str
    key: str
    connection_id: str
    users: list[str] = field(default_factory=list[str])
    service_users: list[str] = field(default_factory=list[str])
    invitations: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    # Addresses whose latest invitation includes the service.
    included: set[str] = field(default_factory=set[str])

    @property
    def only_service(self) -> str:
        """The slug of a service that no other organization has."""
        return f"only-{self.slug}"

    @property
    def path(self) -> str:
        """The path of the organization."""
        return f"/api/organizations/{self.slug}"


@dataclass
class Groups:
    """The group of A that gives a role by a rule, and what was said of people (`grouping.py`)."""

    group_id: str | None = None
    group_of_b: str | None = None
    has_group_rule: bool = False
    has_connection_rule: bool = False
    # Who is in the group, and whether the honest directory has put them there.
    put: dict[str, bool] = field(default_factory=dict[str, bool])
    # Of whom the honest provider said last whether they are in it.
    named: dict[str, bool] = field(default_factory=dict[str, bool])
    # Who left it by the attacker's token: whether they keep the role, the next change decides.
    lingering: set[str] = field(default_factory=set[str])


@dataclass
class Neighbourhood:
    """What a step works with."""

    world: World
    work: OpenIdProvider
    evil: OpenIdProvider
    names: NameServer
    # When the history began.
    began: datetime
    model: Model
    organizations: dict[str, Organization]
    alice: Person
    bob: Person
    eve: Person
    employer: Person
    mailboxes: dict[str, list[MailMessage]] = field(default_factory=dict[str, "list[MailMessage]"])
    # As what its people join by the connection of A.
    joins_as: str = ""
    # Whether the attacker has changed where the connection of A leads.
    is_redirected: bool = False
    groups: Groups = field(default_factory=Groups)
    # Mails that a person has caused: their tokens.
    caused: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    # Which rules the explanation has named that then refused.
    explained: set[str] = field(default_factory=set[str])
    # Takeovers that are not undone yet (`hijacking.py`).
    takeovers: list[Takeover] = field(default_factory=list["Takeover"])
    # The service of a third organization that A and B may use as its customers; None while no step has used it.
    desk: Desk | None = None
    # A service of A that it may close to strangers; None while no step has used it.
    office: Office | None = None
    # The webhooks by which organizations receive every event, by their slugs (`receiving.py`).
    webhooks: dict[str, str] = field(default_factory=dict[str, str])
    # The people of the platform; None while no step has used them.
    staff: Staff | None = None
    # The vendors that make customers, and their customers; None while no step has used them.
    market: Market | None = None
    # The last token of a provider that has ended something, by organization, with whom it was about (`switching.py`).
    # Keys without a secret, by organization.
    machines: dict[str, Machine] = field(default_factory=dict[str, "Machine"])
    # Keys that make what calls by itself, by organization.
    keyrings: dict[str, Keyring] = field(default_factory=dict[str, "Keyring"])
    revocations: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict[str, tuple[str, dict[str, str]]])

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of all people, the attacker's last."""
        return (*self.alice.addresses, *self.bob.addresses, *self.eve.addresses)

    def person(self, name: str) -> Person:
        """Return a person by name."""
        return next(person for person in self.model.people if person.name == name)

    def party(self, name: str) -> RelyingParty:
        """Return the service of an organization, by its name; that of the desk for the vendor."""
        return self.organizations[name].party if self.desk is None or name != V else self.desk.party

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        by: Person | None = None,
        headers: dict[str, str] | None = None,
        data: bytes | None = None,
    ) -> Answer:
        """Send a request from the network of a person, again while the machine is too busy; no answer is a crash."""
        sent = partial(
            self.world.client.request,
            method,
            path,
            body=body,
            token=token,
            headers=headers,
            data=data,
            address=by.network if by is not None else "127.0.0.1",
        )
        answer, tries = await sent(), 1
        while answer.status == BUSY and tries < TRIES_MAX:
            answer, tries = await sent(), tries + 1
        if answer.status >= 500:
            raise ServerFailed(f"{method} {path}: {answer.text}")
        return answer

    async def send_form(self, path: str, fields: dict[str, str], *, by: Person) -> Answer:
        """Press a button behind a mailed link."""
        return await self.send("POST", path, by=by, data=urlencode(fields).encode(), headers=FORM)

    async def scim(self, of: str, method: str, path: str, body: Any = None) -> Answer:
        """Send a request of an organization's directory."""
        organization = self.organizations[of]
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": SCIM_JSON} if body is not None else None
        return await self.send(method, f"/scim/v2{path}", token=organization.scim_token, data=data, headers=headers)

    async def by_key(self, of: str, method: str, path: str, body: Any = None) -> Answer:
        """Send a request of the backend of an organization's service."""
        headers = {"X-Api-Key": self.organizations[of].key}
        return await self.send(method, f"/api/service{path}", body, headers=headers)

    async def by_owner(self, of: str, method: str, path: str, body: Any = None) -> Answer:
        """Send a request of an organization's owner."""
        organization = self.organizations[of]
        return await self.send(method, organization.path + path, body, token=organization.owner_token)

    async def collect(self) -> None:
        """Put the mails that were sent since the last call into the mailboxes."""
        for one in await self.world.installation.database.transact(mail.claim, MAILS_MAX):
            self.mailboxes.setdefault(one.message.to, []).append(one.message)

    async def mails(self, address: str, *templates: str) -> list[MailMessage]:
        """Return the mails of these kinds in a mailbox, the oldest first."""
        await self.collect()
        return [one for one in self.mailboxes.get(address, []) if one.template.value in templates]

    def hold(self, person: Person, answer: Answer, way: Way = Way.PERSON) -> Held | None:
        """Record the tokens of an answer, and what a maker sees of them; None for an answer without tokens."""
        if answer.status != 200 or not answer.json.get("refresh_token"):
            return None
        claims = claims_of(answer.json["access_token"])
        if claims["sub"] in self.model.locked:
            raise Violation(f"outlived {Ended.LOCK}", f"{person.name} has signed in to {claims['email']} by {way}")
        if claims["sub"] in self.model.blocked:
            raise Violation("outlived a block", f"{person.name} has signed in to {claims['email']} by {way}")
        held = Held(
            person=person,
            access_token=answer.json["access_token"],
            refresh_token=answer.json["refresh_token"],
            user_id=claims["sub"],
            address=claims["email"],
            organization=claims.get("org", ""),
            service=claims.get("service", ""),
            customer=claims.get("customer", ""),
            customer_id=claims.get("customer_id", ""),
            way=way,
            is_of_member=self.model.is_member(claims.get("org", ""), claims["sub"]),
        )
        self.model.sessions.append(held)
        if held.service and held.organization == self.organizations[A].slug and way is Way.PERSON:
            # The makers of a service hold the tokens of its users.
            self.model.sessions.append(replace(held, person=self.eve, way=Way.MAKER))
        return held

    def is_at(self, of: str, address: str | None) -> bool:
        """Return whether an address lies in the mail domain of an organization."""
        return address is not None and address.endswith(f"@{self.organizations[of].domain}")

    def address_of(self, user_id: str) -> str | None:
        """Return the address of an account, or None when there is none."""
        rows = self.world.rows("SELECT email FROM users WHERE id = %s", user_id)
        return rows[0][0] if rows else None

    def user_id(self, address: str) -> str | None:
        """Return the account of an address, or None when there is none."""
        rows = self.world.rows("SELECT id::text FROM users WHERE email = %s", address)
        return rows[0][0] if rows else None

    def known_id(self, of: str, user_id: str) -> str:
        """Return the id by which SCIM and the service interface of an organization know an account."""
        rows = self.world.rows(
            "SELECT known_id::text FROM known_account_ids WHERE organization_id = %s AND user_id = %s",
            self.organizations[of].party.organization_id,
            user_id,
        )
        return rows[0][0] if rows else user_id


async def settle(world: World, work: OpenIdProvider, evil: OpenIdProvider, names: NameServer) -> Neighbourhood:
    """Make the world of a history: Eve has an account and works at A; Alice and Bob have none."""
    number, began = next(numbers), world.clock()
    domains = {name: f"corp-{name}{number}.example" for name in (A, B)}

    def person(name: str, *hosts: str) -> Person:
        addresses = tuple(f"{name}{number}@{host}" for host in hosts)
        return Person(name, addresses, f"10.{len(name)}{ord(name[0]) % 10}.{number % 250}.1")

    alice = person("alice", domains[A], "home.example")
    bob = person("bob", domains[B], "home.example")
    eve = person("eve", "evil.example", domains[A], "mail.example")
    employer = Person("the employer", (), "10.99.1.1")
    people = (alice, bob, eve, employer)
    organizations = {name: await _organization(world, name, number, domains[name], work.url) for name in (A, B)}
    hood = Neighbourhood(
        world=world,
        work=work,
        evil=evil,
        names=names,
        began=began,
        model=Model(people, (eve, employer), tuple(one.slug for one in organizations.values())),
        organizations=organizations,
        alice=alice,
        bob=bob,
        eve=eve,
        employer=employer,
    )
    at_work = eve.addresses[1]
    eve_id = world.user(at_work, password_hash=hash_password(eve.password))
    world.member(organizations[A].party.organization_id, eve_id, TECHNICIAN)
    hood.model.give_membership(organizations[A].slug, str(eve_id), at_work, TECHNICIAN)
    hood.hold(eve, await hood.send("POST", "/api/auth/login", {"email": at_work, "password": eve.password}, by=eve))
    await hood.collect()
    hood.mailboxes.clear()
    return hood


async def _organization(world: World, name: str, number: int, domain: str, issuer: str) -> Organization:
    party = insert_relying_party(world, "mobile", slug=f"{name}-{number:05}")
    plan_id = world.plan(party.organization_id, party.service_id)
    world.custom_role(party.organization_id, TECHNICIAN, "integrations.manage")
    world.custom_role(party.organization_id, DEPUTY, "org.settings.manage", "audit_logs.view")
    owner = f"owner{number}@{domain}"
    world.member(party.organization_id, world.user(owner), "owner")
    token = (await world.sign_in(owner, PASSWORD, address="127.0.0.1")).access_token
    scim_token = f"scim_live_{name}{number:05}_{'t' * 43}"
    directory_token, weak_token = (f"scim_live_{name}{kind}{number:04}_{'t' * 43}" for kind in ("d", "w"))
    key = f"sk_{name}{number:05}_{'k' * 43}"
    path = f"/api/organizations/{party.slug}"
    connection = {
        "type": "oidc",
        "name": "Work",
        "issuer": issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    }
    made = await world.client.post(f"{path}/upstream-providers", body=connection, token=token)
    route = {"domain": domain, "provider_id": made.json["id"]}
    routed = await world.client.post(f"{path}/domain-routes", body=route, token=token)
    assert routed.status == 200, routed.text
    # As if its name servers had proved it.
    world.connection.execute(
        "UPDATE domain_routes SET status = 'verified', verified_at = %s, proved_at = %s WHERE organization_id = %s",
        (world.clock(), world.clock(), party.organization_id),
    )
    organization = Organization(
        *(party.slug, domain, party, plan_id, owner, token),
        *(scim_token, directory_token, weak_token, key, made.json["id"]),
    )
    issue(world, organization)
    world.service(party.organization_id, organization.only_service)
    return organization


def issue(world: World, organization: Organization) -> None:
    """Insert the credentials of an organization that open something by themselves."""
    organization_id = organization.party.organization_id
    insert_scim_token(world, organization_id, organization.scim_token)
    insert_scim_token(world, organization_id, organization.directory_token, groups="directory")
    insert_scim_token(world, organization_id, organization.weak_token, groups="directory", maker_role=TECHNICIAN)
    insert_key(world, organization_id, organization.party.service_id, organization.key)
