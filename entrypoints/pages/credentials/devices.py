"""The page of one's own devices: which there are, naming them, and removing them."""

from typing import Final
from uuid import UUID

from core.credentials import devices
from core.credentials.devices import DeviceInUse, DeviceOfAnother, DeviceUnknown
from core.errors import BadRequest, Forbidden, Refusal
from entrypoints.pages.console.account import ACCOUNT, account_page, after
from entrypoints.pages.credentials.passkeys import NameForm
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

DEVICES: Final = f"{ACCOUNT}/devices"


@routes.get(DEVICES)
@in_browser
async def show_devices(call: Call, *, query: DoneQuery | None = None, refusal: Refusal | None = None) -> Page:
    """Show the devices that you sign in from."""
    mine, total = await call.read(devices.list_mine)
    return account_page(
        call,
        "credentials/devices.html",
        done=query.done if query is not None else "",
        refusal=refusal,
        devices=mine,
        total=total,
    )


@routes.post(f"{DEVICES}/:device_id/rename", refuses=(DeviceUnknown, DeviceOfAnother, Forbidden))
@in_browser
@shows_again(show_devices, BadRequest)
async def rename_device(call: Call, device_id: UUID, form: NameForm) -> PageOrRedirect:
    """Rename one of your devices."""
    await call.transact(devices.rename_mine, device_id, form.name)
    return after(DEVICES, "renamed")


@routes.post(f"{DEVICES}/:device_id/remove", refuses=(DeviceInUse, DeviceUnknown, DeviceOfAnother, Forbidden))
@in_browser_in_person
@shows_again(show_devices, DeviceInUse)
async def remove_device(call: Call, device_id: UUID) -> PageOrRedirect:
    """Remove one of your devices, and end its sessions."""
    await call.transact(devices.remove_mine, device_id)
    return after(DEVICES, "device-removed")
