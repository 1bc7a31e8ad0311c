"""The way to a page, which each page of the consoles and of one's own account shows: the pages above it.

A list that was filtered is led back to as it was: the address of the page that the browser came from says its filters.
A script remembers them beyond that, such as after a form (`assets/scripts/frame.js`).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from entrypoints.web.serving.calls import Call

# Says what has just been done, which is not said again to a reader who comes back.
_DONE: Final = "done"


def way_of(call: Call) -> dict[str, Any]:
    """Return what the frame of a page needs for its way: its path, and the function that leads back to a list."""
    return {"path": call.request.path, "came_from": partial(came_from, call)}


def came_from(call: Call, path: str) -> str:
    """Return the address of a page above, with the query that it had when its reader followed a link from it."""
    try:
        referrer = urlsplit(call.request.headers.get("Referer", ""))
    except ValueError:
        return path
    own = urlsplit(call.installation.settings.base_url)
    if referrer.path != path or referrer[:2] != own[:2]:
        return path
    query = urlencode([one for one in parse_qsl(referrer.query, keep_blank_values=True) if one[0] != _DONE])
    return f"{path}?{query}" if query else path
