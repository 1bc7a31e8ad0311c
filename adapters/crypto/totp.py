"""Time-based codes as authenticator apps make them: SHA-1, six digits, thirty seconds, because some know no other."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final, final

import pyotp
from pyotp.totp import TOTP

from core.secrets import Secret

if TYPE_CHECKING:
    from datetime import datetime

ISSUER: Final = "Gatehouse"
# 160 bits, as RFC 4226 (4, R6) recommends.
SECRET_CHARACTERS: Final = 32
DRIFT_STEPS_MAX: Final = 1
# The account's name is there for its owner's eyes; an address of exotic letters would otherwise fit into no QR code.
ACCOUNT_CHARACTERS_MAX: Final = 100


@final
class PyotpTotp:
    """The port `Totp`."""

    def new_secret(self) -> Secret:
        """Make a secret."""
        return Secret(pyotp.random_base32(SECRET_CHARACTERS))

    def uri(self, secret: Secret, account: str) -> Secret:
        """Write what an app reads from a QR code."""
        name = account[:ACCOUNT_CHARACTERS_MAX]
        return Secret(TOTP(secret.reveal()).provisioning_uri(name=name, issuer_name=ISSUER))

    def step_of(self, secret: Secret, code: str, *, at: datetime) -> int | None:
        """Say to which step of time a code belongs."""
        generator = TOTP(secret.reveal())
        present, typed = generator.timecode(at), code.encode()
        found = None
        # To the end in any case, and each as long as the others, so that the time tells nothing.
        for step in range(present - DRIFT_STEPS_MAX, present + DRIFT_STEPS_MAX + 1):
            if hmac.compare_digest(generator.generate_otp(step).encode(), typed):
                found = step
        return found
