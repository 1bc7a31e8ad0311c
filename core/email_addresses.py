"""Email addresses: validation, and the one form in which each is stored, compared and mailed to.

The domain is in its ASCII form by IDNA 2008, in lower case. Nothing is mapped: systems that replace one character by
another (full-width letters, ligatures, marks of another encoding) could disagree about whose address it is, and mail
could leave for another company's domain. Such an address is refused (ops/decisions/0017-idna-2008.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from core.errors import BadRequest
from core.limits import EMAIL_CHARACTERS_MAX
from core.text import is_normalized, normalized

# Returns the ASCII form of a domain in lower case, None when it has none (`DomainNames` in `ports/domain_names.py`).
ToAscii = Callable[[str], str | None]

NOT_AN_ADDRESS: Final = "This is not a valid email address."
UNSTABLE: Final = (
    "This address has characters that mail systems replace by others, such as full-width letters. Type it with ordinary"
    " characters."
)
DOMAIN_INVALID: Final = "The domain of this address is not a valid domain name. Type it exactly as it is registered."

_LOCAL_PART = re.compile(r"[^\s@\"'(),:;<>\[\]\\]{1,64}")
# A dotted name whose last label is not a number.
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")
# A shorter part of an address has no index within addresses.
WITHIN_CHARACTERS_MIN: Final = 3
_ASCII_FORM_PREFIX: Final = "xn--"


def normalize_email(email: str, to_ascii: ToAscii, field: str = "email") -> str:
    """Return the canonical form of an address; raise `BadRequest` when it is not an address."""
    try:
        return _canonical(email.strip(), to_ascii)
    except ValueError as problem:
        raise BadRequest.of_field(field, str(problem)) from None


def canonical_email(typed: str, to_ascii: ToAscii) -> str:
    """Return the canonical form of an address, under which its account is found.

    A text that is not an address comes back in lower case; it finds only an account that was stored so before.
    """
    trimmed = typed.strip()
    try:
        return _canonical(trimmed, to_ascii)
    except ValueError:
        return trimmed.lower()


def domain_of(address: str) -> str:
    """Return the mail domain of a normalized address."""
    return address.rpartition("@")[2]


def is_found_at_beginning(part: str) -> bool:
    """Return whether a part of an address is looked for at the beginning alone, because it is too short."""
    return 0 < len(part) < WITHIN_CHARACTERS_MIN


def part_of_email(typed: str, to_ascii: ToAscii) -> str:
    """Return a part of an address in the form of stored addresses, to search for; the text is not validated."""
    part = typed.strip().lower()
    # Stored addresses are composed.
    if len(part) <= EMAIL_CHARACTERS_MAX:
        part = normalized("NFC", part, characters_max=EMAIL_CHARACTERS_MAX) or part
    local_part, at, domain = part.rpartition("@")
    # The ASCII form of an incomplete domain is not the beginning of the whole domain's ASCII form.
    in_ascii = to_ascii(domain) if at and "." in domain and not domain.isascii() else None
    return part if in_ascii is None else f"{local_part}@{in_ascii}"


def _canonical(trimmed: str, to_ascii: ToAscii) -> str:
    # Unprintable characters (controls, invisible and bidirectional ones, lone surrogates) would make two look alike.
    if len(trimmed) > EMAIL_CHARACTERS_MAX or not trimmed.isprintable():
        raise ValueError(NOT_AN_ADDRESS)
    address = trimmed.lower()
    if len(address) != len(trimmed) or not (_is_stable(trimmed) and _is_stable(address)):
        raise ValueError(UNSTABLE)
    local_part, _, domain = address.rpartition("@")
    if not _LOCAL_PART.fullmatch(local_part):
        raise ValueError(NOT_AN_ADDRESS)
    canonical = f"{local_part}@{_canonical_domain(domain, to_ascii)}"
    if len(canonical) > EMAIL_CHARACTERS_MAX:
        raise ValueError(NOT_AN_ADDRESS)
    return canonical


def _canonical_domain(domain: str, to_ascii: ToAscii) -> str:
    if domain.isascii() and _ASCII_FORM_PREFIX not in domain:
        if not _DOMAIN.fullmatch(domain):
            raise ValueError(NOT_AN_ADDRESS)
        return domain
    in_ascii = to_ascii(domain)
    if in_ascii is None or not _DOMAIN.fullmatch(in_ascii):
        raise ValueError(DOMAIN_INVALID)
    return in_ascii


def _is_stable(text: str) -> bool:
    """Return whether no normalization of Unicode changes a text."""
    return is_normalized("NFKC", text, characters_max=EMAIL_CHARACTERS_MAX)
