"""Storage of identities, and of the tokens that their providers have issued."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.providers import Provider
from core.deferred import Deferred
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import Identity, IdentityContext, ProvenIdentity, ProviderTokens
from core.sign_in.provider_tokens import HeldTokens
from core.sign_in.upstream.known_elsewhere import KnownAccount


class Identities(Protocol):
    """Identities by their context; the tokens are encrypted, and read only where they are needed."""

    def find(self, provider: Provider, subject: str, context: IdentityContext) -> Identity | None:
        """Return the identity of an account at a provider in a context; None when it is not linked there."""
        ...

    def accounts_of(
        self, provider: Provider, subject: str, client_id: str, organization_id: UUID | None, limit: int
    ) -> Sequence[KnownAccount]:
        """List the accounts to which an identity is linked in any context but that of a connection, at most `limit`.

        Without an organization, those that the platform's own credentials have linked, which are this client now; else
        those that this client of the organization has linked there. What a session linked that another party could
        have begun is none of them, because it is not confirmed.
        """
        ...

    def users_named(self, own_subject: str, context: IdentityContext, limit: int) -> Sequence[UUID]:
        """List the users whom the provider of a connection itself names so, where the connection takes another id.

        At most `limit`, those who have signed in last.
        """
        ...

    def departed(self, subject: str, context: IdentityContext) -> UUID | None:
        """Return the user whose identity of a connection was unlinked because they left its organization.

        None when there is none, or when it was unlinked for good since.
        """
        ...

    def has_departed(self, user_id: UUID, context: IdentityContext) -> bool:
        """Return whether an identity of a user at a connection was unlinked because they left its organization."""
        ...

    def of_user(self, user_id: UUID, context: IdentityContext | None) -> Sequence[Identity]:
        """List what a user has linked in a context, the oldest first; by every connection where none is named.

        Without a context it is everything that the user has linked.
        """
        ...

    def add(
        self, identity: Identity, proven: ProvenIdentity, context: IdentityContext, *, confirmed_at: datetime | None
    ) -> bool:
        """Store a new identity, which is confirmed at a moment or not yet; one of a user who has left is so no more.

        False when it is linked there, or its user has linked another one of the provider.
        """
        ...

    def use(self, identity: Identity, proven: ProvenIdentity, *, is_confirmed: bool = False) -> bool:
        """Store that an identity is used now, with what its provider says of it; False when it was unlinked.

        With `is_confirmed` its user has proved that the account is theirs.
        """
        ...

    def remove(self, user_id: UUID, provider: Provider, context: IdentityContext | None) -> None:
        """Unlink what a user has linked of a provider in a context, or in all, for good."""
        ...

    def standing(self, user_id: UUID, organization_id: UUID, connection_id: UUID) -> ConnectionStanding | None:
        """Return what a user is to the organization of a connection; None when there is no such connection or user."""
        ...

    def defer_standing(
        self, user_id: UUID, organization_id: UUID, connection_id: UUID
    ) -> Deferred[ConnectionStanding | None]:
        """Defer `standing`."""
        ...

    def remove_all(self, user_id: UUID) -> None:
        """Unlink everything of a user for good, in every context, and what is about to be linked."""
        ...

    def lock_tokens(self, user_id: UUID, provider: Provider, context: IdentityContext) -> HeldTokens | None:
        """Return the tokens of a user's identity, locked until this transaction ends; None when it is not linked."""
        ...

    def claim_refresh(self, identity_id: UUID, claim: UUID, *, until: datetime) -> None:
        """Store which request refreshes the tokens of a locked identity, and how long others wait for it."""
        ...

    def save_tokens(self, identity_id: UUID, claim: UUID, tokens: ProviderTokens | None) -> bool:
        """Store the tokens that a claimed refresh has brought, or that the provider issues none any more.

        False when the claim is over: another request refreshes them, or the user has signed in there again.
        """
        ...

    def release_refresh(self, identity_id: UUID, claim: UUID) -> None:
        """Give a claim up that has brought nothing, so that the next request may try."""
        ...
