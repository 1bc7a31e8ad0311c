"""The tiles of a person's applications: how each is opened, and their places in the address of a page."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from core.customers.my_applications import OpenedBy, Tile, TilePosition, position_of

SERVICE, CUSTOMER = UUID(int=1), UUID(int=2)
TILE = Tile(
    sort_name="desk",
    service_id=SERVICE,
    service_slug="desk",
    service_name="Desk",
    client_id=UUID(int=3),
    organization_id=UUID(int=4),
    organization_slug="acme",
    organization_name="Acme",
    customer_id=None,
    internal_id=None,
    customer_organization_id=None,
    customer_name=None,
    serves_customers=False,
    has_start_page=False,
    has_saml=False,
    members_only=True,
    is_member=True,
    is_linked=False,
)
BY_SAML = replace(TILE, has_saml=True)
OF_CUSTOMERS = replace(BY_SAML, serves_customers=True)


@pytest.mark.parametrize("customer_id", [None, CUSTOMER])
def test_a_place_is_read_as_it_is_written(customer_id: UUID | None) -> None:
    place = TilePosition(name="desk_and more", service_id=SERVICE, customer_id=customer_id)

    assert position_of(str(place)) == place
    assert replace(TILE, customer_id=customer_id).position == replace(place, name="desk")


@pytest.mark.parametrize("text", ["", "desk", f"{SERVICE}_no id_desk"])
def test_a_damaged_place_is_the_begin(text: str) -> None:
    assert position_of(text) is None


@pytest.mark.parametrize(
    ("tile", "opened_by"),
    [
        (replace(TILE, has_start_page=True, has_saml=True), OpenedBy.START_PAGE),
        (TILE, OpenedBy.ITSELF),
        (BY_SAML, OpenedBy.SAML),
        (replace(BY_SAML, is_member=False, is_linked=True), OpenedBy.ITSELF),
        (replace(OF_CUSTOMERS, customer_id=CUSTOMER), OpenedBy.SAML),
        (replace(OF_CUSTOMERS, is_member=False, is_linked=True), OpenedBy.SAML),
        (replace(OF_CUSTOMERS, is_member=False), OpenedBy.ITSELF),
    ],
    ids=range(7),
)
def test_an_application_is_opened_by_its_page_or_by_saml_where_that_admits(tile: Tile, opened_by: OpenedBy) -> None:
    assert tile.opened_by is opened_by


def test_the_way_names_a_customer_or_nothing_to_come_as_oneself() -> None:
    assert TILE.customer is None
    assert OF_CUSTOMERS.customer == ""
    assert replace(OF_CUSTOMERS, customer_id=CUSTOMER).customer == str(CUSTOMER)
