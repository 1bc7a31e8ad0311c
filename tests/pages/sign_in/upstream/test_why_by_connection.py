"""The page of sign-in problems where an organization has a connection: its own, another one's, and its problems."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.sign_in.upstream import failures
from core.sign_in.upstream.provider_problems import ProviderProblem
from tests.world.openid_acme import Acme
from tests.world.visitor import Visitor

ADA = "ada@acme.example"


async def signed_in(acme: Acme, email: str) -> Visitor:
    """Return the browser of a member who signs in by a password."""
    visitor = Visitor(acme.world.client)
    await visitor.sign_in(email)
    return visitor


async def test_the_required_connection_is_named_to_its_own_organization_alone(acme: Acme) -> None:
    ada, bolt = acme.world.user(ADA), acme.world.organization("bolt")
    for organization_id in (acme.organization_id, bolt):
        acme.world.member(organization_id, ada)
    acme.world.member(bolt, acme.world.user("keeper@bolt.example"), "owner")
    await acme.enforce()
    of_acme, of_bolt = [await signed_in(acme, email) for email in (acme.owner.email, "keeper@bolt.example")]

    own = (await of_acme.open(f"/app/organizations/acme/why?email={ADA}")).text
    other = (await of_bolt.open(f"/app/organizations/bolt/why?email={ADA}&way=password")).text

    assert f"Nothing refuses {ADA} by these ways: Connection “Acme”." in own
    assert "Acme requires Acme." in own
    # There it refuses nothing (decisions 13.6).
    assert f"Nothing refuses {ADA}" in other
    assert "Acme" not in other


async def test_a_connection_that_is_switched_off_is_named(acme: Acme) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    acme.world.connection.execute("UPDATE upstream_connections SET enabled = false")

    page = await (await signed_in(acme, acme.owner.email)).open(
        f"/app/organizations/acme/why?email={ADA}&way=connection"
    )

    assert f"{ADA} cannot sign in by the connection “Acme”." in page.text
    assert "Switch the connection on again" in page.text
    assert 'href="/app/organizations/acme/sign-in">' in page.text


@pytest.mark.parametrize("problem", [ProviderProblem.DECLINED, ProviderProblem.NO_ADDRESS])
async def test_the_problems_of_a_connection_stand_below(acme: Acme, problem: ProviderProblem) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    await acme.world.installation.database.transact(
        failures.note, acme.organization_id, UUID(acme.connection_id), problem, request_id="request-of-another"
    )
    browser = await signed_in(acme, acme.owner.email)

    page = (await browser.open(f"/app/organizations/acme/why?email={ADA}")).text
    unknown = (await browser.open("/app/organizations/acme/why?email=unknown@elsewhere.example")).text

    assert "Problems of connections" in page
    assert "request-of-another" in page
    # What stands on the page of a setup link is not named here.
    assert "below." not in page.partition("Problems of connections")[2]
    assert "request-of-another" not in unknown
