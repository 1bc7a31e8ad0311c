"""The access tokens of users at their providers, refreshed when they are about to expire.

A refresh takes a request to the provider, which no transaction waits for: one request claims it, sends the refresh
token, and stores what came back. A concurrent request waits for that, because a provider may take a refresh token once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.errors import ErrorCode, Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.caller_limits import Act
from core.sign_in.identities import IdentityUnknown, ProviderTokens, context_of
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import ExternalProvider

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A token that is handed out is valid for at least this long.
REMAINING_MIN: Final = timedelta(seconds=60)
# Longer than a request to a provider may take. When it is over, the request that had claimed the refresh has crashed.
CLAIM_LIFETIME: Final = timedelta(seconds=20)


class TokenNotRefreshed(Refusal):
    """The provider did not answer as it should when a token was to be refreshed."""

    code = ErrorCode.OAUTH_ERROR
    default_message = "The provider did not answer as it should. Try again in a moment."


class ReauthRequired(Refusal):
    """The provider no longer issues a token without its user."""

    code = ErrorCode.REAUTH_REQUIRED
    default_message = "This access has ended at the provider. Link the account again to renew it."


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTokens:
    """The stored tokens of an identity; those of a provider that issued none are None."""

    identity_id: UUID
    subject: str
    tokens: ProviderTokens | None
    refresh_claimed_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshing:
    """A refresh that this request has claimed."""

    identity_id: UUID
    claim: UUID
    provider: Provider
    client: ProviderClient
    refresh_token: Secret = field(repr=False)
    scopes: Sequence[str]


@dataclass(frozen=True, slots=True)
class RefreshUnderWay:
    """Another request refreshes the tokens at this moment."""


def begin(uow: UnitOfWork, external: ExternalProvider | None) -> ProviderTokens | Refreshing | RefreshUnderWay:
    """Return the caller's token at a provider, or the claim to refresh it; the provider is None when none has the name.

    Raise `IdentityUnknown` when no account of the provider is linked, and `ReauthRequired`.
    """
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    if external is None:
        raise IdentityUnknown
    provider, context = external.provider, context_of(caller)
    held = uow.identities.lock_tokens(caller.account.id, provider, context)
    # Tokens of another provider that had the name before must not be sent to this one.
    if held is None or not external.knows(held.subject):
        raise IdentityUnknown
    if held.tokens is None:
        raise ReauthRequired
    if held.tokens.expires_at is None or held.tokens.expires_at - uow.now > REMAINING_MIN:
        return held.tokens
    if held.refresh_claimed_until is not None and held.refresh_claimed_until > uow.now:
        return RefreshUnderWay()
    own = uow.oauth_credentials.find(context.organization_id, external) if context.organization_id is not None else None
    client = own or external.client
    # A refresh token belongs to the client that it was issued to.
    if held.tokens.refresh_token is None or client is None or client.client_id != held.tokens.client_id:
        raise ReauthRequired
    claim = uow.randomness.new_id()
    uow.identities.claim_refresh(held.identity_id, claim, until=uow.now + CLAIM_LIFETIME)
    return Refreshing(
        identity_id=held.identity_id,
        claim=claim,
        provider=provider,
        client=client,
        refresh_token=held.tokens.refresh_token,
        scopes=held.tokens.scopes,
    )


def complete(uow: UnitOfWork, refreshing: Refreshing, fresh: ProviderTokens) -> ProviderTokens:
    """Store and return what the provider has issued; without a new refresh token the previous one stays valid."""
    tokens = ProviderTokens(
        client_id=fresh.client_id,
        access_token=fresh.access_token,
        refresh_token=fresh.refresh_token or refreshing.refresh_token,
        token_type=fresh.token_type,
        expires_at=fresh.expires_at,
        scopes=fresh.scopes or refreshing.scopes,
    )
    uow.identities.save_tokens(refreshing.identity_id, refreshing.claim, tokens)
    return tokens


def give_up(uow: UnitOfWork, refreshing: Refreshing) -> Refusal:
    """Forget tokens that the provider has ended; return the refusal."""
    uow.identities.save_tokens(refreshing.identity_id, refreshing.claim, None)
    return ReauthRequired()


def release(uow: UnitOfWork, refreshing: Refreshing) -> None:
    """Let the next request try: the provider did not answer."""
    uow.identities.release_refresh(refreshing.identity_id, refreshing.claim)
