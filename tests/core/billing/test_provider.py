"""What the port of the payment provider raises."""

from __future__ import annotations

from core.billing.provider import BillingMode, NothingForSale, mode_of_key
from core.secrets import Secret


def test_nothing_for_sale_is_a_refusal_that_repeating_does_not_help() -> None:
    assert NothingForSale().is_refused


def test_the_beginning_of_a_key_says_which_data_it_opens() -> None:
    modes = [mode_of_key(Secret(key)) for key in ("sk_test_1", "rk_test_1", "sk_live_1", "other")]

    assert modes == [BillingMode.TEST, BillingMode.TEST, BillingMode.LIVE, BillingMode.LIVE]
