"""Gives stored addresses the canonical form that later versions require (ops/decisions/0017-idna-2008.md).

Accounts and invitations of earlier versions may have an internationalized domain in its own letters. The migrations
replace it by its ASCII form. Where it has none, or another account has the canonical address, the address stays, gets
no mail, and is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, LiteralString
from uuid import UUID

from psycopg.errors import UniqueViolation

from adapters.domain_names import IdnaDomainNames
from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema.lock_waits import LockWaits, NotGranted, when_granted
from core.email_addresses import normalize_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass

ACCOUNTS_BETWEEN_REPORTS: Final = 1_000
WAITS: Final = LockWaits(try_seconds=5, between_seconds=10, total_seconds=60)
# Every account that may have another form: letters beyond ASCII, ASCII forms, names that were accepted once.
_SUSPECTS: Final = """
    SELECT   id, email
    FROM     users
    WHERE    anonymized_at IS NULL
      AND    (octet_length(email) <> length(email) OR email LIKE '%@%xn--%' OR email LIKE '%@%\\_%')
    ORDER BY id
"""
# Together with the account: its links, and the mails that are not sent yet.
_CONVERSION: Final[tuple[LiteralString, ...]] = (
    "UPDATE users SET email = %(new)s WHERE id = %(id)s AND email = %(old)s",
    "UPDATE one_time_tokens SET email = %(new)s WHERE user_id = %(id)s AND email = %(old)s",
    "UPDATE mails SET recipient = %(new)s WHERE recipient = %(old)s AND state = 'queued'",
)
_INVITATIONS: Final = """
    SELECT   id, email
    FROM     invitations
    WHERE    status = 'pending' AND octet_length(email) <> length(email)
    ORDER BY id
"""
_INVITATION: Final[tuple[LiteralString, ...]] = (
    "UPDATE invitations SET email = %(new)s WHERE id = %(id)s AND email = %(old)s",
)


@dataclass(frozen=True, slots=True)
class NotCanonical:
    """A row whose address is not in its canonical form; `canonical` is None when the address has no such form."""

    id: UUID
    email: str
    canonical: str | None


def convert(connection: RawConnection, report: Callable[[str], None]) -> None:
    """Convert every address that has a canonical form which is free; repeating it changes nothing."""
    accounts = not_canonical(connection)
    converted = 0
    for done, one in enumerate(accounts):
        if done and done % ACCOUNTS_BETWEEN_REPORTS == 0:
            report(f"Addresses of accounts: {done:,} of {len(accounts):,}, {done * 100 // len(accounts)} %")
        converted += _convert(connection, _CONVERSION, one, report)
    for one in _not_canonical(connection, _INVITATIONS):
        _convert(connection, _INVITATION, one, report)
    if accounts:
        report(
            f"Addresses of accounts converted to their canonical form: {converted} of {len(accounts)}."
            + (" `gatehouse doctor` lists the others." if converted < len(accounts) else "")
        )


def not_canonical(connection: RawConnection) -> list[NotCanonical]:
    """List the accounts whose address is not in its canonical form."""
    return _not_canonical(connection, _SUSPECTS)


def _not_canonical(connection: RawConnection, query: LiteralString) -> list[NotCanonical]:
    found = [NotCanonical(row, email, _canonical_form(email)) for row, email in connection.execute(query)]
    return [one for one in found if one.canonical != one.email]


def _canonical_form(email: str) -> str | None:
    try:
        return normalize_email(email, IdnaDomainNames().to_ascii)
    except BadRequest:
        return None


def _convert(
    connection: RawConnection,
    statements: tuple[LiteralString, ...],
    one: NotCanonical,
    report: Callable[[str], None],
) -> bool:
    if one.canonical is None:
        return False

    def convert() -> None:
        with connection.transaction():
            for statement in statements:
                connection.execute(statement, {"id": one.id, "old": one.email, "new": one.canonical})

    what = f"The address of {one.id}"
    try:
        when_granted(connection, convert, what=what, waits=WAITS, report=report)
    except UniqueViolation:
        return False
    except NotGranted as error:
        report(
            f"{what} stays as it is: it is held by {error.looked}. Run `gatehouse migrate` again when that has ended."
        )
        return False
    return True
