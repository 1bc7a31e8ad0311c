"""Transferring the ownership of an organization."""

from typing import Literal
from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.organizations import ownership
from core.organizations.access import Operation
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("ownership", "Every organization has one owner.")


class OwnershipTransfer(msgspec.Struct, kw_only=True):
    """The new owner: a member of the organization."""

    new_owner_user_id: UUID


class PreviousOwner(msgspec.Struct, kw_only=True):
    """The previous owner and their new role."""

    user_id: UUID
    new_role: Literal["admin"] = "admin"


class CurrentOwner(msgspec.Struct, kw_only=True):
    """The new owner."""

    user_id: UUID
    role: Literal["owner"] = "owner"


class OwnershipTransferred(msgspec.Struct, kw_only=True):
    """A message for people, the previous owner and the new one."""

    message: str
    old_owner: PreviousOwner
    new_owner: CurrentOwner


@routes.post("/api/organizations/:slug/transfer-ownership", refuses=(BadRequest,))
@in_organization(Operation.OWNERSHIP_TRANSFER)
async def transfer_ownership(call: Call, slug: str, body: OwnershipTransfer) -> OwnershipTransferred:
    """Make another member the owner; you become an admin."""
    transfer = await call.transact(ownership.transfer, slug, body.new_owner_user_id)
    return OwnershipTransferred(
        message="The ownership is transferred. You are an admin now.",
        old_owner=PreviousOwner(user_id=transfer.old_owner_user_id),
        new_owner=CurrentOwner(user_id=transfer.new_owner_user_id),
    )
