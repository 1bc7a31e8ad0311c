"""Documents that are the same for every client: generated once per process, and revalidated by their ETag."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import trio
from quart import Response

from core.lazy_dataclasses import dataclass
from entrypoints.installation import Installation
from entrypoints.web.serving.answering.compression import accepts_gzip
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import GatehouseRequest
from entrypoints.web.serving.routes import Route

MARK_CHARACTERS: Final = 16
# A cache may keep the document but must revalidate it each time, so that a new version is seen at once.
CACHE_CONTROL: Final = "no-cache"
# Of their own, because what waits for a thread that others share waits for their work, too.
THREADS: Final = trio.CapacityLimiter(1)
_GENERATING: Final = trio.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document with its media type, its compressed form and its ETag."""

    content: bytes
    compressed: bytes
    media_type: str
    mark: str

    @classmethod
    def of(cls, content: bytes, *, media_type: str) -> Document:
        """Make a document of the content."""
        return cls(
            content=content,
            compressed=gzip.compress(content, mtime=0),
            media_type=media_type,
            mark=content_hash(content),
        )

    def response(self, call: Call) -> Response:
        """Return the response with the content, or a 304 when the client has it."""
        request = call.request
        if request.if_none_match.contains_weak(self.mark):
            response = Response(b"", status=304)
        elif accepts_gzip(request):
            response = Response(self.compressed, content_type=self.media_type)
            response.headers["Content-Encoding"] = "gzip"
        else:
            response = Response(self.content, content_type=self.media_type)
        # Weak, because the compressed and the plain form are the same document.
        response.set_etag(self.mark, weak=True)
        response.headers["Cache-Control"] = CACHE_CONTROL
        response.headers["Vary"] = "Accept-Encoding"
        return response


# Generates a document from all routes and the installation that has them. Two that are equal generate the same one.
Write: TypeAlias = "Callable[[tuple[Route, ...], Installation], Document]"


async def generated_once(call: Call, write: Write) -> Document:
    """Return the document; the first request waits while a thread generates it, so that the start does not have to."""
    request = cast("GatehouseRequest", call.request)
    written = cast("dict[Write, Document]", request.generated)
    if write not in written:
        async with _GENERATING:
            # Requests that waited for the first one take its document.
            if write not in written:
                written[write] = await trio.to_thread.run_sync(
                    write, request.paths.routes, call.installation, limiter=THREADS
                )
    return written[write]


def routes_of(call: Call) -> tuple[Route, ...]:
    """Return all routes of the application that serves a request."""
    return cast("GatehouseRequest", call.request).paths.routes


def content_hash(content: bytes) -> str:
    """Return a short hash of the content."""
    return hashlib.sha256(content).hexdigest()[:MARK_CHARACTERS]
