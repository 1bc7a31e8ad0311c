"""Seeing, naming and removing the devices that one signs in from."""

from uuid import UUID

import msgspec

from core.credentials import devices
from core.credentials.devices import (
    DeviceDetail,
    DeviceInUse,
    DeviceItem,
    DeviceOfAnother,
    DeviceUnknown,
    RenamedDevice,
)
from entrypoints.http.sessions.sessions import Message
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_person, signed_in
from entrypoints.web.routes import Routes

routes = Routes(
    "devices",
    "What you sign in from. A device is recognized by its token, in a cookie or in `X-Device-Token`; one of the same"
    " make without it is listed as the same device, and never trusted.",
)


class DeviceList(msgspec.Struct, kw_only=True):
    """One's devices that were used last, and how many there are."""

    devices: list[DeviceItem]
    total: int


class NewName(msgspec.Struct, kw_only=True):
    """What to call a device from now on, in 1 to 100 characters."""

    name: str


@routes.get("/api/user/devices")
@signed_in
async def list_devices(call: Call) -> DeviceList:
    """List your devices, the one used last first.

    `trusted` says that the device remembers a second factor, for as long as the organization of your token wants.
    """
    mine, total = await call.read(devices.list_mine)
    return DeviceList(devices=list(mine), total=total)


@routes.get("/api/user/devices/:id", refuses=(DeviceUnknown, DeviceOfAnother))
@signed_in
async def show_device(call: Call, id: UUID) -> DeviceDetail:  # noqa: A002 - the name of the path's parameter
    """Show one of your devices."""
    return await call.read(devices.show_mine, id)


@routes.patch("/api/user/devices/:id", refuses=(DeviceUnknown, DeviceOfAnother))
@signed_in
async def rename_device(call: Call, id: UUID, body: NewName) -> RenamedDevice:  # noqa: A002 - likewise
    """Give one of your devices a name."""
    return await call.transact(devices.rename_mine, id, body.name)


@routes.delete("/api/user/devices/:id", refuses=(DeviceInUse, DeviceUnknown, DeviceOfAnother))
@in_person
async def remove_device(call: Call, id: UUID) -> Message:  # noqa: A002 - likewise
    """Remove one of your devices.

    Its sessions and tokens end at once, and it is a new device when somebody signs in from it again. The device you
    are using is removed by signing out. Removing a device once more changes nothing.
    """
    await call.transact(devices.remove_mine, id)
    return Message(message="The device is removed. Whoever uses it has to sign in again.")
