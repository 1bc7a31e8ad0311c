"""The cookies of a request, read as browsers write them (RFC 6265, 4.2 and 5.4)."""

from __future__ import annotations

from typing import Final

from quart.wrappers import Request
from werkzeug.sansio.http import parse_cookie

_BLANKS: Final = " \t"


def cookie_of(request: Request, name: str) -> str | None:
    """Return the value of a cookie, the first one of that name; None without one.

    Whatever is in quotation marks, a semicolon ends a cookie: browsers let none stand in one. Werkzeug reads on to the
    next quotation mark, so that a cookie of another application of the domain could contain ours.
    """
    if request.headers.get("Cookie") is None:
        # Programs send none, and asking for all takes a while.
        return None
    for pair in ";".join(request.headers.getlist("Cookie")).split(";"):
        found, equals, value = pair.partition("=")
        if equals and found.strip(_BLANKS) == name:
            value = value.strip(_BLANKS)
            # Our own are quoted when they have a character that needs it.
            return parse_cookie(f"{name}={value}").get(name) if value.startswith('"') else value
    return None
