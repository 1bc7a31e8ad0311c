"""Storage of unfinished sign-ins through other providers."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.providers import Provider
from core.sign_in.identities import ProvenIdentity
from core.sign_in.upstream.flows import UpstreamSignIn


class UpstreamSignIns(Protocol):
    """Sign-ins by the hash of their state; of several concurrent calls that use one up, one gets it.

    One that began at a custom domain is used up there, except while its browser is under the base URL.
    """

    def add(
        self, sign_in: UpstreamSignIn, state_hash: bytes, *, browser_hash: bytes | None, proven: ProvenIdentity | None
    ) -> None:
        """Store a sign-in; the proven identity is encrypted."""
        ...

    def use(self, state_hash: bytes, provider: Provider, *, browser_hash: bytes | None) -> UpstreamSignIn | None:
        """Use up a sign-in of this provider and browser that has no identity yet.

        None when there is none, or it was used or has expired.
        """
        ...

    def enter(
        self, ticket_hash: bytes, *, state_hash: bytes, browser_hash: bytes, expires_at: datetime
    ) -> UpstreamSignIn | None:
        """Use up the ticket of a sign-in that comes from a custom domain, and give it another state and browser.

        None when there is none, or it was used or has expired.
        """
        ...

    def keep_answer(
        self, state_hash: bytes, connection_id: UUID, proven: ProvenIdentity, *, continue_hash: bytes
    ) -> bool:
        """Add the identity to a sign-in by a connection that has none yet, and give it another state.

        False when there is none, or it was used or has expired.
        """
        ...

    def is_kept(self, organization_id: UUID, sign_in_id: UUID) -> bool:
        """Return whether a sign-in at an organization, used or not, was neither deleted nor ended meanwhile."""
        ...

    def set_code(self, state_hash: bytes, code_hash: bytes, *, expires_at: datetime) -> None:
        """Store the code that a sign-in with an identity needs to go on, and until when the code is valid."""
        ...

    def lock_code(self, state_hash: bytes, *, browser_hash: bytes, tries_max: int) -> bytes | None:
        """Lock a sign-in of this browser that waits for a code, and return its hash.

        None when there is none, or it was used, has expired, or had so many wrong codes.
        """
        ...

    def count_wrong_code(self, state_hash: bytes) -> None:
        """Count a wrong code of a locked sign-in."""
        ...

    def use_proven(self, state_hash: bytes, *, browser_hash: bytes) -> tuple[UpstreamSignIn, ProvenIdentity] | None:
        """Use up a sign-in of this browser that has an identity; None as `use`."""
        ...
