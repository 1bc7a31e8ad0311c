"""WebAuthn that is loaded when a passkey is first used: the package `webauthn` takes 0.1 s and 5 MiB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from core.credentials.webauthn import (
    Attestation,
    Descriptor,
    PasskeyAssertion,
    VerifiedAssertion,
    VerifiedAttestation,
)

if TYPE_CHECKING:
    from adapters.crypto.passkeys import PyWebAuthn


@final
class WebAuthnOnDemand:
    """The port `WebAuthn`, as a `PyWebAuthn` that is made at the first call."""

    def __init__(self, make: Callable[[], PyWebAuthn]) -> None:
        self._make = make

    def of_host(self, name: str) -> WebAuthnOnDemand:
        """Return the same for the pages and the passkeys of a custom host, which loads nothing by itself either."""
        return WebAuthnOnDemand(lambda: self._made.of_host(name))

    def creation_options(
        self, challenge: bytes, *, user_handle: bytes, user_name: str, excluded: Sequence[Descriptor]
    ) -> dict[str, Any]:
        """Return the options with which a browser creates a passkey."""
        return self._made.creation_options(challenge, user_handle=user_handle, user_name=user_name, excluded=excluded)

    def request_options(self, challenge: bytes, *, allowed: Sequence[Descriptor]) -> dict[str, Any]:
        """Return the options with which a browser requests a passkey."""
        return self._made.request_options(challenge, allowed=allowed)

    def check_attestation(self, attestation: Attestation, challenge: bytes) -> VerifiedAttestation | None:
        """Verify an attestation; return None when it is malformed or not for this challenge and site."""
        return self._made.check_attestation(attestation, challenge)

    def check_assertion(
        self, assertion: PasskeyAssertion, challenge: bytes, public_key: bytes | None
    ) -> VerifiedAssertion | None:
        """Verify an assertion; return None when it is malformed, or not by this key for this challenge and site."""
        return self._made.check_assertion(assertion, challenge, public_key)

    @cached_property
    def _made(self) -> PyWebAuthn:
        return self._make()


def webauthn_on_demand(*, rp_id: str, origin: str, rp_name: str) -> WebAuthnOnDemand:
    """Return what `PyWebAuthn` of the same values is, without loading the package before the first call."""

    def make() -> PyWebAuthn:
        from adapters.crypto.passkeys import PyWebAuthn  # noqa: PLC0415 - takes 0.1 s and 5 MiB

        return PyWebAuthn(rp_id=rp_id, rp_name=rp_name, origin=origin)

    return WebAuthnOnDemand(make)
