"""Prices in the reader's language, and numbers as they are typed. An amount is in the smallest unit of its currency."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from core.errors import BadRequest
from core.limits import PRICE_CENTS_MAX, TIER_LIMIT_MAX
from core.wording import Wording
from entrypoints.pages.frame.languages import Language, marked

# Currencies without a smaller unit, and those with a thousand of them; every other one has a hundred (ISO 4217, as the
# payment provider counts, which takes two digits for ISK and UGX).
_WHOLE: Final = frozenset(
    {
        *("bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg"),
        *("rwf", "vnd", "vuv", "xaf", "xof", "xpf"),
    }
)
_THOUSAND: Final = frozenset({"bhd", "iqd", "jod", "kwd", "lyd", "omr", "tnd"})
_TYPED: Final = re.compile(r"([0-9]{1,8})(?:[.,]([0-9]{1,3}))?")
_PRICE: Final = marked("%(amount)s %(currency)s")
_MINUS: Final = "−"  # noqa: RUF001 - the sign itself


def amount_of(smallest: int, currency: str) -> Decimal:
    """Return an amount in the unit of its currency, with all its digits."""
    digits = _digits(currency)
    sign, text = int(smallest < 0), str(abs(smallest))
    return Decimal((sign, tuple(int(digit) for digit in text), -digits))


def price(language: Language, smallest: int | None, currency: str | None) -> str:
    """Return a price; something without a price costs zero."""
    amount = amount_of(smallest or 0, currency or "")
    written = language.decimal(abs(amount))
    text = language.text(_PRICE, amount=written, currency=(currency or "").upper()).strip()
    return f"{_MINUS}{text}" if amount < 0 else text


def smallest_of(field: str, typed: str, currency: str) -> int:
    """Return the amount that was typed, with a point or a comma; raise `BadRequest` for anything else."""
    digits = _digits(currency)
    found = _TYPED.fullmatch(typed.strip())
    fraction = (found[2] or "") if found is not None else ""
    smallest = int(found[1] + fraction.ljust(digits, "0")) if found is not None and len(fraction) <= digits else None
    if smallest is None or smallest > PRICE_CENTS_MAX:
        maximum = amount_of(PRICE_CENTS_MAX, currency)
        example = amount_of(990 * 10**digits // 100, currency)
        raise BadRequest.of_field(
            field,
            Wording("Enter an amount from 0 to %(maximum)s, such as %(example)s.", maximum=maximum, example=example),
        )
    return smallest


def _digits(currency: str) -> int:
    return 0 if currency in _WHOLE else 3 if currency in _THOUSAND else 2


def limit_of(text: str, field: str, problem: str) -> int | None:
    """Return the limit that was typed into a field; None where it is empty. Raise `BadRequest` with the problem."""
    digits = text.strip()
    if not digits:
        return None
    # Of no more digits than the highest limit has: the conversion of very many could take long.
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(TIER_LIMIT_MAX))
    if not (is_number and int(digits) <= TIER_LIMIT_MAX):
        raise BadRequest.of_field(field, problem)
    return int(digits)
