"""Limits on mails, so that no caller can fill a stranger's mailbox through Gatehouse.

`mail.py` declares the limits of each template and applies them where a mail is queued. Mails are counted in the
database, in the transaction that queues them: replicas share the counts, and concurrent requests count one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import Enum
from math import ceil
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import RateLimitExceeded
from core.networks import throttled_network

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)


class AddressLimitReached(RateLimitExceeded):
    """One address has got its maximum of mails; mails to others are sent."""


class Scope(Enum):
    """Which mails are counted together."""

    ADDRESS = "address"
    ADDRESS_FROM_NETWORK = "address, from one network"
    ORGANIZATION = "organization"
    ADDRESS_IN_ORGANIZATION = "address in organization"


class MailLimit(Enum):
    """A maximum number of mails of one template in a period.

    With a text, the request for a further mail is refused. Without one, the answer stays the same and the mail is
    discarded, because the answer must not reveal whether an account has the address.
    """

    TO_ADDRESS = (5, _HOUR, Scope.ADDRESS, None)
    # So that one network cannot use up the mails with which the owner of the address registers.
    TO_ADDRESS_FROM_NETWORK = (2, _HOUR, Scope.ADDRESS_FROM_NETWORK, None)
    INVITATIONS_OF_ORGANIZATION = (
        *(100, _HOUR, Scope.ORGANIZATION),
        "This organization has sent 100 invitations within an hour, which is the maximum. Try again later.",
    )
    INVITATIONS_OF_ORGANIZATION_TO_ADDRESS = (
        *(5, _DAY, Scope.ADDRESS_IN_ORGANIZATION),
        "This organization has invited this address five times within a day, which is the maximum. Try again tomorrow.",
    )
    INVITATIONS_TO_ADDRESS = (
        *(20, _DAY, Scope.ADDRESS),
        "This address has got 20 invitations within a day, which is the maximum. Try again tomorrow.",
    )
    MEMBERSHIPS_TO_ADDRESS = (
        *(20, _DAY, Scope.ADDRESS),
        "This address has got 20 mails about new memberships within a day, which is the maximum. Try again tomorrow.",
    )
    LEAVERS_OF_ORGANIZATION = (50, _DAY, Scope.ADDRESS_IN_ORGANIZATION, None)
    KEPT_OF_ORGANIZATION = (1, _DAY, Scope.ORGANIZATION, None)
    SERVER_TESTS_OF_ORGANIZATION = (
        *(20, _HOUR, Scope.ORGANIZATION),
        "This organization has tested its mail server 20 times within an hour, which is the maximum. Try again later.",
    )

    mails_max: int
    period: timedelta
    scope: Scope
    refusal: str | None

    def __new__(cls, mails_max: int, period: timedelta, scope: Scope, refusal: str | None) -> MailLimit:
        """Create a limit; its value is its number, because two limits may have the same figures."""
        member = object.__new__(cls)
        member._value_ = len(cls.__members__)
        member.mails_max = mails_max
        member.period = period
        member.scope = scope
        member.refusal = refusal
        return member


def admits(
    uow: UnitOfWork, limits: Sequence[MailLimit], template: str, address: str, organization_id: UUID | None
) -> bool:
    """Count a mail towards its limits; return False when it must be discarded.

    Raise `RateLimitExceeded` when the request for it is refused instead; the rollback also undoes the count.
    """
    if not uow.has_rate_limits:
        return True
    # The limits of a template are always counted in the same order, so that two transactions never wait for each other.
    return all(_admits(uow, limit, template, address, organization_id) for limit in limits)


def is_due(uow: UnitOfWork, limit: MailLimit, template: str, organization_id: UUID) -> bool:
    """Count a regular mail to an organization, and return whether it is due.

    This counts also where rate limits are off, because it is no limit on callers.
    """
    return _admits(uow, limit, template, "", organization_id)


def admits_each(uow: UnitOfWork, limits: Sequence[MailLimit], template: str, addresses: Sequence[str]) -> set[str]:
    """Count a mail to each of these different addresses, in one statement for each limit; return who gets one.

    This is only for limits of an address that discard the mail.
    """
    if not uow.has_rate_limits:
        return set(addresses)
    admitted = set(addresses)
    for limit in limits:
        assert limit.scope is Scope.ADDRESS, "a limit of several mails counts something else than addresses"
        assert limit.refusal is None, "a limit of several mails would refuse the request"
        keys = {_key(uow, limit, template, address, None): address for address in sorted(admitted)}
        counted = uow.mail_counts.add_each(sorted(keys), limit.mails_max, limit.period, at=uow.now)
        admitted = {keys[key] for key in counted}
    return admitted


def _admits(uow: UnitOfWork, limit: MailLimit, template: str, address: str, organization_id: UUID | None) -> bool:
    key = _key(uow, limit, template, address, organization_id)
    free_at = uow.mail_counts.add(key, limit.mails_max, limit.period, at=uow.now)
    if free_at is None or limit.refusal is None:
        return free_at is None
    seconds = (free_at - uow.now).total_seconds()
    refusal = RateLimitExceeded if limit.scope is Scope.ORGANIZATION else AddressLimitReached
    raise refusal(limit.refusal, retry_after_seconds=max(1, ceil(seconds))).of(limit.name.lower(), counts="mails")


def _key(uow: UnitOfWork, limit: MailLimit, template: str, address: str, organization_id: UUID | None) -> bytes:
    """Return the key of the count of a limit: a keyed hash, because an address may have no account."""
    parts = [limit.name.encode(), template.encode()]
    if limit.scope is not Scope.ORGANIZATION:
        parts.append(address.encode("utf-8", "surrogatepass"))
    if limit.scope is Scope.ADDRESS_FROM_NETWORK:
        parts.append(throttled_network(uow.origin.ip_address).encode())
    elif limit.scope is not Scope.ADDRESS:
        assert organization_id is not None, "a mail that counts for its organization names none"
        parts.append(organization_id.bytes)
    return uow.pepper.mark("mail limit", *parts)


def free_at(uow: UnitOfWork, limits: Sequence[MailLimit], template: str, address: str) -> datetime | None:
    """Return when another mail to an address may be counted, by the limits of its address; None for at once."""
    found = [
        uow.mail_counts.free_at(_key(uow, limit, template, address, None), limit.mails_max, limit.period, at=uow.now)
        for limit in limits
        if limit.scope is Scope.ADDRESS
    ]
    return max((free_at for free_at in found if free_at is not None), default=None)


def keys_of_address(
    uow: UnitOfWork, of_templates: Iterable[tuple[str, Sequence[MailLimit]]], address: str
) -> list[bytes]:
    """Return the keys of the counts of mails to an address, for each template with its limits.

    Counts of an address together with a network or an organization are not among them.
    """
    return [
        _key(uow, limit, template, address, None)
        for template, of_template in of_templates
        for limit in of_template
        if limit.scope is Scope.ADDRESS
    ]
