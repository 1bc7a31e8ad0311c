"""Users known by the same account of a provider at another service, or at the platform.

Identities are linked in one context each. What the platform's own credentials at a provider have linked at one service,
or at the platform, signs the same account in at every other service, as long as it stands for one account alone; what
the credentials of an organization have linked does so among the services that use those. The service gets an identity
of its own, with its own tokens. On its first visit the user is asked for consent as with a session that is there.

This opens neither the platform nor services with customers: those sign-ins are to the account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sign_in import browser_returns
from core.sign_in.identities import IdentityContext, ProvenIdentity
from core.sign_in.upstream.flows import UpstreamSignIn

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A larger number says no more.
ACCOUNTS_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAccount:
    """An account to which an identity is linked somewhere.

    `is_certain`: the same credentials have linked it. Otherwise its provider no longer issues tokens, and nothing
    shows which credentials have.
    """

    user_id: UUID
    is_certain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownElsewhere:
    """A sign-in at a service, and the accounts for which its identity stands elsewhere: one, or several."""

    sign_in: UpstreamSignIn
    user_ids: Sequence[UUID]


def find(uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity) -> KnownElsewhere | None:
    """Return the accounts for which an identity stands elsewhere, if it is not linked where a sign-in leads.

    None without such an account, and where the sign-in leads to no service that such an identity opens.
    """
    at_service = _at_service(uow, sign_in)
    if at_service is None:
        return None
    assert sign_in.client_id is not None, "a browser has gone to a provider without a client"
    found = uow.identities.accounts_of(
        proven.provider, proven.subject, sign_in.client_id, _owner_of_credentials(uow, sign_in), ACCOUNTS_MAX
    )
    if not any(one.is_certain for one in found):
        return None
    return KnownElsewhere(sign_in=at_service, user_ids=[one.user_id for one in found])


def _at_service(uow: UnitOfWork, sign_in: UpstreamSignIn) -> UpstreamSignIn | None:
    """Return a sign-in with the context of the service to which it leads; None where it leads to none."""
    context, way = sign_in.context, sign_in.way
    if context.service_id is not None:
        return sign_in
    kept = browser_returns.find(uow, way.return_id) if way.return_id else None
    if kept is None or kept.organization_slug is None or kept.service_slug is None:
        return None
    organization = uow.organizations.by_slug(kept.organization_slug)
    if organization is None or context.organization_id not in {None, organization.id}:
        return None
    service = uow.services.by_slug(organization.id, kept.service_slug)
    if service is None or service.serves_customers:
        return None
    return replace(sign_in, context=IdentityContext(organization_id=organization.id, service_id=service.id))


def _owner_of_credentials(uow: UnitOfWork, sign_in: UpstreamSignIn) -> UUID | None:
    """Return the organization whose own credentials a sign-in uses; None for the platform's."""
    organization_id = sign_in.context.organization_id
    own = uow.oauth_credentials.of_organization(organization_id) if organization_id is not None else ()
    is_own = any((one.provider, one.client_id) == (sign_in.provider, sign_in.client_id) for one in own)
    return organization_id if is_own else None
