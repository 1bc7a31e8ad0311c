"""Who there is: how many, under which ids, since when. Everybody follows from their number and the plan alone.

So nothing has to be remembered between two tables: an event names its person by computing the person's id again.
Numbers begin at 0 here; in addresses and slugs they begin at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from argon2.low_level import Type, hash_secret

from adapters.crypto.passwords import DEFAULT_COST

if TYPE_CHECKING:
    from adapters.crypto.passwords import Argon2Cost

# Everybody's, so that whoever measures can sign in as anybody.
PASSWORD: Final = "correct horse battery staple"  # noqa: S105 - known on purpose, and of nobody real
_SALT: Final = b"gatehouse-seeded"
_HASH_BYTES: Final = 32
# How long ago the first of them came.
PERIOD: Final = timedelta(days=730)
MILLISECONDS_PER_DAY: Final = 24 * 60 * 60 * 1000
MEMBERS_PER_ORGANIZATION: Final = 5

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
        if self.audit_entries and not self.organizations:
            raise CannotSeed("Audit entries belong to organizations: take 1 organization or more.")

    @property
    def first_ms(self) -> int:
        """The moment of the first account, in milliseconds since 1970."""
        return int((self.until - PERIOD).timestamp() * 1000)

    def moment_ms(self, number: int, total: int) -> int:
        """Give the moment of one of so many that are spread evenly over the whole period."""
        return self.first_ms + number * (PERIOD // timedelta(milliseconds=1)) // total

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

    def member(self, membership: int) -> tuple[int, int]:
        """Give the organization and the user of a membership; the first round has the owners."""
        turn, organization = divmod(membership, self.organizations)
        # The owners are spread over all users, and their members are who came next.
        return organization, (organization * self.users // self.organizations + turn) % self.users


# Far enough apart that no two tables share an id.
_TABLES: Final = {
    name: place << 58 for place, name in enumerate(("users", "organizations", "memberships", "login_events", "audit"))
}


def identifier(table: str, number: int, milliseconds: int) -> str:
    """Write a UUIDv7 of that moment as PostgreSQL reads it; two of one table never meet."""
    scattered = number * _SCATTER + _TABLES[table]
    low = scattered & ((1 << _LOW_BITS) - 1)
    return f"{milliseconds:012x}7{scattered >> _LOW_BITS & 0xFFF:03x}{_VARIANT_RFC | low:016x}"


def moment(milliseconds: int) -> str:
    """Write a moment as PostgreSQL reads it."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()


def address(user: int) -> str:
    """Give the email address of an account."""
    return f"person-{user + 1}@seed.example"


def slug(organization: int) -> str:
    """Give the slug of an organization."""
    return f"seed-{organization + 1}"


def password_hash(cost: Argon2Cost = DEFAULT_COST) -> str:
    """Hash the password as the service does today, so that a sign-in finds nothing to make anew."""
    return hash_secret(
        PASSWORD.encode(), _SALT, cost.passes, cost.memory_kib, cost.lanes, _HASH_BYTES, Type.ID
    ).decode()
