"""What an authenticator is asked to sign: random bytes that are good for five minutes and for one answer.

A challenge of a registration belongs to the account in its row. A challenge of a sign-in tells whoever looks at it
nothing about an account, and costs the same work for everybody: who may answer it is written into its bytes, as a mark
that only this installation can make and read.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from core.secrets import hash_token

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=5)
# Whoever owns a passkey that the browser offers without being told an address.
ANYBODY: Final = b""
_NONCE_BYTES: Final = 32


class Purpose(StrEnum):
    """What a challenge is for; an answer to one purpose is none to the other."""

    REGISTER = "register"
    AUTHENTICATE = "authenticate"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPasskeyChallenge:
    """A challenge; `user_id` says who registers, and nothing when somebody signs in."""

    id: UUID
    purpose: Purpose
    user_id: UUID | None
    challenge: bytes = field(repr=False)
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyOptions:
    """What a browser is given: the name of the challenge, and the options for its call."""

    challenge_id: UUID
    options: dict[str, Any] = field(repr=False)


def begin_registration(uow: UnitOfWork, user_id: UUID) -> StoredPasskeyChallenge:
    """Make a challenge for a new passkey of an account."""
    return _begin(uow, Purpose.REGISTER, user_id, _nonce(uow))


def begin_sign_in(uow: UnitOfWork, subject: bytes) -> StoredPasskeyChallenge:
    """Make a challenge for a sign-in that only the subject may answer, by `subject_of`, or `ANYBODY`."""
    nonce = _nonce(uow)
    return _begin(uow, Purpose.AUTHENTICATE, None, nonce + _mark(uow, nonce, subject))


def subject_of(user_id: UUID) -> bytes:
    """Say how a challenge names an account; authenticators keep the same bytes as their user handle."""
    return user_id.bytes


def is_for(uow: UnitOfWork, challenge: StoredPasskeyChallenge, subject: bytes) -> bool:
    """Say whether the subject may answer the challenge of a sign-in."""
    nonce, mark = challenge.challenge[:_NONCE_BYTES], challenge.challenge[_NONCE_BYTES:]
    return hmac.compare_digest(mark, _mark(uow, nonce, subject))


def _nonce(uow: UnitOfWork) -> bytes:
    return hash_token(uow.randomness.token().reveal())


def _mark(uow: UnitOfWork, nonce: bytes, subject: bytes) -> bytes:
    return uow.pepper.mark("passkey challenge", nonce, subject)


def _begin(uow: UnitOfWork, purpose: Purpose, user_id: UUID | None, challenge: bytes) -> StoredPasskeyChallenge:
    begun = StoredPasskeyChallenge(
        id=uow.randomness.new_id(),
        purpose=purpose,
        user_id=user_id,
        challenge=challenge,
        created_at=uow.now,
        expires_at=uow.now + LIFETIME,
    )
    uow.passkey_challenges.add(begun)
    return begun
