"""PNG: what is served has only what makes the picture, and nothing grows when it is read."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import pytest

from adapters.pictures import png
from adapters.pictures.png import SIDE_PIXELS_MAX, cleaned_png
from core.organizations.settings.pictures import PictureInvalid
from tests.pictures import chunk, drawn_png, header


def chunks_of(content: bytes) -> list[bytes]:
    return [kind for kind, _ in png._chunks(content)]


def test_a_picture_keeps_what_makes_it() -> None:
    content = drawn_png(3, 2, color_type=3, extra=[chunk(b"PLTE", bytes(6)), chunk(b"tRNS", b"\x00")])

    assert cleaned_png(content) == content


def test_texts_times_profiles_and_animations_are_dropped() -> None:
    extra = [chunk(kind, b"<script>alert(1)</script>") for kind in (b"tEXt", b"iTXt", b"eXIf", b"acTL", b"iCCP")]

    cleaned = cleaned_png(drawn_png(3, 2, extra=extra))

    assert cleaned == drawn_png(3, 2)


def test_what_follows_the_picture_is_dropped() -> None:
    assert cleaned_png(drawn_png(3, 2) + b"PK\x03\x04<html>") == drawn_png(3, 2)


def test_data_in_several_chunks_become_one() -> None:
    data = zlib.compress(bytes(2 * (1 + 3 * 3)))
    split = drawn_png(3, 2, data=[data[:4], data[4:]])

    assert chunks_of(cleaned_png(split)) == [b"IHDR", b"IDAT"]


@pytest.mark.parametrize(
    ("width", "height", "depth", "color_type", "interlaced_bytes"),
    [(1, 1, 8, 2, 4), (8, 8, 1, 0, 30), (5, 3, 8, 6, None), (2, 9, 16, 4, None)],
)
def test_an_interlaced_picture_is_measured_by_its_passes(
    width: int, height: int, depth: int, color_type: int, interlaced_bytes: int | None
) -> None:
    size = png._Header(width, height, depth, color_type, is_interlaced=True).data_bytes
    content = drawn_png(
        width, height, depth=depth, color_type=color_type, interlace=1, data=[zlib.compress(bytes(size))]
    )

    assert cleaned_png(content) == content
    if interlaced_bytes is not None:
        assert size == interlaced_bytes


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GIF89a",
        b"<svg/>",
        drawn_png(3, 2)[:-13],
        drawn_png(3, 2)[:40],
        b"\x89PNG\r\n\x1a\n" + chunk(b"IEND", b""),
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"short") + chunk(b"IEND", b""),
        drawn_png(3, 2).replace(b"IDAT", b"IDAX"),
        drawn_png(3, 2, color_type=3),
        drawn_png(3, 2, depth=3),
        drawn_png(3, 2, color_type=1),
        drawn_png(3, 2, interlace=2),
        drawn_png(3, 2, data=[b"not compressed"]),
        drawn_png(3, 2, data=[zlib.compress(bytes(19))]),
        drawn_png(3, 2, data=[zlib.compress(bytes(21))]),
        drawn_png(3, 2, data=[zlib.compress(bytes(20))[:-2]]),
        drawn_png(3, 2, data=[zlib.compress(bytes(20)) + b"hidden"]),
    ],
)
def test_what_is_no_complete_picture_is_refused(content: bytes) -> None:
    with pytest.raises(PictureInvalid):
        cleaned_png(content)


@pytest.mark.parametrize(("width", "height"), [(0, 1), (1, 0), (SIDE_PIXELS_MAX + 1, 1), (1, 2**31 - 1)])
def test_too_many_pixels_are_refused_by_the_header_alone(width: int, height: int) -> None:
    content = drawn_png(1, 1).replace(header(1, 1), header(width, height))

    with pytest.raises(PictureInvalid, match="pixels"):
        cleaned_png(content)


def test_a_bomb_is_decompressed_no_further_than_its_header_promises() -> None:
    bomb = drawn_png(3, 2, data=[zlib.compress(bytes(50_000_000), 9)])

    tracemalloc.start()
    try:
        with pytest.raises(PictureInvalid):
            cleaned_png(bomb)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 2_000_000


def test_the_checksum_of_every_chunk_is_checked() -> None:
    content = bytearray(drawn_png(3, 2))
    content[struct.calcsize(">8sI4s") + 3] ^= 1

    with pytest.raises(PictureInvalid):
        cleaned_png(bytes(content))
