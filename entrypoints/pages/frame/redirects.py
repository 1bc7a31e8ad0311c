"""Pages that lead a browser on to another site: by a redirect after a form, or by a form that posts a message there."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from quart import Response

from core.saml.messages import OutgoingMessage
from entrypoints.pages.frame.rendering import CONTENT_SECURITY_POLICY, page
from entrypoints.web.serving.calls import Call


def leading_page(
    call: Call, address: str, *, frames: tuple[str, ...] = (), seconds: int = 0, text: str = ""
) -> Response:
    """Return a page that sends the browser to an address, for the answer to a form.

    A browser follows no redirect from a form to another site, because the pages with forms forbid that (form-action).
    `frames` are pages of services that the browser loads first, and `text` says where it leads, empty for an
    application.
    """
    shown = page(call, "frame/redirects.html", address=address, frames=frames, text=text)
    shown.headers["Refresh"] = f"{seconds}; url={address}"
    if frames:
        sources = " ".join(sorted({f"{urlsplit(uri).scheme}://{urlsplit(uri).netloc}" for uri in frames}))
        shown.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src {sources}"
    return shown


# The one form of the page has an address from the configuration. It is not named here, because browsers would apply
# that to the addresses to which the other site redirects as well.
POLICY: Final = (
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def posting_page(call: Call, message: OutgoingMessage, place: str) -> Response:
    """Return the page that posts a message by itself; `place` is where it leads, empty for a logout."""
    return open_to_other_sites(
        page(call, "frame/redirects_post.html", message=message, place=place, submits_itself=True)
    )


def open_to_other_sites(response: Response) -> Response:
    """Let the form of a page lead to another site, and return the page."""
    response.headers["Content-Security-Policy"] = POLICY
    # Without it a browser would say that the form comes from nowhere, which some applications refuse.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response
