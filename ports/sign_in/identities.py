"""Storage of identities, and of the tokens that their providers have issued."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.sign_in_methods import Provider
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
        """List at most `limit` accounts to which an identity is linked, in any context except a connection's.

        Without an organization, links by the platform's own credentials count, whose client this is now; with one,
        links there by this client of the organization. Unconfirmed links do not count: another party could have begun
        the session that made them.
        """
        ...

    def users_named(self, own_subject: str, context: IdentityContext, limit: int) -> Sequence[UUID]:
        """List at most `limit` users with this subject at a connection's provider, those who have signed in last.

        For connections that identify users by a claim other than the subject.
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
        """List the identities of a user in a context, or in all, the oldest first.

        A context of connections that names none of them stands for every connection.
        """
        ...

    def add(
        self, identity: Identity, proven: ProvenIdentity, context: IdentityContext, *, confirmed_at: datetime | None
    ) -> bool:
        """Store a new identity, confirmed at a moment or not yet; delete the record that its user had left.

        False when it is linked there already, or its user has linked another one of the provider.
        """
        ...

    def use(self, identity: Identity, proven: ProvenIdentity, *, is_confirmed: bool = False) -> bool:
        """Record that an identity is used now, with its provider's present data; False when it was unlinked.

        With `is_confirmed` its user has proved that the account is theirs.
        """
        ...

    def remove(self, user_id: UUID, provider: Provider, context: IdentityContext | None) -> None:
        """Unlink a user's identities at a provider in a context, or in all, for good."""
        ...

    def standing(self, user_id: UUID, organization_id: UUID, connection_id: UUID) -> ConnectionStanding | None:
        """Return a user's standing at the organization of a connection; None without such a connection or user."""
        ...

    def defer_standing(
        self, user_id: UUID, organization_id: UUID, connection_id: UUID
    ) -> Deferred[ConnectionStanding | None]:
        """Defer `standing`."""
        ...

    def remove_all(self, user_id: UUID) -> None:
        """Unlink all identities of a user for good, in every context, and end links that are under way."""
        ...

    def lock_tokens(self, user_id: UUID, provider: Provider, context: IdentityContext) -> HeldTokens | None:
        """Return the tokens of a user's identity, locked until this transaction ends; None when it is not linked."""
        ...

    def claim_refresh(self, identity_id: UUID, claim: UUID, *, until: datetime) -> None:
        """Record the request that refreshes the tokens of a locked identity, and until when others wait for it."""
        ...

    def save_tokens(self, identity_id: UUID, claim: UUID, tokens: ProviderTokens | None) -> bool:
        """Store the tokens of a claimed refresh; None records that the provider no longer issues any.

        False when the claim is over: another request refreshes them, or the user has signed in there again.
        """
        ...

    def release_refresh(self, identity_id: UUID, claim: UUID) -> None:
        """Give up a claim whose refresh has failed, so that the next request may try."""
        ...
