"""The population: how many of each, their ids, and their dates. Each follows only from its number and the plan.

So nothing is kept between two tables: an event refers to its user by computing the id of the user again. Numbers start
at 0 here; in addresses and slugs they start at 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from argon2.low_level import Type, hash_secret

from adapters.crypto.passwords import DEFAULT_COST, Argon2Cost
from ops.seeding.shares import Shares, shares

# The password of every account, so that a measurement can sign in as any of them.
PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - known on purpose, and of no real user
_SALT: Final = b"gatehouse-seeded"
_HASH_BYTES: Final = 32
# The age of the first account.
PERIOD: Final = timedelta(days=730)
PERIOD_MS: Final = PERIOD // timedelta(milliseconds=1)
MILLISECONDS_PER_DAY: Final = 24 * 60 * 60 * 1000
MEMBERS_PER_ORGANIZATION: Final = 5
# The size of the caches for values of every row: the days of the period, and some more.
KEPT_MAX: Final = 1_000
ACCOUNTS_KEPT_MAX: Final = 10_000

# RFC 9562, 5.7: after the milliseconds the version, 12 bits, the variant, 62 bits.
_VARIANT_RFC: Final = 0b10 << 62
_LOW_BITS: Final = 62
# An odd number without a pattern: multiplied with it, neighbours are far apart, and no two products are equal.
_SCATTER: Final = 0x1E3779B97F4A7C15


class CannotSeed(Exception):
    """The plan is impossible, or the database was seeded before; the message is the line to print."""


def _count(meaning: str, *, default: int = 0) -> int:
    """Declare a count of the plan, with its help for the command line."""
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many rows of each kind, and the last day; every count is an option of `ops/seed`."""

    users: int = _count("accounts", default=1_000)
    login_events: int = _count("attempts to sign in")
    organizations: int = _count("organizations")
    memberships: int = _count("members of the organizations")
    services: int = _count("services of the organizations")
    end_users: int = _count("users who sign in to a service")
    invitations: int = _count("invitations: half of them answered, the others past their lifetime and not expired yet")
    audit_entries: int = _count("entries of the audit logs")
    sessions: int = _count("sessions, of which the last thirtieth has not expired")
    events: int = _count("events of the organizations, not sequenced yet")
    until: datetime

    def __post_init__(self) -> None:
        if not self.users:
            raise CannotSeed("Without users there are no sign-ins and no members: use 1 user or more.")
        if not self.organizations <= self.memberships <= self.organizations * self.users:
            raise CannotSeed(
                "Every organization has an owner, and no user is in it twice: use at least as many memberships as"
                " organizations, and at most organizations times users."
            )
        if (self.services or self.invitations or self.audit_entries or self.events) and not self.organizations:
            raise CannotSeed(
                "Services, invitations, audit entries and events belong to organizations: use 1 organization or more."
            )
        if self.end_users > self.organizations_with_services * self.users:
            raise CannotSeed(
                "End users sign in to services, and no user is linked to one organization twice: use 1 service or more,"
                " and at most as many end users as organizations with services times users."
            )

    @property
    def first_ms(self) -> int:
        """The moment of the first account, in milliseconds since 1970."""
        return _first_ms(self.until)

    @property
    def organizations_with_services(self) -> int:
        """How many organizations have a service; they are the first ones."""
        return min(self.services, self.organizations)

    def moment_ms(self, number: int, total: int) -> int:
        """Return the moment of one of a number of things that are spread evenly over the whole period."""
        return self.first_ms + number * PERIOD_MS // total

    def user_since_ms(self, user: int) -> int:
        """Return the moment at which an account was created."""
        return self.moment_ms(user, self.users)

    def user_id(self, user: int) -> str:
        """Return the id of an account."""
        return account_identifier(user)

    def organization_since_ms(self, organization: int) -> int:
        """Return the moment at which an organization was created."""
        return self.moment_ms(organization, self.organizations)

    def organization_id(self, organization: int) -> str:
        """Return the id of an organization."""
        return identifier("organizations", organization, self.organization_since_ms(organization))

    def service_since_ms(self, service: int) -> int:
        """Return the moment at which a service was created."""
        return self.organization_since_ms(service % self.organizations)

    def service_id(self, service: int) -> str:
        """Return the id of a service; services are assigned to the organizations in turn."""
        return identifier("services", service, self.service_since_ms(service))

    def members(self) -> Shares:
        """Return how the memberships are divided among the organizations."""
        return shares(self.memberships, self.organizations, least=1, most=self.users)

    def member(self, organization: int, turn: int) -> int:
        """Return the user who is this member of an organization; member 0 is the owner."""
        # The owners are spread over all users, and the members of an organization follow its owner.
        return (organization * self.users // self.organizations + turn) % self.users

    def links(self) -> Shares:
        """Return how the links of end users to services are divided among the organizations."""
        return shares(self.end_users, self.organizations_with_services, least=0, most=self.users)

    def end_user(self, organization: int, turn: int) -> tuple[int, int]:
        """Return the user and the service of a link; the services of an organization take turns."""
        services = -(-(self.services - organization) // self.organizations)
        # Rarely the members of the organization.
        user = self.member(organization, turn + self.users // 2)
        return user, organization + turn % services * self.organizations


# The counts of a plan.
COUNTS: Final = tuple(each for each in fields(Plan) if each.metadata)


@lru_cache(KEPT_MAX)
def _first_ms(until: datetime) -> int:
    return int((until - PERIOD).timestamp() * 1000)


# Far enough apart that no two tables have the same id.
_TABLES: Final = {
    name: place << 58
    for place, name in enumerate(
        (
            *("users", "organizations", "memberships", "login_events", "audit", "services", "clients", "invitations"),
            *("plans", "sessions", "events"),
        )
    )
}


def identifier(table: str, number: int, milliseconds: int) -> str:
    """Return a UUIDv7 of that moment in a form that PostgreSQL reads; the ids of a table are distinct."""
    scattered = number * _SCATTER + _TABLES[table]
    low = scattered & ((1 << _LOW_BITS) - 1)
    return f"{milliseconds:012x}7{scattered >> _LOW_BITS & 0xFFF:03x}{_VARIANT_RFC | low:016x}"


@lru_cache(ACCOUNTS_KEPT_MAX)
def account_identifier(number: int) -> str:
    """Return the UUIDv4 of an account in a form that PostgreSQL reads; like random ones, they are in no order."""
    digits = blake2b(number.to_bytes(8), digest_size=16).hexdigest()
    return f"{digits[:12]}4{digits[13:16]}8{digits[17:]}"


def dashed(digits: str) -> str:
    """Return an id in the form that the service uses in text."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def moment(milliseconds: int) -> str:
    """Return a moment in a form that PostgreSQL reads."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()


@lru_cache(KEPT_MAX)
def day(milliseconds: int) -> str:
    """Return a day in a form that PostgreSQL reads."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()


def address(user: int) -> str:
    """Return the email address of an account."""
    return f"person-{user + 1}@seed.example"


def invited(invitation: int) -> str:
    """Return the email address of an invitation; it has no account."""
    return f"invited-{invitation + 1}@seed.example"


def slug(organization: int) -> str:
    """Return the slug of an organization."""
    return f"seed-{organization + 1}"


def password_hash(cost: Argon2Cost = DEFAULT_COST) -> str:
    """Hash the password as the service does now, so that a sign-in does not upgrade it."""
    return hash_secret(
        PASSWORD.encode(), _SALT, cost.passes, cost.memory_kib, cost.lanes, _HASH_BYTES, Type.ID
    ).decode()
