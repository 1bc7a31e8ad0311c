"""Compressing pages, unless the length of the answer could tell a secret in it (BREACH).

Compression shortens what is repeated. Another site that makes a browser open a page with guesses in its address, and
sees how long each answer is on its way, so learns of what stands beside them. So what another site has asked for is not
compressed, nor is a page that carries a secret (`Route.carries_secret`, `Call.reveals_secret`); and form tokens, which
nearly every page carries, are masked anew in each answer (`browsers.masked`, ops/decisions/0054).
"""

from __future__ import annotations

import gzip
from typing import Final

import trio
from quart import Response
from quart.wrappers import Request
from quart.wrappers.response import DataBody

from entrypoints.web.serving.answering.answers import HTML
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route

# A shorter page fits into one packet anyway.
PAGE_BYTES_MIN: Final = 1024
# Of levels 1, 4 and 6, the first takes half the time of the last, and its pages are a tenth longer.
LEVEL: Final = 1
# What is longer would hold up other requests for more than a millisecond.
BYTES_ON_LOOP_MAX: Final = 64 * 1024
THREADS: Final = trio.CapacityLimiter(1)
# Browsers that send no such header have the other protections alone, as has every browser without TLS.
_OTHER_SITES: Final = frozenset({"cross-site", "same-site"})


def accepts_gzip(request: Request) -> bool:
    """Return whether the client of a request takes an answer that is compressed with gzip."""
    return bool(request.accept_encodings.quality("gzip"))


async def compress(response: Response, route: Route | None, call: Call) -> None:
    """Compress a page for a client that takes it so."""
    body = response.response
    # First what sets most answers apart, which are JSON.
    if response.mimetype != HTML or not isinstance(body, DataBody):
        return
    if not _may_be_compressed(response, body.data, route, call):
        return
    response.headers.add("Vary", "Accept-Encoding")
    is_from_elsewhere = call.request.headers.get("Sec-Fetch-Site") in _OTHER_SITES
    if is_from_elsewhere or not accepts_gzip(call.request):
        return
    if len(body.data) <= BYTES_ON_LOOP_MAX:
        compressed = gzip.compress(body.data, LEVEL, mtime=0)
    else:
        compressed = await trio.to_thread.run_sync(gzip.compress, body.data, LEVEL, limiter=THREADS)
    response.set_data(compressed)
    response.headers["Content-Encoding"] = "gzip"


def _may_be_compressed(response: Response, data: bytes, route: Route | None, call: Call) -> bool:
    carries_secret = route is None or route.carries_secret or call.reveals_secret
    return "Content-Encoding" not in response.headers and len(data) >= PAGE_BYTES_MIN and not carries_secret
