"""Pictures for tests, made by hand so that each can be wrong in one place."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind: bytes, body: bytes) -> bytes:
    """Return a chunk of a PNG with its length and checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def header(width: int, height: int, *, depth: int = 8, color_type: int = 2, interlace: int = 0) -> bytes:
    """Return the header of a PNG."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, interlace))


def drawn_png(
    width: int,
    height: int,
    *,
    depth: int = 8,
    color_type: int = 2,
    interlace: int = 0,
    extra: Sequence[bytes] = (),
    data: Sequence[bytes] | None = None,
) -> bytes:
    """Return a black PNG, or one with these compressed data; the extra chunks are before them."""
    if data is None:
        row_bytes = 1 + -(-width * depth * SAMPLES.get(color_type, 1) // 8)
        data = [zlib.compress(bytes(height * row_bytes))]
    parts = [header(width, height, depth=depth, color_type=color_type, interlace=interlace), *extra]
    parts += [chunk(b"IDAT", part) for part in data]
    return SIGNATURE + b"".join(parts) + chunk(b"IEND", b"")


def data_url(content: bytes, media_type: str = "image/png") -> str:
    """Return the `data:` URL of a picture."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
