"""Passkey challenges: random bytes for an authenticator to sign, valid for five minutes and for one answer.

The row of a registration challenge names the account. A sign-in challenge reveals nothing about an account and costs
the same work for every address: its bytes contain a keyed hash of the subject that may answer it, which only this
installation can make and check. A passkey that finishes a sign-in signs a challenge of that sign-in
(`core/sign_in/second_factor.py`).
"""

from __future__ import annotations

import hmac
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.secrets import hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=5)
# The subject of a sign-in without an address: the owner of any passkey that the browser offers.
ANY_ACCOUNT: Final = b""
_NONCE_BYTES: Final = 32


class Purpose(StrEnum):
    """What a challenge is for; it cannot be answered for the other purpose."""

    REGISTER = "register"
    AUTHENTICATE = "authenticate"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPasskeyChallenge:
    """A challenge; `user_id` is the user who registers a passkey, and None for a sign-in."""

    id: UUID
    purpose: Purpose
    user_id: UUID | None
    challenge: bytes = field(repr=False)
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyOptions:
    """What a browser receives: the id of the challenge, and the options for its WebAuthn call."""

    challenge_id: UUID
    options: dict[str, Any] = field(repr=False)


def begin_registration(uow: UnitOfWork, user_id: UUID) -> StoredPasskeyChallenge:
    """Make a challenge for a new passkey of an account."""
    return _begin(uow, Purpose.REGISTER, user_id, nonce(uow))


def begin_sign_in(uow: UnitOfWork, subject: bytes) -> StoredPasskeyChallenge:
    """Make a challenge for a sign-in that only the subject may answer: one of `subject_of`, or `ANY_ACCOUNT`."""
    fresh = nonce(uow)
    return _begin(uow, Purpose.AUTHENTICATE, None, fresh + _subject_hash(uow, fresh, subject))


def subject_of(user_id: UUID) -> bytes:
    """Return the bytes that name an account in a challenge; authenticators store the same as their user handle."""
    return user_id.bytes


def is_for(uow: UnitOfWork, challenge: StoredPasskeyChallenge, subject: bytes) -> bool:
    """Return whether the subject may answer the challenge of a sign-in."""
    signed, subject_hash = challenge.challenge[:_NONCE_BYTES], challenge.challenge[_NONCE_BYTES:]
    return hmac.compare_digest(subject_hash, _subject_hash(uow, signed, subject))


def nonce(uow: UnitOfWork) -> bytes:
    """Return new random bytes for an authenticator to sign."""
    return hash_token(uow.randomness.token().reveal())


def _subject_hash(uow: UnitOfWork, signed: bytes, subject: bytes) -> bytes:
    return uow.pepper.mark("passkey challenge", signed, subject)


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
