"""Listing, promoting and demoting platform owners."""

from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.platform import owners
from core.platform.owners import (
    AlreadyPlatformOwner,
    CannotDemoteYourself,
    ListedPlatformOwner,
    NotAPlatformOwner,
    OwnerUnverified,
    PlatformOwner,
)
from entrypoints.web.serving.admission.credentials import platform_owner
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform owners", "The people who manage the whole platform.")


class PlatformOwnerCreation(msgspec.Struct, kw_only=True):
    """The user to promote."""

    user_id: UUID


class CreatedPlatformOwner(msgspec.Struct, kw_only=True):
    """The new platform owner."""

    user: PlatformOwner


class PlatformOwnerList(msgspec.Struct, kw_only=True):
    """The platform owners."""

    owners: list[ListedPlatformOwner]
    total: int


@routes.get("/api/platform/owners", refuses=(Forbidden,))
@platform_owner
async def list_owners(call: Call) -> PlatformOwnerList:
    """List the platform owners, by their addresses."""
    listed = list(await call.read(owners.list_all))
    return PlatformOwnerList(owners=listed, total=len(listed))


@routes.post("/api/platform/owners", refuses=(Forbidden, UserUnknown, AlreadyPlatformOwner, OwnerUnverified))
@platform_owner
async def promote(call: Call, body: PlatformOwnerCreation) -> CreatedPlatformOwner:
    """Make a user with a verified address a platform owner, with effect from their next request."""
    return CreatedPlatformOwner(user=await call.transact(owners.promote, body.user_id))


@routes.delete(
    "/api/platform/owners/:user_id", status=204, refuses=(Forbidden, CannotDemoteYourself, NotAPlatformOwner)
)
@platform_owner
async def demote(call: Call, user_id: UUID) -> None:
    """Demote a platform owner, with immediate effect; it also ends their impersonations.

    You cannot demote yourself, so at least one platform owner remains.
    """
    await call.transact(owners.demote, user_id)
