"""Lifting the limits of an account or an address."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.limits import EMAIL_CHARACTERS_MAX
from core.platform import limits
from core.platform.limits import LiftedLimits
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform users", "The users of the whole platform, for platform owners and support.")


class LimitedAddress(msgspec.Struct, kw_only=True):
    """The address whose limits are lifted."""

    email: Annotated[str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX)]


@routes.post("/api/platform/limits/lift", refuses=(Forbidden,))
@platform_support
async def lift_limits_of_address(call: Call, body: LimitedAddress) -> LiftedLimits:
    """Lift the limits of an address, whether or not an account has it: on failed sign-ins, and on mails to it.

    The limits of a network end by themselves: those on requests within seconds, those on mails within an hour.
    """
    return await call.transact(limits.lift_of_address, body.email)


@routes.delete("/api/platform/users/:user_id/limits", refuses=(Forbidden, UserUnknown))
@platform_support
async def lift_limits_of_user(call: Call, user_id: UUID) -> LiftedLimits:
    """Lift the limits of the address of a user: on failed sign-ins, and on mails to it."""
    return await call.transact(limits.lift, user_id)
