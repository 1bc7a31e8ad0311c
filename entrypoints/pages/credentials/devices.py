"""The page of one's own devices: which there are, naming them, and removing them."""

from typing import Annotated, Final
from uuid import UUID

from core.credentials import devices
from core.credentials.devices import DeviceInUse, DeviceOfAnother, DeviceUnknown
from core.errors import BadRequest, Forbidden, Refusal
from entrypoints.pages.account_pages import ACCOUNT, Outcome, account_page, after
from entrypoints.pages.credentials.passkeys import NameForm
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.web.answers import Status
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("account pages", "Looking after your own account in a browser.", refusal_page)

DEVICES: Final = f"{ACCOUNT}/devices"


@routes.get(DEVICES)
@in_browser
async def show_devices(call: Call, query: Outcome) -> Page:
    """Show the devices that you sign in from."""
    return await _page(call, done=query.done)


@routes.post(f"{DEVICES}/:device_id/rename", refuses=(DeviceUnknown, DeviceOfAnother, Forbidden))
@in_browser
async def rename_device(call: Call, device_id: UUID, form: NameForm) -> Page | Annotated[None, Status(303)]:
    """Rename one of your devices."""
    try:
        await call.transact(devices.rename_mine, device_id, form.name)
    except BadRequest as refusal:
        return await _page(call, refusal=refusal)
    return after(DEVICES, "renamed")


@routes.post(f"{DEVICES}/:device_id/remove", refuses=(DeviceInUse, DeviceUnknown, DeviceOfAnother, Forbidden))
@in_browser
async def remove_device(call: Call, device_id: UUID) -> Page | Annotated[None, Status(303)]:
    """Remove one of your devices, and end its sessions."""
    try:
        await call.transact(devices.remove_mine, device_id)
    except DeviceInUse as refusal:
        return await _page(call, refusal=refusal)
    return after(DEVICES, "device-removed")


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None) -> Page:
    mine, total = await call.read(devices.list_mine)
    return account_page(call, "account_devices.html", done=done, refusal=refusal, devices=mine, total=total)
