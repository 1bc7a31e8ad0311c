"""The buyer in the sandbox."""

from __future__ import annotations

import pytest

from tests.mailboxes import RecordedMailboxes
from tests.pages.billing.shopper import Shopper
from tests.world.billing import Seller


@pytest.fixture
def shopper(seller: Seller, mailboxes: RecordedMailboxes) -> Shopper:
    """The buyer."""
    return Shopper(seller, mailboxes)
