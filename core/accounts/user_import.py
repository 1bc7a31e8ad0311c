"""Importing accounts from another system: parsing a line of the file, and creating accounts from it.

An address that already has an account is skipped, so a file may be imported again, also after an interruption. No mail
is sent and no event is published. The password hasher decides which hashes it can verify; reading the file and
reporting progress are in `entrypoints/operator/user_import.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, cast

from core.accounts import names
from core.accounts.users import User
from core.email_addresses import ToAscii, normalize_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# An earlier creation time is a mistake, as a future one is.
CREATED_AT_MIN: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Problem(StrEnum):
    """Why a line is left out, as the end of a sentence."""

    TOO_LONG = "it is too long"
    NOT_JSON = "it is not a JSON object"
    NO_EMAIL = "it has no email"
    INVALID_EMAIL = "its email is not a valid address"
    NO_HASH = "it has no hash (null is for an account without a password)"
    UNKNOWN_HASH = "its hash is malformed or of an unknown kind"
    EXPENSIVE_HASH = (
        "its hash takes more than five times as long to compare as ours: give null instead, and the user chooses a new"
        ' password with "forgot password"'
    )
    BAD_VERIFIED = "its verified is neither true nor false"
    BAD_BLOCKED = "its blocked is neither true nor false"
    BAD_TIME = "its created_at is not a past time with a zone, such as 2024-05-01T12:00:00Z"


class HashTooExpensive(Exception):
    """A hash is well-formed, but its comparison would cost more than five times as much as one of our own."""


class LineRejected(Exception):
    """No account can be created from a line. The line is never quoted, because it contains secrets."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPerson:
    """The content of one line."""

    email: str
    password_hash: str | None = field(repr=False)
    is_verified: bool
    created_at: datetime
    name: str | None = field(default=None, repr=False)
    is_blocked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedAccount:
    """An account to create, with its imported password hash."""

    user: User
    password_hash: str | None = field(repr=False)


def read(
    line: bytes, stored_form: Callable[[object], str | None], to_ascii: ToAscii, *, now: datetime
) -> ImportedPerson:
    """Parse a line; raise `LineRejected`.

    `stored_form` returns a hash as it is stored, None when it is unsupported, and raises `HashTooExpensive`.
    """
    values = _values(line)
    return ImportedPerson(
        email=_email(values, to_ascii),
        password_hash=_password_hash(values, stored_form),
        is_verified=_flag(values, "verified", Problem.BAD_VERIFIED),
        created_at=_created_at(values, now),
        name=_name(values),
        is_blocked=_flag(values, "blocked", Problem.BAD_BLOCKED),
    )


def store(uow: UnitOfWork, people: Sequence[ImportedPerson]) -> int:
    """Create accounts for addresses without one, and return how many. For a repeated address the first line counts."""
    return uow.user_import.add_new([_account(uow, person) for person in people], at=uow.now)


def count_kinds(uow: UnitOfWork) -> Sequence[tuple[str, int]]:
    """Return each kind of hash that is not ours, as a hash that no password matches, and how many accounts have it."""
    return uow.credentials.count_by_decoy()


def _account(uow: UnitOfWork, person: ImportedPerson) -> ImportedAccount:
    user = User(
        id=uow.randomness.new_account_id(),
        email=person.email,
        # The file does not state when the address was proved.
        email_verified_at=uow.now if person.is_verified else None,
        is_platform_owner=False,
        created_at=person.created_at,
        updated_at=uow.now,
        name=person.name,
        # A platform owner may activate it.
        deactivated_at=uow.now if person.is_blocked else None,
    )
    return ImportedAccount(user=user, password_hash=person.password_hash)


def _values(line: bytes) -> dict[str, Any]:
    try:
        # Some systems write a byte order mark at the beginning of a file.
        values: object = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise LineRejected(Problem.NOT_JSON) from None
    if not isinstance(values, dict):
        raise LineRejected(Problem.NOT_JSON)
    return cast("dict[str, Any]", values)


def _email(values: dict[str, Any], to_ascii: ToAscii) -> str:
    given = values.get("email")
    if given is None or given == "":
        raise LineRejected(Problem.NO_EMAIL)
    # JSON can express a lone surrogate, which PostgreSQL cannot store.
    if not isinstance(given, str) or _SURROGATE.search(given):
        raise LineRejected(Problem.INVALID_EMAIL)
    try:
        return normalize_email(given, to_ascii)
    except BadRequest:
        raise LineRejected(Problem.INVALID_EMAIL) from None


def _name(values: dict[str, Any]) -> str | None:
    """Return the name of a line; one that Gatehouse does not accept is left out, not the account."""
    given = values.get("name")
    if not isinstance(given, str) or _SURROGATE.search(given):
        return None
    try:
        return names.checked(given)
    except BadRequest:
        return None


def _password_hash(values: dict[str, Any], stored_form: Callable[[object], str | None]) -> str | None:
    # No hash must be an explicit null; otherwise a file that uses another key would create accounts without passwords.
    if "hash" not in values:
        raise LineRejected(Problem.NO_HASH)
    if values["hash"] is None:
        return None
    try:
        stored = stored_form(values["hash"])
    except HashTooExpensive:
        raise LineRejected(Problem.EXPENSIVE_HASH) from None
    if stored is None:
        raise LineRejected(Problem.UNKNOWN_HASH)
    return stored


def _flag(values: dict[str, Any], name: str, problem: Problem) -> bool:
    given = values.get(name, False)
    if not isinstance(given, bool):
        raise LineRejected(problem)
    return given


def _created_at(values: dict[str, Any], now: datetime) -> datetime:
    given = values.get("created_at")
    if given is None:
        return now
    try:
        created_at = datetime.fromisoformat(given)
    except (TypeError, ValueError):
        raise LineRejected(Problem.BAD_TIME) from None
    if created_at.tzinfo is None or not CREATED_AT_MIN <= created_at <= now:
        raise LineRejected(Problem.BAD_TIME)
    return created_at
