"""PNG: the chunks that make the picture are kept, everything else is dropped (PNG specification, third edition).

What a header promises is checked before anything is decompressed, and the decompression is bounded by it, so that a
small file cannot become a large one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

from core.lazy_dataclasses import dataclass
from core.organizations.settings.pictures import PictureInvalid
from core.wording import Wording

SIDE_PIXELS_MAX: Final = 1024
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
# The allowed bits per sample for each colour type, and its samples per pixel.
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PALETTE: Final = 3
# Adam7: the first column and row of each pass, and the steps between its columns and rows.
_PASSES: Final = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_BROKEN: Final = "This is not a complete PNG file. Export it again."


@dataclass(frozen=True, slots=True)
class _Header:
    width: int
    height: int
    depth: int
    color_type: int
    is_interlaced: bool

    @property
    def data_bytes(self) -> int:
        """The size of the decompressed picture: one byte for the filter and the samples of each row."""
        bits = self.depth * _SAMPLES[self.color_type]
        passes = _PASSES if self.is_interlaced else ((0, 0, 1, 1),)
        total = 0
        for first_column, first_row, columns_step, rows_step in passes:
            columns = -(-(self.width - first_column) // columns_step)
            rows = -(-(self.height - first_row) // rows_step)
            if columns > 0 and rows > 0:
                total += rows * (1 + -(-columns * bits // 8))
        return total


def cleaned_png(content: bytes) -> bytes:
    """Return the picture with its header, palette, transparency and data alone; raise `PictureInvalid`."""
    chunks = list(_chunks(content))
    if not chunks or chunks[0][0] != b"IHDR":
        raise PictureInvalid(_BROKEN)
    header = _header(chunks[0][1])
    data = b"".join(body for kind, body in chunks if kind == b"IDAT")
    _require_complete(data, header)
    kept = [chunks[0]]
    for name in (b"PLTE", b"tRNS"):
        kept += [(kind, body) for kind, body in chunks if kind == name][:1]
    if header.color_type == _PALETTE and all(kind != b"PLTE" for kind, _ in kept):
        raise PictureInvalid(_BROKEN)
    return _SIGNATURE + b"".join(_encoded(kind, body) for kind, body in [*kept, (b"IDAT", data), (b"IEND", b"")])


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks up to the end of the picture; what comes after it is no part of it."""
    if not content.startswith(_SIGNATURE):
        raise PictureInvalid("This is not a PNG file.")
    position = len(_SIGNATURE)
    while position + 12 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, position)
        end = position + 8 + length
        if (
            end + 4 > len(content)
            or zlib.crc32(content[position + 4 : end]) != struct.unpack_from(">I", content, end)[0]
        ):
            raise PictureInvalid(_BROKEN)
        if kind == b"IEND":
            return
        yield kind, content[position + 8 : end]
        position = end + 4
    raise PictureInvalid(_BROKEN)


def _header(body: bytes) -> _Header:
    if len(body) != 13:
        raise PictureInvalid(_BROKEN)
    width, height, depth, color_type, compression, filtering, interlace = struct.unpack(">IIBBBBB", body)
    if depth not in _DEPTHS.get(color_type, ()) or (compression, filtering) != (0, 0) or interlace > 1:
        raise PictureInvalid(_BROKEN)
    if not (1 <= width <= SIDE_PIXELS_MAX and 1 <= height <= SIDE_PIXELS_MAX):
        raise PictureInvalid(
            Wording("A picture has at most %(pixels)s × %(pixels)s pixels. Make it smaller.", pixels=SIDE_PIXELS_MAX)
        )
    return _Header(width, height, depth, color_type, is_interlaced=interlace == 1)


def _require_complete(data: bytes, header: _Header) -> None:
    """Raise `PictureInvalid` unless the data decompress to exactly what the header promises."""
    stream = zlib.decompressobj()
    try:
        # One byte more than there may be shows that there is more.
        size = len(stream.decompress(data, header.data_bytes + 1))
    except zlib.error:
        raise PictureInvalid(_BROKEN) from None
    if size != header.data_bytes or not stream.eof or stream.unused_data:
        raise PictureInvalid(_BROKEN)


def _encoded(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
