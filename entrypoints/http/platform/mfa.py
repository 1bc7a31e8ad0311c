"""Second factors on the platform: one user's, statistics, and signs of attacks."""

from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.platform import mfa
from core.platform.mfa import MfaAlert, MfaMetrics, UserMfaNotEnabled, UserMfaStatus
from entrypoints.web.serving.admission.credentials import platform_owner, platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "platform multi-factor authentication", "The second factors of all users, for platform owners and support."
)


class MfaRemoval(msgspec.Struct, kw_only=True):
    """The reason, 1 to 1000 characters; the platform's audit log records it."""

    reason: str


class MfaAlertList(msgspec.Struct, kw_only=True):
    """Possible attacks."""

    alerts: list[MfaAlert]


@routes.get("/api/platform/users/:user_id/mfa/status", refuses=(Forbidden, UserUnknown))
@platform_support
async def status(call: Call, user_id: UUID) -> UserMfaStatus:
    """Show the second factor of a user."""
    return await call.transact(mfa.status, user_id)


@routes.delete("/api/platform/users/:user_id/mfa", status=204, refuses=(Forbidden, UserMfaNotEnabled, UserUnknown))
@platform_owner
async def force_disable(call: Call, user_id: UUID, body: MfaRemoval) -> None:
    """Turn off the second factor of a user who has lost it.

    The secret and all backup codes are deleted, and no device remembers the factor any longer; sessions continue. The
    user is notified by mail, and the reason is recorded in the platform's audit log.
    """
    await call.transact(mfa.force_disable, user_id, body.reason)


@routes.get("/api/platform/mfa/metrics", refuses=(Forbidden,))
@platform_support
async def metrics(call: Call) -> MfaMetrics:
    """Count the accounts with a second factor, and the failures and used backup codes of the last seven days."""
    return await call.read(mfa.metrics)


@routes.get("/api/platform/mfa/suspicious", refuses=(Forbidden,))
@platform_support
async def suspicious(call: Call) -> MfaAlertList:
    """List possible attacks on second factors in the last seven days, newest first, at most 100.

    `many_mfa_failures`: five wrong codes within 15 minutes. `backup_code_from_new_device`: a backup code was used on an
    unknown device. `mfa_disabled_after_risky_sign_in`: the factor was turned off within an hour after a sign-in with a
    risk above 0.7.
    """
    return MfaAlertList(alerts=list(await call.read(mfa.suspicious)))
