"""What a change of a product gives and takes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.customers.products import Product, ProductAccess
from core.customers.relation_log import CustomerState, RelationChange, state_of
from core.services.assignments import Assignment

GROUP = UUID(int=7)
EDITORS = Assignment(subject="role:editors", roles=["editor"])
EVERYONE = Assignment(subject="everyone", roles=["editor", "viewer"])
PRODUCT = Product(
    customer_id=UUID(int=1),
    vendor_id=UUID(int=2),
    vendor_slug="acme",
    vendor_name="Acme",
    service_id=UUID(int=3),
    service_slug="shop",
    service_name="Shop",
    client_id=UUID(int=4),
    external_id=None,
    is_accepted=True,
    is_paused_by_vendor=False,
    is_paused_by_customer=False,
    access=ProductAccess.ASSIGNED,
    assignments=[EVERYONE],
    shares_directory=False,
    groups=[],
    hidden=True,
    vendor_setup=["upstream"],
    created_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
)


@pytest.mark.parametrize(
    "more",
    [
        {"access": ProductAccess.MEMBERS},
        {"assignments": [EVERYONE, EDITORS]},
        {"shares_directory": True},
        {"groups": [GROUP]},
        {"hidden": False},
        {"vendor_setup": ["upstream", "scim"]},
    ],
)
def test_a_product_that_lets_in_or_shows_more_gives_more(more: dict[str, Any]) -> None:
    after = replace(PRODUCT, **more)

    assert after.gives_more_than(PRODUCT)
    assert not PRODUCT.gives_more_than(after)


def test_a_pause_takes_and_its_end_gives() -> None:
    paused = replace(PRODUCT, is_paused_by_customer=True)

    assert not paused.gives_more_than(PRODUCT)
    assert PRODUCT.gives_more_than(paused)


def test_the_changes_of_a_product_are_those_of_its_settings_in_the_form_of_an_entry() -> None:
    after = replace(PRODUCT, groups=[GROUP], assignments=[EDITORS], hidden=False, is_paused_by_customer=True)

    assert after.changes(PRODUCT) == {
        "assignments": {
            "from": [{"subject": "everyone", "roles": ["editor", "viewer"]}],
            "to": [{"subject": "role:editors", "roles": ["editor"]}],
        },
        "groups": {"from": [], "to": [str(GROUP)]},
        "hidden": {"from": True, "to": False},
    }


def test_either_side_pauses_what_was_accepted() -> None:
    assert PRODUCT.state is CustomerState.ACTIVE
    assert replace(PRODUCT, is_paused_by_vendor=True).state is CustomerState.PAUSED
    assert replace(PRODUCT, is_paused_by_customer=True).state is CustomerState.PAUSED
    assert state_of(is_accepted=False, is_paused=True) is CustomerState.OFFERED


def test_what_happens_has_one_word_in_both_logs() -> None:
    for change in RelationChange:
        word = change.of_vendor.value.partition(".")[2]

        assert change.of_vendor.value == f"customer.{word}"
        assert change.of_customer.value == f"product_access.{word}"
