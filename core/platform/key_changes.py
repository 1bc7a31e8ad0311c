"""Operators' commands for keys, with their entries in the platform's audit log: rotation and re-encryption.

The keys themselves are in `core/sessions/signing_keys.py`; secrets are re-encrypted row by row, in many transactions
(`adapters/postgres/schema/rewrap.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from core.events.platform_actions import PlatformAction
from core.sessions import signing_keys
from core.sessions.signing_keys import KeyPair, SigningKey

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def rotate(uow: UnitOfWork, fresh: Sequence[KeyPair], longest_token_lifetime: timedelta) -> Sequence[SigningKey]:
    """Rotate the signing keys of each kind, as `signing_keys.rotate_each` does, and return the active ones."""
    active = signing_keys.rotate_each(uow, fresh, longest_token_lifetime)
    for key in active:
        uow.audit_platform(PlatformAction.SIGNING_KEY_ROTATED, key.kid, algorithm=key.algorithm.value)
    return active


def record_rewrap(uow: UnitOfWork, key_id: str, secrets: int, *, left: int) -> None:
    """Record how many secrets were re-encrypted with the master key `key_id`, and how many are left."""
    details: dict[str, Any] = {"secrets": secrets, "left": left} if left else {"secrets": secrets}
    uow.audit_platform(PlatformAction.SECRETS_REWRAPPED, key_id, **details)
