"""Time-based codes (RFC 6238) as the core sees them: quick arithmetic that waits for nothing."""

from datetime import datetime
from typing import Protocol

from core.secrets import Secret


class Totp(Protocol):
    """Makes secrets for authenticator apps, and says what their codes mean."""

    def new_secret(self) -> Secret:
        """Make a secret, in base32 as apps take it: 160 random bits."""
        ...

    def uri(self, secret: Secret, account: str) -> Secret:
        """Write what an app reads from a QR code: the secret, the product's name and the account's."""
        ...

    def step_of(self, secret: Secret, code: str, *, at: datetime) -> int | None:
        """Say to which step of time a six-digit code belongs, of that moment's, the one before and the one after.

        None when to none of them; how long it takes does not depend on the code.
        """
        ...
