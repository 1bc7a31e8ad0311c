"""Second factors: their storage, one-time codes, and the picture of a secret."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.credentials.factors import FactorRules
from core.credentials.mfa import MfaStatus, Settled, TotpSecret
from core.secrets import Secret


class TotpSecrets(Protocol):
    """The secrets shared with users' authenticator apps, encrypted, and whether sign-ins require a second factor."""

    def put_pending(self, user_id: UUID, secret: Secret, *, at: datetime, is_of_limited_session: bool) -> bool:
        """Store a pending secret, in place of another pending one; False when the user has an enabled one."""
        ...

    def lock(self, user_id: UUID) -> TotpSecret | None:
        """Return a user's secret, locked until this transaction ends; None when there is none."""
        ...

    def enable(self, user_id: UUID, *, at: datetime) -> None:
        """Accept the secret's codes at sign-ins from now on."""
        ...

    def use_step(self, user_id: UUID, step: int) -> bool:
        """Use up a time step and all before it; False when it was used before. One of two concurrent calls succeeds."""
        ...

    def remove(self, user_id: UUID) -> bool:
        """Delete a user's secret; False when it was not enabled, or there was none."""
        ...


class SecondFactors(Protocol):
    """The second factors of an account, of every kind, and the rules that ask for them."""

    def status(self, user_id: UUID) -> MfaStatus:
        """Return whether sign-ins require a second factor, and whether there are unused backup codes."""
        ...

    def has_app(self, user_id: UUID) -> bool:
        """Return whether an authenticator app is one of the account's second factors."""
        ...

    def settle(self, user_id: UUID, *, at: datetime) -> Settled:
        """Require a second factor at sign-ins if the account has one of any kind, and none if it has not.

        The caller has locked the account, and added or removed a factor.
        """
        ...

    def rules_of(self, user_id: UUID) -> FactorRules:
        """Return what the rules ask of a user: the account's own, and those of organizations whose member they are."""
        ...


class StoredBackupCodes(Protocol):
    """Backup codes for a lost second factor, as keyed hashes."""

    def replace(self, user_id: UUID, code_hashes: Sequence[bytes], *, at: datetime) -> None:
        """Store a set of codes in place of every earlier one."""
        ...

    def use(self, user_id: UUID, code_hash: bytes, *, at: datetime) -> bool:
        """Use up a code; False when the user has no such unused code. One of two concurrent calls succeeds."""
        ...

    def count_unused(self, user_id: UUID) -> int:
        """Return the number of a user's unused codes."""
        ...

    def remove(self, user_id: UUID, *, made_since: datetime | None = None) -> None:
        """Delete a user's codes, or only those made since a moment."""
        ...


class MfaEvents(Protocol):
    """The separate log about second factors and about the security of accounts."""

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        """Record an event about a second factor or about the security of the account."""
        ...


class Totp(Protocol):
    """Makes secrets for authenticator apps and checks their codes."""

    def new_secret(self) -> Secret:
        """Return a new secret of 160 random bits, in base32 as apps accept it."""
        ...

    def uri(self, secret: Secret, account: str) -> Secret:
        """Return the URI for the QR code: the secret, the name of the product and of the account."""
        ...

    def step_of(self, secret: Secret, code: str, *, at: datetime) -> int | None:
        """Return the time step that a six-digit code belongs to: the present one, the one before or the one after.

        None when the code belongs to none of them. The time that this takes does not depend on the code.
        """
        ...


class QrCodes(Protocol):
    """Draws QR codes."""

    async def svg(self, content: str, *, title: str) -> str:
        """Return the content as an SVG document; the title is the text alternative for users who cannot see it."""
        ...
