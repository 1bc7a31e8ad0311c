"""The cookies of a request."""

from __future__ import annotations

from quart.wrappers import Request


def cookie_of(request: Request, name: str) -> str | None:
    """Return the value of a cookie, None without one."""
    if request.headers.get("Cookie") is None:
        # Programs send none, and parsing nothing takes a while.
        return None
    cookies = request.cookies
    # `get` makes an exception for a cookie that is missing, which takes longer than reading all the others.
    return cookies[name] if name in cookies else None  # noqa: SIM401
