"""What the core asks of the stored second factors and of the sign-ins that wait for one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.credentials.mfa import MfaStatus, TotpSecret
from core.secrets import Secret


class TotpSecrets(Protocol):
    """What people's authenticator apps share with us, encrypted; and that a second factor is asked for."""

    def status(self, user_id: UUID) -> MfaStatus:
        """Say whether a second factor is asked for, and whether there are unused backup codes."""
        ...

    def put_pending(self, user_id: UUID, secret: Secret, *, at: datetime) -> bool:
        """Store a secret that is not asked for yet, in place of another such; False when one is asked for."""
        ...

    def lock(self, user_id: UUID) -> TotpSecret | None:
        """Find a person's secret, and let nobody else touch it before this transaction ends."""
        ...

    def enable(self, user_id: UUID, *, at: datetime) -> None:
        """Ask for the secret's codes at every sign-in from now on."""
        ...

    def use_step(self, user_id: UUID, step: int) -> bool:
        """Use a step of time up, and all before it; False when it was already. Of two racers one gets it."""
        ...

    def remove(self, user_id: UUID) -> bool:
        """Delete a person's secret and ask for no codes; False when none were asked for."""
        ...


class StoredBackupCodes(Protocol):
    """What people keep for when the app is lost, as keyed hashes."""

    def replace(self, user_id: UUID, code_hashes: Sequence[bytes], *, at: datetime) -> None:
        """Store a set of codes in place of every earlier one."""
        ...

    def use(self, user_id: UUID, code_hash: bytes, *, at: datetime) -> bool:
        """Use a code up; False when it is none of this person's or was used. Of two racers one gets it."""
        ...

    def count_unused(self, user_id: UUID) -> int:
        """Count what a person has left."""
        ...

    def remove(self, user_id: UUID, *, made_since: datetime | None = None) -> None:
        """Delete a person's codes, or those that were made since a moment."""
        ...
