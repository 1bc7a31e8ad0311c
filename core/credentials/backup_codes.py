"""Backup codes: ten for when the authenticator app is lost, shown once, each good for one sign-in.

They are stored as keyed hashes: forty bits can be guessed by whoever has a copy of the database, but not without the
key of the house. When codes are made and asked for is in `mfa.py` and `mfa_login.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from core.credentials import mfa_events
from core.credentials.mfa_events import MfaEvent
from core.secrets import Secret

if TYPE_CHECKING:
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork

CODES_PER_SET: Final = 10
# Without 0 and O, 1, I and L, which are read as each other, and without U, so that no code is a word to be sorry for.
ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
GROUP_CHARACTERS: Final = 4
CODE_CHARACTERS: Final = 2 * GROUP_CHARACTERS

# What looks like a code, also with characters that none of ours has: whoever misreads one typed a wrong code, not
# something else.
_TYPED: Final = re.compile(rf"[0-9A-Z]{{{GROUP_CHARACTERS}}}-?[0-9A-Z]{{{GROUP_CHARACTERS}}}")


def normalized(typed: str) -> str | None:
    """Give a code as it is stored, whatever its case, with or without its dash; None when this is no backup code."""
    code = "".join(typed.split()).upper()
    return code.replace("-", "") if _TYPED.fullmatch(code) else None


def issue(uow: UnitOfWork, user_id: UUID) -> tuple[Secret, ...]:
    """Make ten codes that take the place of every earlier one, and give them to be shown once."""
    codes: set[str] = set()
    while len(codes) < CODES_PER_SET:
        codes.add(uow.randomness.choice(ALPHABET, CODE_CHARACTERS))
    uow.backup_codes.replace(user_id, [_mark(uow, user_id, code) for code in codes], at=uow.now)
    mfa_events.record(uow, MfaEvent.BACKUP_CODES_GENERATED, user_id, count=len(codes))
    return tuple(Secret(f"{code[:GROUP_CHARACTERS]}-{code[GROUP_CHARACTERS:]}") for code in codes)


def use(uow: UnitOfWork, user_id: UUID, code: str, *, is_new_device: bool) -> bool:
    """Use a normalized code up; False when it is none of this person's, or was used before."""
    if not uow.backup_codes.use(user_id, _mark(uow, user_id, code), at=uow.now):
        return False
    mfa_events.record(
        uow,
        MfaEvent.BACKUP_CODE_USED,
        user_id,
        remaining=uow.backup_codes.count_unused(user_id),
        is_new_device=is_new_device,
    )
    return True


def _mark(uow: UnitOfWork, user_id: UUID, code: str) -> bytes:
    return uow.pepper.mark("backup code", user_id.bytes, code.encode())
