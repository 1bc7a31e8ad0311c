"""Passkey challenges, and the decoys that a browser is offered when an address has no account, or that no passkeys.

The row of a registration challenge names the account. A sign-in challenge reveals nothing about an account and costs
the same work for every address: its bytes contain a keyed hash of the subject that may answer it, which only this
installation can make and check. A passkey that finishes a sign-in signs a challenge of that sign-in
(`core/sign_in/second_factor.py`).

Decoys are derived from the address and a key of the installation, so that repeated requests return the same ones, and
they look like the credentials of common authenticators. Their number is derived too. It cannot follow the true
distribution, which differs between installations; but every answer that an account with passkeys can give is also given
for some address without an account, so no answer proves that an account exists. What remains is a guess by probability,
and only about users with passkeys: an account without passkeys is answered like an unknown address.

Decoys are also recognized: registering a passkey under the id of a decoy is refused like one under the id of a
registered one, because otherwise an attempt would tell them apart.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.credentials.webauthn import Descriptor, Transport
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


DECOYS_MAX: Final = 8
# The id lengths of common authenticators and their transports: synchronized keychains, platform authenticators,
# security keys.
_SHAPES: Final = (
    (16, (Transport.HYBRID, Transport.INTERNAL)),
    (20, (Transport.HYBRID, Transport.INTERNAL)),
    (32, (Transport.INTERNAL,)),
    (48, (Transport.NFC, Transport.USB)),
    (64, (Transport.USB,)),
)
# The last bytes of a decoy's id are a keyed hash of the bytes before them, which a real id matches only by chance.
_TAG_BYTES: Final = 8


def decoys_of_address(uow: UnitOfWork, address: str) -> Sequence[Descriptor]:
    """Return the decoys of an address: one for half of all addresses, and each further one for half of the rest."""
    # The purposes below are part of the derivation: changing one changes the decoys of every address.
    # Under another host the address has other decoys, as it would have other passkeys.
    subject = _decoy_subject(uow, address)
    drawn = uow.pepper.mark("passkey stand-ins", subject)
    total = 1 + next((bit for bit in range(DECOYS_MAX) if drawn[0] >> bit & 1), DECOYS_MAX - 1)
    return [_decoy(uow, subject, number) for number in range(total)]


def is_decoy(uow: UnitOfWork, credential_id: bytes) -> bool:
    """Return whether a credential id is the id of a decoy."""
    return hmac.compare_digest(credential_id[-_TAG_BYTES:], _tag(uow, credential_id[:-_TAG_BYTES]))


def _decoy_subject(uow: UnitOfWork, address: str) -> bytes:
    host = uow.origin.custom_host
    return address.encode() if host is None else b"\0".join((address.encode(), host.domain_id.bytes))


def _decoy(uow: UnitOfWork, subject: bytes, number: int) -> Descriptor:
    drawn = uow.pepper.mark("passkey stand-in", subject, bytes([number]))
    length, transports = _SHAPES[drawn[0] % len(_SHAPES)]
    head = (drawn[1:] + uow.pepper.mark("passkey stand-in, continued", drawn))[: length - _TAG_BYTES]
    return Descriptor(credential_id=head + _tag(uow, head), transports=transports)


def _tag(uow: UnitOfWork, head: bytes) -> bytes:
    return uow.pepper.mark("passkey stand-in, its end", head)[:_TAG_BYTES]
