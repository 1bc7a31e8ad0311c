"""Forms with files, as browsers send them (RFC 7578). The bytes are in memory, bounded by the limit of their route.

The parts are split and their heads are read here, because a decoder of streams, and one of every header that the
standards allow, take up to half a second for a hostile body of 1 MiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeVar

from core.errors import BadRequest
from entrypoints.web.input.decoding import QUERY_FIELDS_MAX, convert_fields

MULTIPART: Final = "multipart/form-data"
# RFC 2046, 5.1.1.
_BOUNDARY: Final = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
# Of a part: the names of its field and its file, and its type.
_HEAD_BYTES_MAX: Final = 2_000
# The name of the field comes first, and browsers write a quotation mark in one as %22. A file has a name after it.
_DISPOSITION: Final = re.compile(
    r'(?:^|\r\n)content-disposition: *form-data *(?:; *name=(?:"([^"\r\n]*)"|([^";\s]*)))?(; *filename)?', re.IGNORECASE
)

Shape = TypeVar("Shape")


def decode_multipart(data: bytes, boundary: str, shape: type[Shape]) -> Shape:
    """Decode a form with files; raise `BadRequest` when it is invalid.

    The last text of a field counts, and all of them where it is a list. What a browser sends for a file that is not
    chosen is an empty file. The names of files mean nothing.
    """
    texts: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    for head, content in _parts(data, boundary):
        name, is_file = _described(head)
        if is_file:
            files[name] = content
        else:
            texts.setdefault(name, []).append(content.decode("utf-8", "replace"))
    return convert_fields(texts, files, shape)


def _parts(data: bytes, boundary: str) -> Iterator[tuple[str, bytes]]:
    """List the heads and the contents of the parts."""
    if not _BOUNDARY.fullmatch(boundary):
        raise _damaged()
    # Before the first edge is no line, and after the last one are two dashes.
    edge = b"\r\n--" + boundary.encode("ascii")
    _, *parts = (b"\r\n" + data).split(edge, QUERY_FIELDS_MAX + 1)
    if not parts or not parts.pop().startswith(b"--"):
        raise _damaged()
    for part in parts:
        head, end, content = part.partition(b"\r\n\r\n")
        if not end or not head.startswith(b"\r\n") or len(head) > _HEAD_BYTES_MAX:
            raise _damaged()
        yield head.decode("utf-8", "replace"), content


def _described(head: str) -> tuple[str, bool]:
    """Return the name of the field of a part, and whether it is a file; a part without a name belongs to no field."""
    found = _DISPOSITION.search(head)
    if found is None:
        raise _damaged()
    quoted, plain, file_name = found.groups()
    return quoted or plain or "", file_name is not None


def _damaged() -> BadRequest:
    return BadRequest("This form cannot be read. Load it again, and fill it in once more.")
