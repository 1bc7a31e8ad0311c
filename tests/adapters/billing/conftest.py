"""A seller without the application, for the tests in this folder."""

from __future__ import annotations

from typing import cast

import pytest

from tests.world.billing import Seller, insert_seller
from tests.world.builder import Builder
from tests.world.world import World


@pytest.fixture
def seller(builder: Builder) -> Seller:
    """The seller, without the application; all examples of a test share it."""
    return insert_seller(cast("World", builder))
