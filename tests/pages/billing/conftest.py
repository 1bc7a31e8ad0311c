"""The buyer in the sandbox."""

from __future__ import annotations

import pytest

from tests.doorbells import RecordedDoorbells
from tests.pages.billing.shopper import Shopper
from tests.world.billing import Seller


@pytest.fixture
def shopper(seller: Seller, doorbells: RecordedDoorbells) -> Shopper:
    """The buyer."""
    return Shopper(seller, doorbells)
