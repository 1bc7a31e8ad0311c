"""The signature of the payment provider's events: HMAC-SHA256 over `<timestamp>.<raw body>`.

The header is `t=<timestamp>,v1=<signature>`, with several `v1` values while a secret is being replaced. It is checked
over the received bytes, before anything decodes them.
"""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from core.errors import BadRequest, Unauthorized
from core.lazy_dataclasses import dataclass
from core.secrets import Secret

TOLERANCE: Final = timedelta(minutes=5)
HEADER_CHARACTERS_MAX: Final = 4096
_SCHEME: Final = "v1"
_TIMESTAMP: Final = re.compile("[0-9]{1,11}")


class SignatureMissing(BadRequest):
    """The request has no signature header."""

    default_message = "The header billing-signature is missing."


class SignatureMalformed(BadRequest):
    """The signature header does not have the form `t=<timestamp>,v1=<signature>`."""

    default_message = "The header billing-signature has to be t=<timestamp>,v1=<signature>."


class SignatureInvalid(Unauthorized):
    """No signature fits the body, or its time is too far from the present."""

    default_message = "The signature does not fit the body, or its timestamp is more than five minutes from now."


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature header: its timestamp as written, and the signatures of the known scheme."""

    timestamp: str
    values: tuple[str, ...]


def parse(header: str | None) -> Signature:
    """Return the signature in a header; raise `SignatureMissing` or `SignatureMalformed`."""
    if header is None:
        raise SignatureMissing
    if len(header) > HEADER_CHARACTERS_MAX:
        raise SignatureMalformed
    timestamp, values = "", list[str]()
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        if name == "t":
            timestamp = value
        elif name == _SCHEME:
            values.append(value)
    if not _TIMESTAMP.fullmatch(timestamp) or not values:
        raise SignatureMalformed
    return Signature(timestamp, tuple(values))


def verify(signature: Signature, body: bytes, secret: Secret, *, at: datetime) -> None:
    """Raise `SignatureInvalid` unless one of the signatures fits and its time is within the tolerance, either way."""
    expected = sign(signature.timestamp, body, secret).encode()
    # Every value is compared, in constant time, so that the duration says nothing about any of them.
    fits = [hmac.compare_digest(value.encode("utf-8", "replace"), expected) for value in signature.values]
    if not any(fits) or abs(at - datetime.fromtimestamp(int(signature.timestamp), UTC)) > TOLERANCE:
        raise SignatureInvalid


def sign(timestamp: str, body: bytes, secret: Secret) -> str:
    """Return the signature of a body, in hexadecimal."""
    return hmac.digest(secret.reveal().encode(), f"{timestamp}.".encode() + body, "sha256").hex()


def header_of(body: bytes, secret: Secret, *, at: datetime) -> str:
    """Return the header that a sender adds to a body."""
    timestamp = str(int(at.timestamp()))
    return f"t={timestamp},{_SCHEME}={sign(timestamp, body, secret)}"
