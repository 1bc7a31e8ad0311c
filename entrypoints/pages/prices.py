"""Prices of plans as people write them."""

import re
from decimal import Decimal
from typing import Final

from core.errors import BadRequest
from core.services.plans import PRICE_CENTS_MAX
from core.wording import Wording

_AMOUNT: Final = re.compile(r"([0-9]{1,6})(?:[.,]([0-9]{1,2}))?")


def price_of(cents: int | None, currency: str | None) -> str:
    """Return a price for people, as most currencies are written."""
    return Wording("%(amount)s %(currency)s", amount=Decimal(amount_of(cents or 0)), currency=(currency or "").upper())


def amount_of(cents: int) -> str:
    """Return an amount as it is typed."""
    return str(Decimal(cents).scaleb(-2).quantize(Decimal("0.01")))


def cents_of(field: str, amount: str) -> int:
    """Return the cents of an amount that was typed, with a point or a comma; raise `BadRequest` for anything else."""
    found = _AMOUNT.fullmatch(amount.strip())
    if found is None:
        raise BadRequest.of_field(
            field,
            Wording(
                "Enter an amount from 0 to %(maximum)s, such as 9.90.", maximum=Decimal(amount_of(PRICE_CENTS_MAX))
            ),
        )
    return int(found[1]) * 100 + int((found[2] or "0").ljust(2, "0"))
