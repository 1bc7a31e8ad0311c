"""Lists of breached passwords, as a file and as the answers of a range server."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digits_of(password: str) -> str:
    """Return the SHA-1 of a password in hexadecimal."""
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def breached_file(folder: Path, *passwords: str, ending: str = ":3\r\n") -> Path:
    """Write a file with these passwords among many others."""
    path = folder / "breached.txt"
    digits = sorted({digits_of(password) for password in (*passwords, *(f"other {number}" for number in range(300)))})
    path.write_text("".join(line + ending for line in digits), newline="")
    return path


def range_answer(*passwords: str, count: int = 3, padding: str = "") -> bytes:
    """Return the answer of a range server that names these passwords; `padding` with a count of 0."""
    lines = [f"{digits_of(password)[5:]}:{count}" for password in passwords]
    lines += [f"{digits_of(padding)[5:]}:0"] if padding else []
    return answer_of("\r\n".join([*lines, f"{'0' * 35}:7"]))


def answer_of(body: str, status: str = "200 OK") -> bytes:
    """Return the bytes of an answer of HTTP."""
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
