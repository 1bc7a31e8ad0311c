"""The page that leads a browser on to another site after a form."""

from __future__ import annotations

from urllib.parse import urlsplit

from quart import Response

from entrypoints.pages.rendering import CONTENT_SECURITY_POLICY, page
from entrypoints.web.serving.calls import Call


def leading_page(
    call: Call, address: str, *, frames: tuple[str, ...] = (), seconds: int = 0, text: str = ""
) -> Response:
    """Return a page that leads on to an address, for the answer to a form.

    A browser follows no redirect from a form to another site, because the pages with forms forbid that (form-action).
    `frames` are pages of services that the browser loads before it goes on, and `text` says where it leads, empty for
    an application.
    """
    shown = page(call, "leading_on.html", address=address, frames=frames, text=text)
    shown.headers["Refresh"] = f"{seconds}; url={address}"
    if frames:
        sources = " ".join(sorted({f"{urlsplit(uri).scheme}://{urlsplit(uri).netloc}" for uri in frames}))
        shown.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src {sources}"
    return shown
