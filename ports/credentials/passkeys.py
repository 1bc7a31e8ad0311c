"""What the core asks of the stored passkeys and challenges, and of whoever understands what authenticators say."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.credentials.passkey_challenges import Purpose, StoredPasskeyChallenge
from core.credentials.passkeys import Passkey
from core.credentials.webauthn import Asserted, Assertion, Attestation, Attested, Descriptor


class Passkeys(Protocol):
    """The public halves of people's passkeys. Whoever changes one has locked its account before."""

    def add(self, passkey: Passkey) -> bool:
        """Store a new passkey; False when its credential is registered, with whatever account."""
        ...

    def of_user(self, user_id: UUID) -> Sequence[Passkey]:
        """List the passkeys of an account, the oldest first."""
        ...

    def of_address(self, email: str) -> Sequence[Passkey]:
        """List the passkeys of the account that has a normalized address; none as well when no account has it."""
        ...

    def by_credential_id(self, credential_id: bytes) -> Passkey | None:
        """Find a passkey by what its authenticator calls it."""
        ...

    def rename(self, passkey_id: UUID, name: str, *, user_id: UUID) -> Passkey | None:
        """Give a passkey of this person another name."""
        ...

    def record_use(self, passkey_id: UUID, *, sign_count: int, at: datetime) -> bool:
        """Remember that a passkey was used; False when it is gone, or its authenticator has not counted on.

        An authenticator that does not count says 0 always.
        """
        ...

    def remove(self, passkey_id: UUID, *, user_id: UUID) -> Passkey | None:
        """Delete a passkey of this person, and say what it was."""
        ...

    def remove_all(self, user_id: UUID, *, added_since: datetime | None = None) -> int:
        """Delete the passkeys of a person, or those that were registered since a moment; say how many."""
        ...


class PasskeyChallenges(Protocol):
    """What authenticators are asked to sign."""

    def add(self, challenge: StoredPasskeyChallenge) -> None:
        """Store a challenge."""
        ...

    def use(
        self, challenge_id: UUID, purpose: Purpose, *, user_id: UUID | None, at: datetime
    ) -> StoredPasskeyChallenge | None:
        """Use a challenge up: of two racers one gets it.

        None when it is unknown, of another purpose or person, used or expired.
        """
        ...


class WebAuthn(Protocol):
    """Speaks with browsers and authenticators: quick arithmetic that waits for nothing."""

    def creation_options(
        self, challenge: bytes, *, user_handle: bytes, user_name: str, excluded: Sequence[Descriptor]
    ) -> dict[str, Any]:
        """Write the options with which a browser makes a passkey, as JSON; who has an excluded one makes none."""
        ...

    def request_options(self, challenge: bytes, *, allowed: Sequence[Descriptor]) -> dict[str, Any]:
        """Write the options with which a browser asks for a passkey, as JSON; without allowed ones for any of ours."""
        ...

    def check_attestation(self, attestation: Attestation, challenge: bytes) -> Attested | None:
        """Say what an attestation says; None when it is none for us, or of another challenge."""
        ...

    def check_assertion(self, assertion: Assertion, challenge: bytes, public_key: bytes | None) -> Asserted | None:
        """Say what an assertion says; None when it is none for us, of another challenge, or not signed with the key.

        Without a key, as for a credential that nobody has, it takes the same time and is wrong. Whether the
        authenticator has counted on is not looked at here.
        """
        ...
