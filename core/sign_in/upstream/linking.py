"""Beginning to link an account of a provider to the caller's, in the context of their session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.secrets import Secret
from core.sessions import callers
from core.sessions.limits import Act
from core.sign_in.identities import IdentityUnknown, context_of
from core.sign_in.upstream import flows
from core.sign_in.upstream.flows import ProviderNotOffered
from core.sign_in.upstream.providers import ExternalProvider

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def begin(uow: UnitOfWork, external: ExternalProvider | None) -> Secret:
    """Return the id with which the caller's browser begins to link, where it is signed in as the same user.

    Raise `IdentityUnknown` for a provider that does not exist, and `ProviderNotOffered` for one without credentials.
    """
    caller = callers.require_in_person(uow)
    caller.require(Act.PROVED)
    if external is None:
        raise IdentityUnknown
    context = context_of(caller)
    organization_id = context.organization_id
    own = uow.oauth_credentials.find(organization_id, external) if organization_id is not None else None
    if own is None and external.client is None:
        raise ProviderNotOffered
    return flows.invite_to_link(uow, external.provider, caller.account.id, context)
