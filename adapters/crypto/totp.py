"""Time-based codes for authenticator apps: SHA-1, six digits, thirty seconds; some apps support nothing else."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import Final, final

import pyotp
from pyotp.totp import TOTP

from core.platform_brand import NAME_DEFAULT
from core.secrets import Secret

# 160 bits, as RFC 4226 (4, R6) recommends.
SECRET_CHARACTERS: Final = 32
DRIFT_STEPS_MAX: Final = 1
# The account name is for display only; a long address with non-ASCII letters would not fit into a QR code.
ACCOUNT_CHARACTERS_MAX: Final = 100


@final
class PyotpTotp:
    """The port `Totp`; apps show the name of the issuer."""

    def __init__(self, *, issuer: str = NAME_DEFAULT) -> None:
        self._issuer = issuer

    def new_secret(self) -> Secret:
        """Return a new secret."""
        return Secret(pyotp.random_base32(SECRET_CHARACTERS))

    def uri(self, secret: Secret, account: str) -> Secret:
        """Return the URI that an app reads from a QR code."""
        name = account[:ACCOUNT_CHARACTERS_MAX]
        return Secret(TOTP(secret.reveal()).provisioning_uri(name=name, issuer_name=self._issuer))

    def step_of(self, secret: Secret, code: str, *, at: datetime) -> int | None:
        """Return the time step to which a code belongs; None when it is wrong or expired."""
        generator = TOTP(secret.reveal())
        present, typed = generator.timecode(at), code.encode()
        found = None
        # All steps are compared in constant time, so that the duration reveals nothing.
        for step in range(present - DRIFT_STEPS_MAX, present + DRIFT_STEPS_MAX + 1):
            if hmac.compare_digest(generator.generate_otp(step).encode(), typed):
                found = step
        return found
