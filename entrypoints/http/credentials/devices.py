"""Listing, naming and removing the caller's devices."""

from uuid import UUID

import msgspec

from core.credentials import devices
from core.credentials.devices import (
    DeviceDetails,
    DeviceInUse,
    DeviceItem,
    DeviceOfAnother,
    DeviceUnknown,
    RenamedDevice,
)
from entrypoints.web.serving.admission.credentials import account_wide, signed_in
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "devices",
    "The devices that you sign in from. A device is recognized by its token, in a cookie or in `X-Device-Token`; one of"
    " the same make without a token is listed as the same device, and never trusted.",
)


class DeviceList(msgspec.Struct, kw_only=True):
    """The devices of the caller that were used last, and how many there are in total."""

    devices: list[DeviceItem]
    total: int


class DeviceUpdate(msgspec.Struct, kw_only=True):
    """The new name of a device, 1 to 100 characters."""

    name: str


@routes.get("/api/user/devices")
@signed_in
async def list_devices(call: Call) -> DeviceList:
    """List your devices, the most recently used first.

    `trusted` means that the device remembers the second factor, for as long as the organization of your token allows.
    """
    mine, total = await call.read(devices.list_mine)
    return DeviceList(devices=list(mine), total=total)


@routes.get("/api/user/devices/:id", refuses=(DeviceUnknown, DeviceOfAnother))
@signed_in
async def show_device(call: Call, id: UUID) -> DeviceDetails:  # noqa: A002 - the name of the path's parameter
    """Show one of your devices."""
    return await call.read(devices.show_mine, id)


@routes.patch("/api/user/devices/:id", refuses=(DeviceUnknown, DeviceOfAnother))
@signed_in
async def rename_device(call: Call, id: UUID, body: DeviceUpdate) -> RenamedDevice:  # noqa: A002 - likewise
    """Rename one of your devices."""
    return await call.transact(devices.rename_mine, id, body.name)


@routes.delete("/api/user/devices/:id", refuses=(DeviceInUse, DeviceUnknown, DeviceOfAnother))
@account_wide
async def remove_device(call: Call, id: UUID) -> Message:  # noqa: A002 - likewise
    """Remove one of your devices.

    Its sessions and tokens end at once, and a later sign-in from it counts as one from a new device. To remove the
    device that you are using, sign out. Removing a removed device changes nothing.
    """
    await call.transact(devices.remove_mine, id)
    return Message(message="The device is removed, and its sessions have ended.")
