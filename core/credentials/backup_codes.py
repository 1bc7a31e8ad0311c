"""Backup codes: ten codes for a lost authenticator app, shown once, each valid for one sign-in.

They are stored as keyed hashes: an attacker with a copy of the database could guess forty bits, but not without the
installation's key. `mfa.py` issues codes, `core/sign_in/second_factor.py` accepts them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.credentials import mfa_events
from core.credentials.mfa_events import MfaEvent
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

CODES_PER_SET: Final = 10
# Without 0 and O, 1, I and L, which are easily confused, and without U, so that no code spells an offensive word.
ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
GROUP_CHARACTERS: Final = 4
CODE_CHARACTERS: Final = 2 * GROUP_CHARACTERS

# Accepts characters outside the alphabet too: a misread code is a wrong code, not malformed input.
_TYPED: Final = re.compile(rf"[0-9A-Z]{{{GROUP_CHARACTERS}}}-?[0-9A-Z]{{{GROUP_CHARACTERS}}}")


def normalized_backup_code(typed: str) -> str | None:
    """Return a typed code in its stored form, ignoring case, spaces and dash; None when it is malformed."""
    code = "".join(typed.split()).upper()
    return code.replace("-", "") if _TYPED.fullmatch(code) else None


def issue_backup_codes(uow: UnitOfWork, user_id: UUID) -> tuple[Secret, ...]:
    """Replace the user's backup codes by ten new ones and return these, to be shown once."""
    codes: set[str] = set()
    while len(codes) < CODES_PER_SET:
        codes.add(uow.randomness.choice(ALPHABET, CODE_CHARACTERS))
    uow.backup_codes.replace(user_id, [_keyed_hash(uow, user_id, code) for code in codes], at=uow.now)
    mfa_events.record_event(uow, MfaEvent.BACKUP_CODES_GENERATED, user_id, count=len(codes))
    return tuple(Secret(f"{code[:GROUP_CHARACTERS]}-{code[GROUP_CHARACTERS:]}") for code in codes)


def use_backup_code(uow: UnitOfWork, user_id: UUID, code: str, *, is_new_device: bool) -> bool:
    """Use up a normalized code; False when the user has no such code or has used it before."""
    if not uow.backup_codes.use(user_id, _keyed_hash(uow, user_id, code), at=uow.now):
        return False
    mfa_events.record_event(
        uow,
        MfaEvent.BACKUP_CODE_USED,
        user_id,
        remaining=uow.backup_codes.count_unused(user_id),
        is_new_device=is_new_device,
    )
    return True


def _keyed_hash(uow: UnitOfWork, user_id: UUID, code: str) -> bytes:
    return uow.pepper.mark("backup code", user_id.bytes, code.encode())
