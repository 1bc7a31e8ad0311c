"""Documents that are the same for every reader: written once in the life of a process, revalidated by their mark."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import trio
from quart import Response, current_app

if TYPE_CHECKING:
    from collections.abc import Callable

    from entrypoints.web.application import Application
    from entrypoints.web.calls import Call
    from entrypoints.web.routes import Route

MARK_CHARACTERS: Final = 16
# May be kept, but is asked for again each time: the answer is then a 304, and a new version is seen at once.
CACHE_CONTROL: Final = "no-cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Some bytes, what they are, and the mark by which a reader can tell that it has them already."""

    content: bytes
    compressed: bytes
    media_type: str
    mark: str

    @classmethod
    def of(cls, content: bytes, *, media_type: str) -> Document:
        """Mark the content."""
        return cls(
            content=content,
            compressed=gzip.compress(content, mtime=0),
            media_type=media_type,
            mark=content_mark(content),
        )

    def response(self, call: Call) -> Response:
        """Answer with the content, or with nothing when the reader has it."""
        asked = call.request
        if asked.if_none_match.contains_weak(self.mark):
            response = Response(b"", status=304)
        elif asked.accept_encodings.quality("gzip"):
            response = Response(self.compressed, content_type=self.media_type)
            response.headers["Content-Encoding"] = "gzip"
        else:
            response = Response(self.content, content_type=self.media_type)
        # Weak, because compressed or not it is the same document.
        response.set_etag(self.mark, weak=True)
        response.headers["Cache-Control"] = CACHE_CONTROL
        response.headers["Vary"] = "Accept-Encoding"
        return response


# Makes a document of all routes, the base address and the version.
Write: TypeAlias = "Callable[[tuple[Route, ...], str, str], Document]"


async def written_once(write: Write) -> Document:
    """Give the document; its first reader waits a moment while a thread writes it, so that no start has to."""
    application = cast("Application", current_app)
    written = cast("dict[Write, Document]", application.extensions.setdefault("documents", {}))
    if write not in written:
        installation = application.installation
        written[write] = await trio.to_thread.run_sync(
            write, application.routes, installation.settings.base_url, installation.version
        )
    return written[write]


def content_mark(content: bytes) -> str:
    """Give a short name that only this content has."""
    return hashlib.sha256(content).hexdigest()[:MARK_CHARACTERS]
