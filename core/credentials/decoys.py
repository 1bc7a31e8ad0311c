"""Decoy credentials: the passkeys that a browser is offered when an address has no account, or its account no passkeys.

They are derived from the address and a key of the installation, so that repeated requests return the same ones, and
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
from typing import TYPE_CHECKING, Final

from core.credentials.webauthn import Descriptor, Transport

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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


def of_address(uow: UnitOfWork, address: str) -> Sequence[Descriptor]:
    """Return the decoys of an address: one for half of all addresses, and each further one for half of the rest."""
    # The purposes below are part of the derivation: changing one changes the decoys of every address.
    # Under another host the address has other decoys, as it would have other passkeys.
    subject = _subject(uow, address)
    drawn = uow.pepper.mark("passkey stand-ins", subject)
    total = 1 + next((bit for bit in range(DECOYS_MAX) if drawn[0] >> bit & 1), DECOYS_MAX - 1)
    return [_decoy(uow, subject, number) for number in range(total)]


def is_decoy(uow: UnitOfWork, credential_id: bytes) -> bool:
    """Return whether a credential id is the id of a decoy."""
    return hmac.compare_digest(credential_id[-_TAG_BYTES:], _tag(uow, credential_id[:-_TAG_BYTES]))


def _subject(uow: UnitOfWork, address: str) -> bytes:
    host = uow.origin.custom_host
    return address.encode() if host is None else b"\0".join((address.encode(), host.domain_id.bytes))


def _decoy(uow: UnitOfWork, subject: bytes, number: int) -> Descriptor:
    drawn = uow.pepper.mark("passkey stand-in", subject, bytes([number]))
    length, transports = _SHAPES[drawn[0] % len(_SHAPES)]
    head = (drawn[1:] + uow.pepper.mark("passkey stand-in, continued", drawn))[: length - _TAG_BYTES]
    return Descriptor(credential_id=head + _tag(uow, head), transports=transports)


def _tag(uow: UnitOfWork, head: bytes) -> bytes:
    return uow.pepper.mark("passkey stand-in, its end", head)[:_TAG_BYTES]
