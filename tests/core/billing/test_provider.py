"""What the port of the payment provider raises."""

from __future__ import annotations

from core.billing.provider import NothingForSale


def test_nothing_for_sale_is_a_refusal_that_repeating_does_not_help() -> None:
    assert NothingForSale().is_refused
