"""Who governs the platform: promoting and demoting."""

from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.platform import owners
from core.platform.owners import (
    AlreadyPlatformOwner,
    CannotDemoteYourself,
    CannotGovern,
    NotAPlatformOwner,
    PlatformOwner,
)
from entrypoints.web.calls import Call
from entrypoints.web.credentials import platform_owner
from entrypoints.web.routes import Routes

routes = Routes("platform owners", "Who governs the whole platform.")


class Promotion(msgspec.Struct, kw_only=True):
    """Who is to be a platform owner."""

    user_id: UUID


class Promoted(msgspec.Struct, kw_only=True):
    """Who is a platform owner now."""

    user: PlatformOwner


@routes.post("/api/platform/owners", refuses=(Forbidden, UserUnknown, AlreadyPlatformOwner, CannotGovern))
@platform_owner
async def promote(call: Call, body: Promotion) -> Promoted:
    """Make somebody a platform owner, whose email address is verified. It counts from their next request on."""
    return Promoted(user=await call.transact(owners.promote, body.user_id))


@routes.delete(
    "/api/platform/owners/:user_id", status=204, refuses=(Forbidden, CannotDemoteYourself, NotAPlatformOwner)
)
@platform_owner
async def demote(call: Call, user_id: UUID) -> None:
    """Let a platform owner be one no longer, from this moment on; whoever they impersonate they no longer do.

    Nobody can demote themselves, so the last platform owner stays.
    """
    await call.transact(owners.demote, user_id)
