"""What the installation gives away: the wheel of its Python package, which is on no package index under our name."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import trio
from quart import Response

from core.errors import NotFound
from entrypoints.installation import Installation
from entrypoints.pages.downloads.client_wheel import Wheel, client_wheel
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import AnswerStatus, Media
from entrypoints.web.serving.answering.documents import THREADS, Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("downloads", "The Python package for products, as the file that pip installs.", refusal_page)

DOWNLOADS: Final = "/downloads"
_WHEEL: Final = "application/zip"

WheelFile: TypeAlias = Annotated[Response, Media(_WHEEL)]


@routes.get(f"{DOWNLOADS}/:name", refuses=(NotFound,))
@public
async def download(call: Call, name: str) -> WheelFile | Annotated[None, AnswerStatus(304)]:
    """Return the wheel of the Python package `gatehouse-client` of this version."""
    if name != (await wheel()).name:
        raise NotFound
    document = await generated_once(call, _write_wheel)
    return document.response(call)


async def wheel() -> Wheel:
    """Return the wheel; a thread makes it for the first request."""
    return await trio.to_thread.run_sync(client_wheel, limiter=THREADS)


def address_of(wheel: Wheel, base_url: str) -> str:
    """Return the address by which pip installs the wheel from here; pip refuses a file with another hash."""
    return f"{base_url}{DOWNLOADS}/{wheel.name}#sha256={wheel.sha256}"


def _write_wheel(_routes: tuple[Route, ...], _installation: Installation) -> Document:
    return Document.of(client_wheel().content, media_type=_WHEEL)
