"""The customers of a service, and what people are to them: the values by which the model judges (`products.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tests.tenants.words import Belonging

# The name of the vendor beside A and B.
V: Final = "v"
# What a request names to come as an individual.
ALONE: Final = ""


@dataclass(frozen=True)
class Assignment:
    """Whom a customer assigns, with the roles of the service, by their ids.

    The subject is "everyone", "role:<slug>", "group:<id>", or "membership:<id>" for one person while they belong to it.
    """

    subject: str
    role_ids: frozenset[str]


@dataclass(eq=False)
class Customer:
    """An organization that uses the service, from the beginning to the end of one record."""

    id: str
    of: str
    slug: str
    organization_id: str
    pauses: set[str] = field(default_factory=set[str])
    access: str = "members"
    assignments: list[Assignment] = field(default_factory=list[Assignment])
    is_suspended: bool = False
    is_ended: bool = False
    is_offered: bool = False
    shares_directory: bool = False
    # What the vendor notes about it.
    note: str = ""
    # The roles that the vendor gives, by their ids, to memberships whose people have signed in.
    own_roles: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def is_accepted(self) -> bool:
        """Whether the organization uses the service, paused or not."""
        return not (self.is_ended or self.is_offered)

    @property
    def is_active(self) -> bool:
        """Whether anybody may come in for it."""
        return self.is_accepted and not (self.is_suspended or self.pauses)


@dataclass(frozen=True)
class Membership:
    """What a person is in an organization now."""

    id: str
    role: str
    is_suspended: bool
    is_confirmed: bool
    groups: frozenset[str]


@dataclass(frozen=True)
class Facts:
    """What holds for an account: its memberships by the names of the organizations, and how it has used the desk."""

    memberships: dict[str, Membership]
    # The organization of whose mail domain the address is.
    domain_of: str | None
    visited: frozenset[str]
    has_come_alone: bool
    # The organizations of whose services the account is an end user.
    used: frozenset[str] = frozenset()
    # Whether a key of the service has linked the account, which gives access to one that is closed to strangers.
    is_given: bool = False
    # Whether the organization of the mail domain signs its people in by its own connection alone.
    is_enforced: bool = False

    def has_settled_in(self, of: str) -> bool:
        """Return whether the person is a member of an organization that no stranger has made: confirmed, or its own."""
        at = self.memberships.get(of)
        return at is not None and not at.is_suspended and (at.is_confirmed or self.domain_of == of)

    def is_unconfirmed_in(self, of: str) -> bool:
        """Return whether an organization has made the person a member, who has not consented to it yet."""
        at = self.memberships.get(of)
        return at is not None and not at.is_suspended and not at.is_confirmed

    def belonging(self, of: str) -> Belonging:
        """Return what the person is to the connection of an organization."""
        at = self.memberships.get(of)
        return Belonging(
            role=at.role if at is not None else None,
            is_suspended=at is not None and at.is_suspended,
            is_end_user=of in self.used,
            is_in_mail_domain=self.domain_of == of,
        )


@dataclass(frozen=True)
class Standing:
    """What a customer is to a person, as far as it matters for which one they come.

    `excludes` says that its people are no individuals; of a customer that is closed nothing else matters.
    """

    excludes: bool
    is_open: bool = False
    is_confirmed: bool = False
    is_in_mail_domain: bool = False
    is_visited: bool = False

    @property
    def counts(self) -> bool:
        """Whether it counts where it is not named."""
        return self.is_confirmed or self.is_in_mail_domain


@dataclass(frozen=True)
class Coming:
    """How a person comes: what they name, by whose connection, and whether a page can ask them.

    With `asks_again` they want to choose anew; `is_named_by_other` means that another person may have named it.
    """

    named: str | None = None
    limits: str | None = None
    on_page: bool = False
    asks_again: bool = False
    is_named_by_other: bool = False


@dataclass(frozen=True)
class Choice:
    """For whom a person comes: for a customer, for none of them, or for whom they choose; else they are refused."""

    customer: Customer | None = None
    is_alone: bool = False
    offered: frozenset[str] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether nothing is open."""
        return self.customer is None and not self.is_alone and not self.offered

    def __str__(self) -> str:
        if self.offered:
            return f"to choose among {sorted(self.offered)}"
        return f"for {self.customer.slug}" if self.customer else "as an individual" if self.is_alone else "not at all"


@dataclass(frozen=True)
class Rights:
    """What a session at the desk opens now; without a customer there is no role in one."""

    customer_role: str | None = ""
    service_roles: tuple[str, ...] = ()
