"""Other texts that a lenient reader of base64 takes for the same signed token."""

from __future__ import annotations

import base64
from collections.abc import Iterator

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def second_writings(token: str) -> dict[str, str]:
    """Return other writings of a token, by what differs."""
    written = {
        "padded": f"{token}=",
        "padded twice": f"{token}==",
        "a new line behind": f"{token}\n",
        "a blank behind": f"{token} ",
        "a tab before": f"\t{token}",
        "a line break within": f"{token[:-4]}\r\n{token[-4:]}",
        "an exclamation mark within": f"{token[:-4]}!{token[-4:]}",
    }
    parts = token.split(".")
    for number, part in enumerate(parts):
        for name, other in _written_again(part):
            written[f"part {number + 1}: {name}"] = ".".join([*parts[:number], other, *parts[number + 1 :]])
    return written


def _written_again(part: str) -> Iterator[tuple[str, str]]:
    missing = -len(part) % 4
    yield "padded", part + "=" * (missing or 4)
    standard = part.replace("-", "+").replace("_", "/")
    if standard != part:
        yield "standard base64", standard
    if missing:
        # The last character has two bits, or four, that encode nothing.
        position = ALPHABET.index(part[-1])
        for bits in range(1, 4**missing):
            other = part[:-1] + ALPHABET[position + bits]
            assert decoded(other) == decoded(part), "the bits encode something"
            yield f"bits {bits}", other


def decoded(part: str) -> bytes:
    """Return the bytes of a part, read leniently."""
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
