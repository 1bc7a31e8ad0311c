"""Tokens that are found by a prefix: API keys (`services/api_keys.py`) and SCIM tokens (`scim/tokens.py`).

A token is a text such as `sk_a1B2c3_…`. It is shown once and stored as a hash. It is found by its prefix, which is not
secret, and compared in constant time.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# How exactly `last_used_at` is kept; more often would make a token's row the busiest of the database.
USE_RECORDED_EVERY: Final = timedelta(minutes=1)

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PREFIX_CHARACTERS: Final = 6
# More than 256 random bits.
_SECRET_CHARACTERS: Final = 43
# Compared with where no token has the prefix, so that the time does not tell which prefixes exist.
_NO_HASH: Final = bytes(32)
# No token has this prefix.
_NO_PREFIX: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixedToken:
    """The token that a request presents: the prefix to find it by, and its hash."""

    prefix: str
    token_hash: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCaller:
    """Who calls with a token: what is stored of it, and its organization."""

    token_hash: bytes = field(repr=False)
    last_used_at: datetime | None
    expires_at: datetime | None
    organization_id: UUID
    organization_status: str

    def is_use_due(self, at: datetime) -> bool:
        """Return whether this use is recorded."""
        return self.last_used_at is None or self.last_used_at + USE_RECORDED_EVERY <= at


AnyCaller = TypeVar("AnyCaller", bound=TokenCaller)


class TokenForm:
    """The form of the tokens of one kind, which begin with its name.

    The same with a region after the kind, `sk_eu_a1B2c3_…`, is reserved for keys that say to which installation they
    belong (ops/decisions/0081-where-data-lie.md). Until there are some, it is refused like any other form.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._shape = re.compile(rf"({kind}_[0-9A-Za-z]{{{_PREFIX_CHARACTERS}}})_[0-9A-Za-z]{{{_SECRET_CHARACTERS}}}")

    def create(self, uow: UnitOfWork) -> tuple[str, Secret]:
        """Return the prefix of a new token, and the token."""
        prefix = f"{self._kind}_{uow.randomness.choice(_ALPHABET, _PREFIX_CHARACTERS)}"
        return prefix, Secret(f"{prefix}_{uow.randomness.choice(_ALPHABET, _SECRET_CHARACTERS)}")

    def presented(self, text: str) -> PrefixedToken:
        """Return a presented token; one of another form takes as long to refuse as any other."""
        shape = self._shape.fullmatch(text)
        return PrefixedToken(prefix=shape[1] if shape is not None else _NO_PREFIX, token_hash=hash_token(text))


def find(candidates: Sequence[AnyCaller], token: PrefixedToken, *, at: datetime) -> AnyCaller | None:
    """Return the caller among those whose token has the prefix; None when the token is unknown or has expired."""
    hashes = [candidate.token_hash for candidate in candidates] or [_NO_HASH]
    matches = [hmac.compare_digest(token_hash, token.token_hash) for token_hash in hashes]
    found = next((candidate for candidate, matched in zip(candidates, matches, strict=False) if matched), None)
    return found if found is not None and (found.expires_at is None or found.expires_at > at) else None
