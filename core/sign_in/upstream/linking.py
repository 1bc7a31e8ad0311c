"""Beginning to link an account of a provider to the caller's, in the context of their session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.accounts.providers import Provider
from core.secrets import Secret
from core.sessions import callers
from core.sign_in.identities import IdentityUnknown, context_of
from core.sign_in.upstream import flows
from core.sign_in.upstream.flows import ProviderClient, ProviderNotOffered

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def begin(uow: UnitOfWork, provider: Provider | None, clients: Mapping[Provider, ProviderClient]) -> Secret:
    """Return the id with which the caller's browser begins to link, where it is signed in as the same user.

    `clients` are the credentials of the platform. Raise `IdentityUnknown` for a provider that does not exist, and
    `ProviderNotOffered` for one without credentials.
    """
    caller = callers.require_in_person(uow)
    caller.require_own_proof()
    if provider is None:
        raise IdentityUnknown
    context = context_of(caller)
    organization_id = context.organization_id
    own = uow.oauth_credentials.find(organization_id, provider) if organization_id is not None else None
    if own is None and provider not in clients:
        raise ProviderNotOffered
    return flows.invite_to_link(uow, provider, caller.user_id, context)
