"""Impersonation: platform owners act as another user."""

from datetime import datetime
from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.platform import impersonation
from core.platform.impersonation import ImpersonatedUser, ImpersonationTarget, TargetIsPlatformOwner
from core.rate_limits import RateLimit
from entrypoints.shared.sessions.token_answers import CustomerName, Tokens, signed
from entrypoints.web.serving.admission.credentials import platform_owner
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("impersonation", "Acting as another user to help them, for platform owners.")


class ImpersonationRequest(msgspec.Struct, kw_only=True):
    """The reason, 1 to 1000 characters, and the organization, or the service of it, to sign in to, for a customer."""

    reason: str
    org_slug: str | None = None
    service_slug: str | None = None
    customer: CustomerName | None = None


class ImpersonationSession(Tokens, kw_only=True):
    """A session as another user, and the id of the entry in the platform's audit log."""

    impersonated_user: ImpersonatedUser
    session_id: UUID
    expires_at: datetime
    audit_log_id: UUID


@routes.post(
    "/api/platform/impersonate/:user_id",
    limits=(RateLimit.IMPERSONATION,),
    refuses=(Forbidden, TargetIsPlatformOwner, UserUnknown, NotFound, OrganizationNotActive),
)
@platform_owner
async def impersonate(call: Call, user_id: UUID, body: ImpersonationRequest) -> ImpersonationSession:
    """Begin a session as another user, which lasts an hour at most; its refresh token works within that hour.

    It cannot change the password, multi-factor authentication, passkeys, email address, devices and other sessions of
    the user. Every audit entry names the impersonator, and the user sees the session among their own.

    At a service that customers use, `customer` names the one for which it acts: the user must have signed in for it,
    and still be allowed to. The logs of the vendor and of the customer record it, and the customer's owner gets a mail.
    """
    wanted = ImpersonationTarget(
        reason=body.reason,
        organization_slug=body.org_slug,
        service_slug=body.service_slug,
        customer=body.customer,
    )
    begun = await call.transact(impersonation.start, user_id, wanted)
    tokens = signed(call, begun.grant)
    return ImpersonationSession(
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_in=tokens.expires_in,
        impersonated_user=begun.user,
        session_id=begun.grant.session_id,
        expires_at=begun.expires_at,
        audit_log_id=begun.audit_log_id,
    )
