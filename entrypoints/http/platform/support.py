"""The people of the platform's support: listing, appointing and demoting them."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.limits import EMAIL_CHARACTERS_MAX
from core.platform import support
from core.platform.support import (
    AlreadyPlatformSupport,
    NotPlatformSupport,
    PlatformSupport,
    SupportDeactivated,
    SupportIsOwner,
    SupportUnverified,
    SupportWithoutSecondFactor,
)
from entrypoints.web.serving.admission.credentials import platform_owner
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform support", "The people who help the users of the platform, without managing it.")


class SupportAppointment(msgspec.Struct, kw_only=True):
    """The address of the account to appoint."""

    email: Annotated[str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX)]


class AppointedSupport(msgspec.Struct, kw_only=True):
    """The person who was appointed."""

    user: PlatformSupport


class PlatformSupportList(msgspec.Struct, kw_only=True):
    """The people of the platform's support."""

    support: list[PlatformSupport]
    total: int


@routes.get("/api/platform/support", refuses=(Forbidden,))
@platform_owner
async def list_support(call: Call) -> PlatformSupportList:
    """List the people of the platform's support, by their addresses."""
    people = list(await call.read(support.list_all))
    return PlatformSupportList(support=people, total=len(people))


@routes.post(
    "/api/platform/support",
    refuses=(
        Forbidden,
        UserUnknown,
        AlreadyPlatformSupport,
        SupportIsOwner,
        SupportUnverified,
        SupportWithoutSecondFactor,
        SupportDeactivated,
    ),
)
@platform_owner
async def appoint_support(call: Call, body: SupportAppointment) -> AppointedSupport:
    """Appoint a user with a verified address and a second factor, with effect from their next request.

    Support reads organizations and accounts, except those of platform owners, ends sessions, lifts limits and sends
    mails again. What it opens and does is recorded in the platform's audit log. It acts in sessions that began with a
    second factor only; when the account loses its second factor, the appointment ends.
    """
    return AppointedSupport(user=await call.transact(support.appoint, body.email))


@routes.delete("/api/platform/support/:user_id", status=204, refuses=(Forbidden, NotPlatformSupport))
@platform_owner
async def demote_support(call: Call, user_id: UUID) -> None:
    """End the appointment of a user, with immediate effect; their sessions continue."""
    await call.transact(support.demote, user_id)
