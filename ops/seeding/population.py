"""Who there is: how many, under which ids, since when. Everybody follows from their number and the plan alone.

So nothing has to be remembered between two tables: an event names its person by computing the person's id again.
Numbers begin at 0 here; in addresses and slugs they begin at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from argon2.low_level import Type, hash_secret

from adapters.crypto.passwords import DEFAULT_COST
from ops.seeding.shares import shares

if TYPE_CHECKING:
    from adapters.crypto.passwords import Argon2Cost
    from ops.seeding.shares import Shares

# Everybody's, so that whoever measures can sign in as anybody.
PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - known on purpose, and of nobody real
_SALT: Final = b"gatehouse-seeded"
_HASH_BYTES: Final = 32
# How long ago the first of them came.
PERIOD: Final = timedelta(days=730)
PERIOD_MS: Final = PERIOD // timedelta(milliseconds=1)
MILLISECONDS_PER_DAY: Final = 24 * 60 * 60 * 1000
MEMBERS_PER_ORGANIZATION: Final = 5
# What is asked for with every row is not worked out each time: the days of the period, and then some.
KEPT_MAX: Final = 1_000

# RFC 9562, 5.7: after the milliseconds the version, 12 bits, the variant, 62 bits.
_VARIANT_RFC: Final = 0b10 << 62
_LOW_BITS: Final = 62
# An odd number without a pattern: multiplied with it, neighbours come to lie far apart, and no two at one place.
_SCATTER: Final = 0x1E3779B97F4A7C15


class CannotSeed(Exception):
    """What was asked for is impossible, or stands there already; the message is the line to print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many of what, and the day on which everything has happened."""

    users: int
    login_events: int = 0
    organizations: int = 0
    memberships: int = 0
    services: int = 0
    end_users: int = 0
    invitations: int = 0
    audit_entries: int = 0
    until: datetime

    def __post_init__(self) -> None:
        if not self.users:
            raise CannotSeed("Nobody can sign in or be a member: take 1 user or more.")
        if not self.organizations <= self.memberships <= self.organizations * self.users:
            raise CannotSeed(
                "Every organization has an owner, and nobody is in one twice: take at least as many memberships as"
                " organizations, and at most organizations times users."
            )
        if (self.services or self.invitations or self.audit_entries) and not self.organizations:
            raise CannotSeed(
                "Services, invitations and audit entries belong to organizations: take 1 organization or more."
            )
        if self.end_users > self.organizations_with_services * self.users:
            raise CannotSeed(
                "End users sign in to services, and nobody is linked to one organization twice: take 1 service or more,"
                " and at most as many end users as organizations with services times users."
            )

    @property
    def first_ms(self) -> int:
        """The moment of the first account, in milliseconds since 1970."""
        return _first_ms(self.until)

    @property
    def organizations_with_services(self) -> int:
        """How many organizations have a service, which are the first ones."""
        return min(self.services, self.organizations)

    def moment_ms(self, number: int, total: int) -> int:
        """Give the moment of one of so many that are spread evenly over the whole period."""
        return self.first_ms + number * PERIOD_MS // total

    def user_since_ms(self, user: int) -> int:
        """Give the moment at which an account was made."""
        return self.moment_ms(user, self.users)

    def user_id(self, user: int) -> str:
        """Give the id of an account."""
        return identifier("users", user, self.user_since_ms(user))

    def organization_since_ms(self, organization: int) -> int:
        """Give the moment at which an organization was made."""
        return self.moment_ms(organization, self.organizations)

    def organization_id(self, organization: int) -> str:
        """Give the id of an organization."""
        return identifier("organizations", organization, self.organization_since_ms(organization))

    def service_since_ms(self, service: int) -> int:
        """Give the moment at which a service was made."""
        return self.organization_since_ms(service % self.organizations)

    def service_id(self, service: int) -> str:
        """Give the id of a service; they go to the organizations in turn."""
        return identifier("services", service, self.service_since_ms(service))

    def members(self) -> Shares:
        """Give the memberships, and whose they are."""
        return shares(self.memberships, self.organizations, least=1, most=self.users)

    def member(self, organization: int, turn: int) -> int:
        """Give the user who is a member; the one of turn 0 is the owner."""
        # The owners are spread over all users, and their members are who came next.
        return (organization * self.users // self.organizations + turn) % self.users

    def links(self) -> Shares:
        """Give the links of end users to services, and whose they are."""
        return shares(self.end_users, self.organizations_with_services, least=0, most=self.users)

    def end_user(self, organization: int, turn: int) -> tuple[int, int]:
        """Give the user of a link and the service, which are the organization's in turn."""
        services = -(-(self.services - organization) // self.organizations)
        # Seldom those who manage it.
        user = self.member(organization, turn + self.users // 2)
        return user, organization + turn % services * self.organizations


@lru_cache(KEPT_MAX)
def _first_ms(until: datetime) -> int:
    return int((until - PERIOD).timestamp() * 1000)


# Far enough apart that no two tables share an id.
_TABLES: Final = {
    name: place << 58
    for place, name in enumerate(
        ("users", "organizations", "memberships", "login_events", "audit", "services", "clients", "invitations")
    )
}


def identifier(table: str, number: int, milliseconds: int) -> str:
    """Write a UUIDv7 of that moment as PostgreSQL reads it; two of one table never meet."""
    scattered = number * _SCATTER + _TABLES[table]
    low = scattered & ((1 << _LOW_BITS) - 1)
    return f"{milliseconds:012x}7{scattered >> _LOW_BITS & 0xFFF:03x}{_VARIANT_RFC | low:016x}"


def dashed(digits: str) -> str:
    """Write an id as the service does where it is text."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def moment(milliseconds: int) -> str:
    """Write a moment as PostgreSQL reads it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()


@lru_cache(KEPT_MAX)
def day(milliseconds: int) -> str:
    """Write a day as PostgreSQL reads it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()


def address(user: int) -> str:
    """Give the email address of an account."""
    return f"person-{user + 1}@seed.example"


def invited(invitation: int) -> str:
    """Give the email address of somebody who was invited, and has no account."""
    return f"invited-{invitation + 1}@seed.example"


def slug(organization: int) -> str:
    """Give the slug of an organization."""
    return f"seed-{organization + 1}"


def password_hash(cost: Argon2Cost = DEFAULT_COST) -> str:
    """Hash the password as the service does today, so that a sign-in finds nothing to make anew."""
    return hash_secret(
        PASSWORD.encode(), _SALT, cost.passes, cost.memory_kib, cost.lanes, _HASH_BYTES, Type.ID
    ).decode()
