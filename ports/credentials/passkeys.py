"""Ports for stored passkeys and challenges, and for WebAuthn itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.credentials.passkey_challenges import Purpose, StoredPasskeyChallenge
from core.credentials.passkeys import Passkey
from core.credentials.webauthn import Attestation, Descriptor, PasskeyAssertion, VerifiedAssertion, VerifiedAttestation


class Passkeys(Protocol):
    """The public keys of users' passkeys. A use case that changes one has locked its account before."""

    def add(self, passkey: Passkey) -> bool:
        """Store a new passkey; False when its credential is already registered with any account."""
        ...

    def of_user(self, user_id: UUID) -> Sequence[Passkey]:
        """Return the passkeys of an account, the oldest first."""
        ...

    def of_address(self, email: str) -> Sequence[Passkey]:
        """Return the passkeys of the account with a normalized address; empty also when there is no such account.

        Like `by_credential_id`, it finds only passkeys that were made under the host of this request.
        """
        ...

    def by_credential_id(self, credential_id: bytes) -> Passkey | None:
        """Return the passkey with the id that its authenticator gave it; None when there is none."""
        ...

    def rename(self, passkey_id: UUID, name: str, *, user_id: UUID) -> Passkey | None:
        """Rename a user's passkey and return it; None when the user has no such passkey."""
        ...

    def set_second_factor(self, passkey_id: UUID, at: datetime | None, *, user_id: UUID) -> Passkey | None:
        """Make a user's passkey a second factor since a moment, or no longer one with None; return it as `rename` does.

        One that is a second factor already keeps its moment.
        """
        ...

    def record_use(self, passkey_id: UUID, *, sign_count: int, is_user_verified: bool, at: datetime) -> bool:
        """Record a use of a passkey; False when it was deleted, or its sign count has not increased.

        An authenticator that does not count always reports 0.
        """
        ...

    def remove(self, passkey_id: UUID, *, user_id: UUID) -> Passkey | None:
        """Delete a user's passkey and return it; None when the user has no such passkey."""
        ...

    def remove_all(self, user_id: UUID, *, but_factors_before: datetime | None = None) -> int:
        """Delete a user's passkeys, except those that were second factors before a given moment; return how many."""
        ...

    def keep_as_factors(self, user_id: UUID) -> None:
        """Let a user's passkeys begin no sign-in; those that are second factors still complete one."""
        ...

    def remove_from_factors(self, user_id: UUID) -> None:
        """Let none of a user's passkeys be a second factor; they still sign in."""
        ...


class PasskeyChallenges(Protocol):
    """Challenges for authenticators to sign."""

    def add(self, challenge: StoredPasskeyChallenge) -> None:
        """Store a challenge."""
        ...

    def use(
        self, challenge_id: UUID, purpose: Purpose, *, user_id: UUID | None, answered_by: UUID, at: datetime
    ) -> StoredPasskeyChallenge | None:
        """Use up a challenge and return it; one of two concurrent calls succeeds.

        None when it is unknown, of another purpose or user, used or expired, or when the sign-ins of the account
        `answered_by` were ended since. The caller has locked that account, unless it does not exist.
        """
        ...

    def remove_all(self, user_id: UUID) -> None:
        """Delete the challenges to register a passkey for a user."""
        ...


class WebAuthn(Protocol):
    """Encodes options for browsers and checks what authenticators sign; fast, and without I/O."""

    def of_host(self, name: str) -> "WebAuthn":
        """Return an implementation for the pages and the passkeys of a custom host."""
        ...

    def creation_options(
        self, challenge: bytes, *, user_handle: bytes, user_name: str, excluded: Sequence[Descriptor]
    ) -> dict[str, Any]:
        """Return the JSON options to make a passkey; an authenticator that has an excluded one makes none."""
        ...

    def request_options(self, challenge: bytes, *, allowed: Sequence[Descriptor]) -> dict[str, Any]:
        """Return the JSON options to request a passkey: one of those allowed, or when empty any of this service."""
        ...

    def check_attestation(self, attestation: Attestation, challenge: bytes) -> VerifiedAttestation | None:
        """Return the content of an attestation; None when it is invalid, or for another service or challenge."""
        ...

    def check_assertion(
        self, assertion: PasskeyAssertion, challenge: bytes, public_key: bytes | None
    ) -> VerifiedAssertion | None:
        """Return the content of an assertion; None when it is for another service or challenge, or wrongly signed.

        Without a key, as for an unregistered credential, the check takes the same time and fails. The sign count is not
        checked here.
        """
        ...
