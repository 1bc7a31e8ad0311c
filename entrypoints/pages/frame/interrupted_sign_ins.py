"""Sign-ins whose way to a service has ended, or goes on in another browser: what the page says, and what it offers."""

from __future__ import annotations

from dataclasses import replace

from quart import Response

from core.accounts.return_targets import ReturnTarget
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.rendering import page
from entrypoints.web.serving.calls import Call

_HOME = "/app"
_ERROR_MIN = 400


def where_it_goes_on(call: Call, place: ReturnTarget) -> str:
    """Return the sentence for a browser in which the way to a place did not begin."""
    return translated(
        call,
        "To continue to %(place)s, go back to the browser where you began, and sign in there.",
        place=place.name,
    )


async def over_page(call: Call, place: ReturnTarget, *, is_signed_in: bool = True, status: int = 200) -> Response:
    """Return the page of a browser after the request of the service at this place was answered, or has expired."""
    text = (
        translated(call, "You are signed in here. Go back to %(place)s and sign in there again.", place=place.name)
        if is_signed_in
        else translated(call, "Go back to %(place)s and sign in there again.", place=place.name)
    )
    return await place_page(
        call,
        place,
        heading=translated(call, "This sign-in to %(place)s is no longer valid", place=place.name),
        text=text,
        next_step=None if is_signed_in else (marked("Go to the start page"), _HOME),
        status=status,
    )


async def place_page(
    call: Call,
    place: ReturnTarget,
    *,
    heading: str,
    text: str,
    next_step: tuple[str, str] | None = None,
    status: int = 200,
) -> Response:
    """Return a page with a button to the first page of the service, if it is known, and one to the account."""
    return page(
        call,
        "frame/message.html",
        status=status,
        heading=heading,
        text=text,
        back=replace(place, redirect_uri=place.start),
        next=next_step or (marked("Your account"), _HOME),
        request_id=call.request_id if status >= _ERROR_MIN else None,
        brand=await brand_of(call, place.organization_id),
    )
