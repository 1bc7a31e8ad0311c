"""A flow that sends a browser to the sign-in and then away, as those of services do."""

from typing import Annotated, Final

from quart import Response

from entrypoints.pages.rendering import HTML
from entrypoints.pages.sign_in.ways import send_to_sign_in
from entrypoints.web.answers import Media
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser_or_not
from entrypoints.web.routes import Routes

AWAY: Final = "http://shop.example/callback"

pieces = Routes("pieces", "The pages of a test.")


@pieces.get("/pieces/ask")
@in_browser_or_not
async def ask(call: Call) -> Annotated[Response, Media(HTML)]:
    """Send the browser to the sign-in."""
    return await send_to_sign_in(call, return_to="/pieces/away?state=1", redirect_uri=AWAY)


@pieces.get("/pieces/away", status=302)
@in_browser_or_not
async def leave(call: Call) -> None:
    """Lead to another origin."""
    call.headers["Location"] = AWAY
