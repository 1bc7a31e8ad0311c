"""Port for time-based codes (RFC 6238); fast, and without I/O."""

from datetime import datetime
from typing import Protocol

from core.secrets import Secret


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
