"""What all pages of the demo share that are not of Gatehouse: those of the shop, and of the provider of a customer."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from quart import Response

_STYLE: Final = Markup(
    "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui;max-width:60rem;margin:3rem auto;padding:0 1rem}"
    "td,th{text-align:start;padding:.2rem 1rem .2rem 0;vertical-align:top}code{overflow-wrap:anywhere}"
    "nav a{margin-inline-end:1rem}</style>"
)
_NO_LINKS: Final = Markup()


def page(title: str, content: Markup, *, links: Markup = _NO_LINKS, status: int = 200) -> Response:
    """Return a page with links above its heading."""
    html = Markup(
        '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
        "<title>{}</title>{}{}<h1>{}</h1>{}"
    )
    return Response(html.format(title, _STYLE, links, title, content), status=status, content_type="text/html")
