"""The hash by which lists of breached passwords name them."""

from __future__ import annotations

import hashlib


def sha1_of(password: str) -> str:
    """Return the SHA-1 of a password in hexadecimal, in capitals."""
    # It is the key of these lists, and protects nothing.
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
