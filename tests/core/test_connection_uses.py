"""For what a request or an actor uses connections to the database."""

from __future__ import annotations

from core.connection_uses import ConnectionUse
from tests.world.builder import new_id


def test_background_work_that_changes_an_organization_is_of_its_share() -> None:
    organization_id = new_id()

    use = ConnectionUse.background_of(organization_id)

    assert use == ConnectionUse(is_background=True, changes_organization=True, organization_id=organization_id)
    assert ConnectionUse.background_of(None).organization_id is None


def test_the_use_of_a_route_is_that_of_its_path() -> None:
    assert ConnectionUse(is_sign_in=True).at("acme") == ConnectionUse(is_sign_in=True, organization_slug="acme")
