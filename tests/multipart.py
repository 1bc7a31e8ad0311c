"""Forms with files, as a browser sends them."""

from __future__ import annotations

from collections.abc import Mapping

BOUNDARY = "edge"
CONTENT_TYPE = f"multipart/form-data; boundary={BOUNDARY}"


def part(name: str, content: bytes, *, filename: str | None = None) -> bytes:
    """Return a field of a form, or a file with a name."""
    of_file = f'; filename="{filename}"\r\nContent-Type: application/octet-stream' if filename is not None else ""
    return f'Content-Disposition: form-data; name="{name}"{of_file}\r\n\r\n'.encode() + content


def sent(*parts: bytes) -> bytes:
    """Return the body of a form with these parts."""
    edge = BOUNDARY.encode()
    return b"".join(b"--" + edge + b"\r\n" + one + b"\r\n" for one in parts) + b"--" + edge + b"--\r\n"


def form_data(fields: Mapping[str, str], files: Mapping[str, bytes]) -> bytes:
    """Return the body of a form with these texts and files."""
    texts = [part(name, text.encode()) for name, text in fields.items()]
    return sent(*texts, *(part(name, content, filename=f"{name}.bin") for name, content in files.items()))
