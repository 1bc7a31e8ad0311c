"""What each person was given: the model against which the property of tenants is checked.

Two organizations, A and B, give things to *addresses*: memberships with a role, services, subscriptions, sessions,
mails. Each address belongs to one person, who alone reads its mailbox. A person may hold a thing of B only if it was
given to an address of theirs and was not taken away since. That is the whole property. The model knows nothing of
confirmations, proofs or origins, by which the product brings it about.

The people:

- Alice has an address at A, Bob one at B, and each a private one. They open mails that they have caused, and press
  buttons that they understand; and they link their accounts to the connection of A only while it leads where its owner
  has set it to.
- Eve attacks. She has an address at A and two private ones. At A she has a role with `integrations.manage` only, and
  holds what its insiders hold: the SCIM token, the API key, a setup link, and the tokens of the users of its service.
  She reads only her own mailboxes.
- The employer operates the identity provider to which the connection of A leads by right, and asserts there whatever it
  wants. It reads no mailbox.
- The owners of A and B are honest, and everything of B is.

What A may do by the rules is no violation, and is written where it is allowed: it knows its own users' sessions at its
own service (`Way.MAKER`), its provider signs its people in to it (`Way.CONNECTION`), and it opens an account that
belongs to no one else (`Model.opened`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

# Roles at A that a person has only when its owner gives them.
GOVERNING: Final = frozenset({"owner", "admin", "deputy"})


class Violation(AssertionError):
    """A person holds what was not given to them, or is denied what is theirs."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Way(StrEnum):
    """How a person came to hold a session."""

    PERSON = "a proof of their own"
    MAKER = "as a maker of the service"
    CONNECTION = "the provider of the organization"
    REDIRECTED = "the attacker's provider, or attribute"


class Ended(StrEnum):
    """What ended, and every session that came with it."""

    MEMBERSHIP = "a membership"
    ACCOUNT = "an account"
    CONNECTION = "a connection"
    ORGANIZATION = "an organization"
    REVOCATION = "a revocation"
    LOCK = "a lock"


@dataclass(frozen=True)
class Person:
    """A person, the addresses whose mailboxes they read, and the password that they use everywhere."""

    name: str
    addresses: tuple[str, ...]
    network: str

    @property
    def password(self) -> str:
        """The password that this person chooses everywhere."""
        return f"a long enough password of {self.name}"


@dataclass(eq=False)
class Held:
    """A session that a person holds, by its tokens."""

    person: Person
    access_token: str
    refresh_token: str
    user_id: str
    # The address in the access token.
    address: str
    organization: str
    service: str
    way: Way
    # Whether the account was a member of that organization when the session began.
    is_of_member: bool
    # The customer of the service for which the session acts, by its slug and the id of its record.
    customer: str = ""
    customer_id: str = ""
    # What should have ended the session, and how that came; None while nothing has.
    ended: tuple[Ended, str] | None = None
    is_dead: bool = False

    def end(self, what: Ended, how: str) -> None:
        """Something happened that ends the session."""
        self.ended = self.ended or (what, how)

    def __str__(self) -> str:
        context = f" at the service of {self.organization}" if self.service else ""
        context += f" for {self.customer}" if self.customer else ""
        return f"{self.person.name} holds a session of {self.address}{context} by {self.way}"


@dataclass
class Gift:
    """A membership, as its organization gave it to an address."""

    person: Person
    role: str
    # False when a change of address may have ended it, which the model does not decide.
    is_certain: bool = True
    is_suspended: bool = False
    # Confirmed by its person after the account was opened to A, of which they were told.
    is_shared: bool = False


@dataclass
class Model:
    """Who owns which address, and what each person was given; users are known by id, organizations by slug."""

    people: tuple[Person, ...]
    attackers: tuple[Person, ...]
    organizations: tuple[str, ...]
    gifts: dict[tuple[str, str], Gift] = field(default_factory=dict[tuple[str, str], Gift])
    subscriptions: dict[tuple[str, str], Person] = field(default_factory=dict[tuple[str, str], Person])
    # Links to the service of an organization that an invitation gave, by organization and account: since when.
    links: dict[tuple[str, str], datetime] = field(default_factory=dict[tuple[str, str], datetime])
    sessions: list[Held] = field(default_factory=list[Held])
    # To which addresses an organization has written, or given something.
    addressed: set[tuple[str, Person]] = field(default_factory=set[tuple[str, Person]])
    # By which organization an account was made.
    makers: dict[str, str] = field(default_factory=dict[str, str])
    # Accounts that their own organization has deactivated in its own mail domain.
    off: set[str] = field(default_factory=set[str])
    # Accounts that A has opened with a session of its own service or connection.
    opened: set[str] = field(default_factory=set[str])
    # Accounts whose link to the provider of an organization has ended: the person left, or took another address.
    unlinked: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    # Accounts that are locked, until their person has chosen a new password by a mail.
    locked: set[str] = field(default_factory=set[str])
    # Accounts that were imported as blocked, until a platform owner opens them.
    blocked: set[str] = field(default_factory=set[str])
    # Accounts that their person has closed.
    closed: set[str] = field(default_factory=set[str])
    # Accounts at A whose address A has asserted before their person used them.
    asserted: set[str] = field(default_factory=set[str])
    # The addresses that each organization was shown, of its members and end users at any time, by its id.
    known: set[tuple[UUID, str]] = field(default_factory=set[tuple[UUID, str]])
    # Addresses over which the organization of their mail domain has disposed.
    disposed: set[str] = field(default_factory=set[str])

    def owner_of(self, address: str) -> Person | None:
        """Return the person who reads a mailbox; None for that of an organization's owner."""
        return next((person for person in self.people if address in person.addresses), None)

    def give_membership(self, organization: str, user_id: str, address: str, role: str) -> None:
        """An organization made the account of an address a member."""
        person = self.owner_of(address)
        if person is not None:
            self.gifts[organization, user_id] = Gift(person, role)
            self.addressed.add((organization, person))

    def give_subscription(self, organization: str, user_id: str, address: str) -> None:
        """An organization subscribed the account of an address to its service."""
        person = self.owner_of(address)
        if person is not None:
            self.subscriptions[organization, user_id] = person

    def is_member(self, organization: str, user_id: str) -> bool:
        """Return whether an account is certainly a member with access."""
        gift = self.gifts.get((organization, user_id))
        return gift is not None and gift.is_certain and not gift.is_suspended

    def take_membership(self, organization: str, user_id: str, how: str, *, is_suspended: bool = False) -> None:
        """A membership ended or was suspended; so did the sessions at the services that came with it."""
        gift = self.gifts.get((organization, user_id))
        if gift is not None and is_suspended:
            gift.is_suspended = True
        elif gift is not None:
            del self.gifts[organization, user_id]
        for held in self.sessions:
            if (held.user_id, held.organization) == (user_id, organization) and held.service and held.is_of_member:
                held.end(Ended.MEMBERSHIP, how)
        if not is_suspended:
            self.unlinked.add((organization, user_id))

    def end_sessions(self, user_id: str, how: str) -> None:
        """Every session of an account ended."""
        for held in self.sessions:
            if held.user_id == user_id:
                held.end(Ended.ACCOUNT, how)

    def delete_organization(self, organization: str) -> None:
        """An organization was deleted: its sessions ended, also after it is restored, and its members stay.

        So do its subscriptions, as cancelled ones, whose plan the people go on to see.
        """
        for held in self.sessions:
            if held.organization == organization:
                held.end(Ended.ORGANIZATION, "its organization was deleted")

    def change_address(self, user_id: str) -> None:
        """The address of an account changed, which ends what was not confirmed."""
        for (_, member_id), gift in self.gifts.items():
            if member_id == user_id:
                gift.is_certain = False
        self.unlinked |= {(organization, user_id) for organization in self.organizations}

    def split(self, organization: str, user_id: str, new_id: str, *, keeps_person: bool) -> None:
        """What an organization gave moved to an account of another address, with the person or without."""
        old, new = (organization, user_id), (organization, new_id)
        if old in self.gifts:
            self.gifts[new] = self.gifts.pop(old)
        if old in self.subscriptions:
            self.subscriptions[new] = self.subscriptions.pop(old)
        self.makers[new_id] = self.makers.pop(user_id, organization)
        if keeps_person:
            self._move_person(user_id, new_id)
            return
        self.unlinked.add((organization, user_id))
        for held in self.sessions:
            if (held.user_id, held.organization) == (user_id, organization):
                held.end(Ended.MEMBERSHIP, "its organization gave the user another address")

    def _move_person(self, user_id: str, new_id: str) -> None:
        self.unlinked |= {(of, new_id) for of, one in self.unlinked if one == user_id}
        for held in self.sessions:
            if held.user_id == user_id:
                held.user_id = new_id
        for accounts in (self.off, self.closed, self.locked):
            if user_id in accounts:
                accounts.remove(user_id)
                accounts.add(new_id)
        for accounts in (self.opened, self.asserted):
            if user_id in accounts:
                accounts.add(new_id)

    def belongs_elsewhere(self, organization: str, user_id: str) -> bool:
        """Return whether an account may belong to another organization than this one."""
        is_given = any(member_id == user_id and other != organization for other, member_id in self.gifts)
        return is_given or any(
            held.user_id == user_id and held.organization not in {"", organization} and held.customer != organization
            for held in self.sessions
        )
