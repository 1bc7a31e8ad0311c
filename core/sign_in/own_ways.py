"""How a person signs in: the ways that are open to them, how this session began, and what it cannot change.

An organization may require its own sign-in of the addresses of its mail domain, and a session that began with the word
of an organization is confined to it. The pages of the account say so, rather than offer what is refused afterwards.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import profile
from core.accounts.profile import SignInMethods
from core.accounts.single_sign_on import RequiredConnection
from core.lazy_dataclasses import dataclass
from core.sessions.callers import Caller
from core.sign_in import identities

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AccountLimit(StrEnum):
    """Why this session changes nothing of the whole account."""

    # The session is for one organization alone, and the account is used elsewhere too, or the session began by a
    # vendor's setup for a customer.
    USED_ELSEWHERE = "used_elsewhere"
    # Nothing but the word of an organization's connection says whose the session is.
    NOT_CONFIRMED = "not_confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedConnection:
    """A connection of an organization, by its name and the organization's."""

    id: UUID
    organization_id: UUID
    name: str
    organization_name: str

    @property
    def standing(self) -> RequiredConnection:
        """The connection as one that is required."""
        return RequiredConnection(connection_id=self.id, organization_id=self.organization_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWays:
    """How the caller signs in.

    `providers` are those of the linked accounts. `connection` is the one by which this session began, None if it began
    otherwise, and `required` the one by which the caller has to sign in, None when every way is open. `limit` is why
    this session changes nothing of the account; None when it may.
    """

    methods: SignInMethods
    providers: list[str]
    connection: NamedConnection | None
    required: NamedConnection | None
    limit: AccountLimit | None


def read_ways(uow: UnitOfWork) -> OwnWays:
    """Return how the caller signs in."""
    caller = uow.caller
    required = uow.own_ways.defer_required(caller.account.id)
    connection = uow.own_ways.defer_connection_of(caller.session.id)
    linked = {identity.provider for identity in identities.list_mine(uow)}
    return OwnWays(
        methods=profile.sign_in_methods(uow),
        providers=sorted(linked),
        connection=connection(),
        required=required(),
        limit=limit_of(caller),
    )


def limit_of(caller: Caller) -> AccountLimit | None:
    """Return why the caller's session changes nothing of the whole account; None when it may."""
    if caller.is_limited and (caller.account.has_platform_role or caller.account.belongs_elsewhere):
        return AccountLimit.USED_ELSEWHERE
    return AccountLimit.NOT_CONFIRMED if caller.limits.is_unproved else None
