"""The passkeys of nobody: what a browser is told when an address has none, or no account has the address.

They follow from the address and a key of the house, so asking twice gives the same ones, and look like those that
common authenticators make. How many they are is drawn like the rest. It cannot follow the true distribution, which
differs from house to house; but whatever an account with passkeys answers, some address without an account answers too,
so no answer shows that somebody exists. What is left is a guess at odds, of those who use passkeys alone: an account
without any is answered for like nobody.

They are known again, too: registering a passkey under the id of a stand-in is refused as under a real one, because
otherwise that would tell them apart.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final

from core.credentials.webauthn import Descriptor, Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork

STAND_INS_MAX: Final = 8
# How long the ids of common authenticators are, and how those are reached: keychains that follow a person from device
# to device, computers that keep their keys to themselves, security keys.
_SHAPES: Final = (
    (16, (Transport.HYBRID, Transport.INTERNAL)),
    (20, (Transport.HYBRID, Transport.INTERNAL)),
    (32, (Transport.INTERNAL,)),
    (48, (Transport.NFC, Transport.USB)),
    (64, (Transport.USB,)),
)
# The last bytes of an id are a mark of those before them. By chance nobody's are.
_PROOF_BYTES: Final = 8


def of_address(uow: UnitOfWork, address: str) -> Sequence[Descriptor]:
    """Make up the passkeys of an address: one for every second address, and each further one for half of the rest."""
    drawn = uow.pepper.mark("passkey stand-ins", address.encode())
    total = 1 + next((bit for bit in range(STAND_INS_MAX) if drawn[0] >> bit & 1), STAND_INS_MAX - 1)
    return [_made_up(uow, address, number) for number in range(total)]


def is_one(uow: UnitOfWork, credential_id: bytes) -> bool:
    """Say whether an id is one that we made up."""
    return hmac.compare_digest(credential_id[-_PROOF_BYTES:], _proof(uow, credential_id[:-_PROOF_BYTES]))


def _made_up(uow: UnitOfWork, address: str, number: int) -> Descriptor:
    drawn = uow.pepper.mark("passkey stand-in", address.encode(), bytes([number]))
    length, transports = _SHAPES[drawn[0] % len(_SHAPES)]
    head = (drawn[1:] + uow.pepper.mark("passkey stand-in, continued", drawn))[: length - _PROOF_BYTES]
    return Descriptor(credential_id=head + _proof(uow, head), transports=transports)


def _proof(uow: UnitOfWork, head: bytes) -> bytes:
    return uow.pepper.mark("passkey stand-in, its end", head)[:_PROOF_BYTES]
