"""The rules of a sign-in by a connection before it has proved an identity, with facts of their own.

Signing in calls the same functions one after the other, while it locks what they judge (`by_connection.py`,
`sign_in.py`).
"""

from __future__ import annotations

from core.accounts.users import User
from core.lazy_dataclasses import dataclass
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Answer, Asks, Rule, SignInRule
from core.sign_in.upstream import sign_in
from core.sign_in.upstream.by_connection import ConnectionClosed, OrganizationFull
from core.sign_in.upstream.sign_in import DomainNotProved


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFacts:
    """A sign-in by a connection: `user` has the address or the identity, None for an account that it makes.

    `is_linked`: the identity is linked already. `links_at_once`: it takes no mailed code. `joins`: the user becomes a
    member. `has_room`: there is room for one.
    """

    is_open: bool
    is_linked: bool
    vouches: bool
    user: User | None
    links_at_once: bool
    joins: bool
    has_room: bool

    @property
    def asks_to_link(self) -> bool:
        """Whether the user has to sign in to the account once."""
        is_present = not self.is_linked and self.user is not None and not self.links_at_once
        return is_present and self.user is not None and sign_in.reason_to_link(self.user) is not None

    @property
    def rules(self) -> tuple[SignInRule[ConnectionFacts], ...]:
        """The rules that such a sign-in meets."""
        of_new = (SignInRule(Rule.MAIL_DOMAIN, _mail_domain), SignInRule(Rule.LINK, _link))
        return (
            SignInRule(Rule.CONNECTION_OPEN, _open),
            *(() if self.is_linked else of_new),
            *((SignInRule(Rule.SEAT, _seat),) if self.joins else ()),
        )


def _open(facts: ConnectionFacts) -> Answer:
    return None if facts.is_open else ConnectionClosed().because(SignInReason.CONNECTION_CLOSED)


def _mail_domain(facts: ConnectionFacts) -> Answer:
    return None if facts.vouches else DomainNotProved().because(SignInReason.DOMAIN_NOT_PROVED)


def _link(facts: ConnectionFacts) -> Answer:
    return Asks(SignInReason.LINK_REQUIRED) if facts.asks_to_link else None


def _seat(facts: ConnectionFacts) -> Answer:
    return None if facts.has_room else OrganizationFull().because(SignInReason.ORGANIZATION_FULL)
