"""Where a refusal is explained: the page of its error code in the reference, which a `Link` header names (RFC 8288)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from core.errors import ErrorCode

ERROR_PAGES: Final = "/docs/errors"


@cache
def help_links(base_url: str) -> Mapping[ErrorCode, str]:
    """Return the `Link` header of a refusal with each code; made once, because refusals come in bursts."""
    return {code: f'<{base_url}{error_page(code)}>; rel="help"' for code in ErrorCode}


def error_page(code: ErrorCode) -> str:
    """Return the path of the page that explains an error code."""
    return f"{ERROR_PAGES}/{code.name}"
