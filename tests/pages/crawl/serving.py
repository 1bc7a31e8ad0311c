"""The pages of a crawl at addresses of a server, each as its handler has filled it in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrypoints.pages.frame.rendering import Page, page
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.pages.crawl.recording import Shown

# What the server gives each page, with files that it serves itself.
_OF_THE_INSTALLATION: Final = frozenset({"version", "platform", "brand"})


class ShownQuery(Query, kw_only=True):
    """Which page to show."""

    name: str


def routes_of(pages: Mapping[str, Shown]) -> Routes:
    """Return the routes that show pages by their names, in the language of the browser."""
    shown = Routes("shown", "Every page with the values of a crawl.")

    async def show(call: Call, query: ShownQuery) -> Page:
        """Show a page."""
        one = pages[query.name]
        values = {name: value for name, value in one.values.items() if name not in _OF_THE_INSTALLATION}
        if "submits_itself" in values:
            values["submits_itself"] = False
        response = page(call, one.template, **values)
        response.headers["Content-Security-Policy"] += "; connect-src 'self'"
        return response

    shown.get("/shown")(public(show))
    return shown
