"""Dialects: the conventions of another standard, such as SCIM, for the routes below a path.

A dialect has media types of its own, reads bodies in its own way, and shows refusals in its own shape, also
for paths that do not exist and for methods that a path does not have.

That of SCIM is `entrypoints/http/scim/dialect.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from quart import Response

from core.errors import Refusal
from core.lazy_dataclasses import dataclass

Decode: TypeAlias = "Callable[[bytes, type[Any]], Any]"
Refused: TypeAlias = "Callable[[Refusal], Response]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The conventions of the routes below a path; `failure` is the type of the body of its refusals.

    With `ignores_trailing_slash`, a path that ends with a slash is the path without it. It is not redirected: most
    clients repeat a redirected request without its body.
    """

    path: str
    media_type: str
    # Accepted for bodies besides the media type.
    also_accepted: frozenset[str]
    decode: Decode
    refused: Refused
    failure: type[Any]
    ignores_trailing_slash: bool = False

    def has_path(self, path: str) -> bool:
        """Return whether a path belongs to the dialect."""
        return path == self.path or path.startswith(f"{self.path}/")
