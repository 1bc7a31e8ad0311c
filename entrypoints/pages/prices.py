"""Prices in the reader's language. An amount is in the smallest unit of its currency, as at the payment provider."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from entrypoints.pages.languages import marked

if TYPE_CHECKING:
    from entrypoints.pages.languages import Language

# Currencies without a smaller unit, and those with a thousand of them; every other one has a hundred (ISO 4217, as the
# payment provider counts, which takes two digits for ISK and UGX).
_WHOLE: Final = frozenset(
    {
        *("bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg"),
        *("rwf", "vnd", "vuv", "xaf", "xof", "xpf"),
    }
)
_THOUSAND: Final = frozenset({"bhd", "iqd", "jod", "kwd", "lyd", "omr", "tnd"})
_PRICE: Final = marked("%(amount)s %(currency)s")
_MINUS: Final = "−"  # noqa: RUF001 - the sign itself


def amount_of(smallest: int, currency: str) -> Decimal:
    """Return an amount in the unit of its currency, with all its digits."""
    digits = 0 if currency in _WHOLE else 3 if currency in _THOUSAND else 2
    sign, text = int(smallest < 0), str(abs(smallest))
    return Decimal((sign, tuple(int(digit) for digit in text), -digits))


def price(language: Language, smallest: int | None, currency: str | None) -> str:
    """Return a price; that of what has none is zero."""
    amount = amount_of(smallest or 0, currency or "")
    written = language.decimal(abs(amount))
    text = language.text(_PRICE, amount=written, currency=(currency or "").upper()).strip()
    return f"{_MINUS}{text}" if amount < 0 else text
