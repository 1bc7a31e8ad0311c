"""The session of a caller: which one it is, and what was proved when it began and since.

The sessions themselves are in `sessions.py`; what one is limited to is in `limits.py`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sessions import mfa_methods

# Within which a user has signed in again who changes something that matters.
RECENT: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerSession:
    """How the caller has signed in; `connection_id` is the connection of an organization by which they came."""

    id: UUID
    amr: list[str]
    authenticated_at: datetime
    device_id: UUID | None = None
    connection_id: UUID | None = None

    @property
    def has_second_factor(self) -> bool:
        """Whether this session began with a second factor, or on a device that remembers one."""
        return mfa_methods.have_second_factor(self.amr)

    @property
    def has_proved_second_factor(self) -> bool:
        """Whether a second factor was proved in this session, at its beginning or since."""
        return "mfa" in self.amr

    @property
    def has_proved_own_factor(self) -> bool:
        """Whether a second factor of the account itself was proved; that a connection is trusted proves none of it."""
        return mfa_methods.have_own_factor(self.amr, self.connection_id)

    @property
    def is_phishing_resistant(self) -> bool:
        """Whether a second factor was proved that cannot be passed on to another site."""
        return mfa_methods.is_phishing_resistant(self.amr, self.connection_id)

    @property
    def is_remembered(self) -> bool:
        """Whether this session began with a device that remembers the second factor, instead of the factor itself."""
        return "trusted" in self.amr and not self.has_proved_second_factor
