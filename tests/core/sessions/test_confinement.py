"""What a session is limited to at services that many organizations use."""

from __future__ import annotations

from uuid import UUID

from core.sessions.caller_limits import Confinement

VENDOR, SHOP, GLOBEX, INITECH = (UUID(int=number) for number in range(1, 5))


def test_a_connection_speaks_for_its_own_organization_alone() -> None:
    by_customer, by_vendor = Confinement(organization_id=GLOBEX), Confinement(organization_id=VENDOR)

    assert by_customer.allows_customer({GLOBEX}, VENDOR, SHOP)
    assert by_customer.allows_customer({INITECH, GLOBEX}, VENDOR, SHOP)
    assert not by_customer.allows_customer({INITECH}, VENDOR, SHOP)
    assert not by_customer.allows(VENDOR, SHOP)
    assert not by_vendor.allows_customer({GLOBEX}, VENDOR, SHOP)
    # An account that a service may have linked opens no customer of it.
    assert not Confinement(organization_id=VENDOR, service_id=SHOP).allows_customer({GLOBEX}, VENDOR, SHOP)


def test_a_session_that_lacks_a_required_connection_goes_on_for_each_customer_of_its_service() -> None:
    lacking = Confinement(organization_id=VENDOR, service_id=SHOP, lacks_connection=True)

    assert lacking.allows_customer({GLOBEX}, VENDOR, SHOP)
    assert not lacking.allows_customer({GLOBEX}, VENDOR, UUID(int=9))


def test_the_token_of_a_service_shows_the_sessions_for_its_own_customer() -> None:
    limits = Confinement(organization_id=VENDOR, service_id=SHOP, customer_id=GLOBEX)

    assert limits.covers(None, VENDOR, SHOP, GLOBEX)
    assert not limits.covers(None, VENDOR, SHOP, INITECH)
    assert not limits.covers(None, VENDOR, SHOP)
    assert not limits.covers(limits, VENDOR, SHOP)
