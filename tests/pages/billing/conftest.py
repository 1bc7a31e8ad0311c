"""The buyer in the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages.billing.shopper import Shopper

if TYPE_CHECKING:
    from tests.doorbells import RecordedDoorbells
    from tests.world.billing import Seller


@pytest.fixture
def shopper(seller: Seller, doorbells: RecordedDoorbells) -> Shopper:
    """The buyer."""
    return Shopper(seller, doorbells)
