"""What the demo's own pages share: the pages of the shop, and of a customer's identity provider."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from quart import Response

_STYLE: Final = Markup(
    "<style>:root{color-scheme:light dark;--ink:#2b211b;--soft:#6b5b50;--page:#fff8f2;--card:#fff;--line:#e8d9cc;"
    "--accent:#8a3b12;--on-accent:#fff}"
    "@media(prefers-color-scheme:dark){:root{--ink:#f3e9e1;--soft:#bfae9f;--page:#1a1512;--card:#241d19;--line:#40352d;"
    "--accent:#e9a06f;--on-accent:#2a1508}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui}"
    "header{border-block-end:1px solid var(--line);background:var(--card)}"
    "header>div,main{max-width:60rem;margin:auto;padding:1rem}h1{margin:1rem 0;font-size:1.7rem}h2{font-size:1.1rem}"
    "nav a{margin-inline-end:1.2rem}a{color:var(--accent)}section{margin-block:1rem;padding:1rem 1.25rem;border:1px"
    " solid var(--line);border-radius:.7rem;background:var(--card);overflow-x:auto}.welcome{margin:0;font-size:1.2rem;"
    "font-weight:600}.button{display:inline-block;padding:.45rem 1rem;border:1px solid var(--accent);"
    "border-radius:.5rem;background:var(--accent);color:var(--on-accent);font-weight:600;text-decoration:none}.button.quiet{background:none;"
    "color:var(--accent)}ul{padding-inline-start:1.2rem}.ways,.goods{display:flex;flex-wrap:wrap;gap:.75rem;padding:0;"
    "list-style:none}.goods li{flex:1 1 9rem;padding:1rem;border:1px solid var(--line);border-radius:.7rem;"
    "background:var(--card)}.goods b{float:inline-end;color:var(--soft)}"
    "li{margin-block:.3rem}td,th{text-align:start;padding:.3rem 1rem .3rem 0;vertical-align:top;border-block-end:1px"
    " solid var(--line)}table{border-collapse:collapse}code{overflow-wrap:anywhere}</style>"
)
_NO_LINKS: Final = Markup()


def page(title: str, content: Markup, *, links: Markup = _NO_LINKS, status: int = 200) -> Response:
    """Return a page with links above its heading."""
    html = Markup(
        '<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">'
        "<title>{}</title>{}<header><div>{}</div></header><main><h1>{}</h1>{}</main>"
    )
    return Response(html.format(title, _STYLE, links, title, content), status=status, content_type="text/html")
