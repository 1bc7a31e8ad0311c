"""What organizations' connections do alike with all independent identity providers, by OpenID and by SAML."""

from __future__ import annotations

import pytest

from tests.identity_programs.connected import ConnectedProgram, is_ahead
from tests.pages.sign_in.upstream.programs.test_openid_programs import PROGRAMS as BY_OPENID
from tests.pages.sign_in.upstream.programs.test_saml_programs import PROGRAMS as BY_SAML

pytestmark = pytest.mark.long

PROGRAMS = {f"{name} by OpenID": one for name, one in BY_OPENID.items()} | {
    f"{name} by SAML": one for name, one in BY_SAML.items()
}


async def test_people_sign_in_and_are_found_again_also_after_they_were_removed(acme: ConnectedProgram) -> None:
    for person in ("ada", "grace"):
        page = await acme.sign_in(person)
        assert (page.status, acme.visitor.has_session) == (200, True), page.text
    ada, grace = acme.user_id("ada"), acme.user_id("grace")
    await acme.sign_in("ada")
    await acme.remove("ada")
    assert acme.linked == ["grace@acme.example"]

    page = await acme.sign_in("ada")

    assert (page.status, acme.visitor.has_session) == (200, True), page.text
    assert acme.linked == ["ada@acme.example", "grace@acme.example"]
    assert (acme.user_id("ada"), acme.user_id("grace")) == (ada, grace)
    assert acme.role("ada") == "member"


async def test_groups_at_the_provider_give_roles(acme: ConnectedProgram) -> None:
    acme.world.custom_role(acme.organization_id, "sales", "services.view")
    await acme.set_rules(("Sales", "sales"))
    # A claim that is absent says nothing.
    of_none = "member" if acme.program.names_no_groups else "sales"
    for groups, role in ((("Sales", "Staff"), "sales"), (("Staff",), "member"), (("Sales",), "sales"), ((), of_none)):
        acme.program.set_groups("ada", *groups)
        acme.browsers.clear()

        await acme.sign_in("ada")

        assert acme.role("ada") == role, groups


async def test_a_clock_may_be_off_by_150_seconds_and_one_that_is_off_by_300_is_named(acme: ConnectedProgram) -> None:
    is_ahead(acme.world, 150)
    assert (await acme.sign_in("ada")).status == 200
    is_ahead(acme.world, 300)

    page = await acme.sign_in("ada")
    tested = await acme.tried("ada")

    assert page.status == 502
    assert (acme.visitor.has_session, acme.failure) == (False, "clocks")
    assert "Check the clock of the provider" in tested.text
