"""Pages by which a browser posts a message to another site, with a button for browsers without scripts."""

from typing import Final

from quart import Response

from core.saml.messages import OutgoingMessage
from entrypoints.pages.rendering import page
from entrypoints.web.serving.calls import Call

# The one form of the page has an address from the configuration. It is not named here, because browsers would apply
# that to the addresses to which the other site redirects as well.
POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def posting_page(call: Call, message: OutgoingMessage, place: str) -> Response:
    """Return the page that posts a message by itself; `place` is where it leads, empty for a logout."""
    return open_to_other_sites(page(call, "saml_post.html", message=message, place=place, submits_itself=True))


def open_to_other_sites(response: Response) -> Response:
    """Let the form of a page lead to another site, and return the page."""
    response.headers["Content-Security-Policy"] = POLICY
    # Without it a browser would say that the form comes from nowhere, which some applications refuse.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response
