"""The compact form of signed tokens (RFC 7515, 7.1): three parts in base64url, in the one way to write their bytes.

Libraries take more: padding, which RFC 7515, 2 leaves out, and the last bits of a part that encode nothing. With those
one token has several texts under one signature. `COMPACT_FORM.fullmatch` takes one of them.
"""

import base64
import re
from typing import Final

_PART: Final = (
    # Blocks of 64 first: by fours alone, a long text of a stranger takes five times as long.
    r"(?:[A-Za-z0-9_-]{64})*+(?:[A-Za-z0-9_-]{4}){0,15}+"
    # Three characters encode two bytes, two characters one: the last two or four bits are zero.
    r"(?:[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9_-][AQgw])?"
)
COMPACT_FORM: Final = re.compile(rf"{_PART}\.{_PART}\.{_PART}")


def decoded(part: str) -> bytes:
    """Return the bytes of a part of the compact form."""
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
