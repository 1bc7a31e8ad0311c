"""One-time tokens in mails, which prove an address or an intent: stored as hashes, valid once and for a short time.

The capability that sends a token defines what using it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.mail.mail import LOCK_LINK_LIFETIME
from core.secrets import Secret, hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class TokenPurpose(StrEnum):
    """What a token may be used for."""

    VERIFY_EMAIL = "verify_email"
    RESET_PASSWORD = "reset_password"  # noqa: S105 - the name of a purpose, not a secret
    CHANGE_EMAIL = "change_email"
    DROP_EMAIL_CHANGE = "drop_email_change"
    UNDO_EMAIL_CHANGE = "undo_email_change"
    MAGIC_LINK = "magic_link"
    MAGIC_LINK_CODE = "magic_link_code"
    CONFIRM_MEMBERSHIP = "confirm_membership"
    CONTINUE_SIGN_IN = "continue_sign_in"
    LOCK_ACCOUNT = "lock_account"

    @property
    def lifetime(self) -> timedelta:
        """How long a token is valid."""
        return _LIFETIMES[self]

    @property
    def is_tied_to_address(self) -> bool:
        """Whether a token is void once its account has another address than the one that the token is stored with."""
        return self not in {TokenPurpose.CHANGE_EMAIL, TokenPurpose.UNDO_EMAIL_CHANGE, TokenPurpose.LOCK_ACCOUNT}

    @property
    def opens_locked(self) -> bool:
        """Whether a token is good for an account that is locked."""
        return self in {TokenPurpose.RESET_PASSWORD, TokenPurpose.UNDO_EMAIL_CHANGE, TokenPurpose.LOCK_ACCOUNT}


_LIFETIMES = {
    TokenPurpose.VERIFY_EMAIL: timedelta(hours=24),
    TokenPurpose.RESET_PASSWORD: timedelta(hours=1),
    TokenPurpose.CHANGE_EMAIL: timedelta(hours=24),
    TokenPurpose.DROP_EMAIL_CHANGE: timedelta(hours=24),
    TokenPurpose.UNDO_EMAIL_CHANGE: timedelta(days=7),
    TokenPurpose.MAGIC_LINK: timedelta(minutes=15),
    TokenPurpose.MAGIC_LINK_CODE: timedelta(minutes=5),
    TokenPurpose.CONFIRM_MEMBERSHIP: timedelta(days=30),
    TokenPurpose.CONTINUE_SIGN_IN: timedelta(hours=24),
    TokenPurpose.LOCK_ACCOUNT: LOCK_LINK_LIFETIME,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTimeToken:
    """A token's content. Without a `user_id` no account has the address, and the token is useless.

    A token whose mail has a code beside the link has the challenge and the hash of the code (`links.py`).
    """

    purpose: TokenPurpose
    user_id: UUID | None
    email: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    challenge_id: UUID | None = None
    code_hash: bytes | None = field(default=None, repr=False)
    wrong_codes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCode:
    """The code of a mail that has one beside its link, and what is stored of it (`links.py`).

    Code and hash are empty for an account that gets links alone.
    """

    challenge_id: UUID
    code: Secret
    code_hash: bytes | None = field(repr=False)


def issue(
    uow: UnitOfWork,
    purpose: TokenPurpose,
    user_id: UUID | None,
    email: str,
    code: NewCode | None = None,
    /,
    **data: Any,
) -> Secret:
    """Store the hash of a new token and return the token for the mail, which may have a code beside it."""
    token = uow.randomness.mail_token()
    uow.one_time_tokens.add(
        OneTimeToken(
            purpose=purpose,
            user_id=user_id,
            email=email,
            data=data,
            created_at=uow.now,
            expires_at=uow.now + purpose.lifetime,
            challenge_id=code.challenge_id if code is not None else None,
            code_hash=code.code_hash if code is not None else None,
        ),
        hash_token(token.reveal()),
    )
    return token


def issue_each(
    uow: UnitOfWork, purpose: TokenPurpose, tokens: Sequence[tuple[UUID, str, Mapping[str, Any]]], /
) -> Sequence[Secret]:
    """Store the hashes of new tokens for users with these addresses and data, in one statement; return the tokens."""
    issued = [uow.randomness.mail_token() for _ in tokens]
    uow.one_time_tokens.add_each(
        [
            (
                OneTimeToken(
                    purpose=purpose,
                    user_id=user_id,
                    email=email,
                    data=dict(data),
                    created_at=uow.now,
                    expires_at=uow.now + purpose.lifetime,
                ),
                hash_token(token.reveal()),
            )
            for (user_id, email, data), token in zip(tokens, issued, strict=True)
        ]
    )
    return issued


def use(uow: UnitOfWork, purpose: TokenPurpose, token: str) -> OneTimeToken | None:
    """Use up a token and return its content; None when it is unknown, of another purpose, used or expired."""
    return uow.one_time_tokens.use(hash_token(token), purpose, at=uow.now)
