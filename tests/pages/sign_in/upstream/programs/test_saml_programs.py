"""Identity providers of SAML that others have written work unchanged as an organization's connection."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.identity_programs.connected import ConnectedProgram, connected_program, is_ahead
from tests.identity_programs.django_peers import running_djangosaml2idp
from tests.identity_programs.lemonldap import running_lemonldap_saml
from tests.identity_programs.program import GATEHOUSE, Program
from tests.world.visitor import Visitor
from tests.world.world import World

pytestmark = pytest.mark.long

PROGRAMS = {"djangosaml2idp": running_djangosaml2idp, "lemonldap": running_lemonldap_saml}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Program]:
    """The provider."""
    with PROGRAMS[request.param](tmp_path) as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, program: Program) -> ConnectedProgram:
    """Acme, which is connected with the provider."""
    return await connected_program(world, visitor, program)


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
    for groups, role in ((("Sales", "Staff"), "sales"), (("Staff",), "member"), (("Sales",), "sales"), ((), "member")):
        acme.program.set_groups("ada", *groups)
        acme.browsers.clear()

        await acme.sign_in("ada")

        assert acme.role("ada") == role, groups


async def test_a_certificate_beside_the_old_one_ends_no_link(acme: ConnectedProgram) -> None:
    await acme.sign_in("ada")
    if not acme.program.keeps_old_keys:
        pytest.skip("the program publishes one certificate alone")
    for _ in range(2):
        acme.program.rotate(keeps_old=True)
        refused = await acme.sign_in("ada")
        assert refused.status >= 500
        assert not acme.visitor.has_session
        assert acme.failure is not None

        await acme.change(metadata_xml=acme.program.metadata)

        assert acme.linked == ["ada@acme.example"]
        assert (await acme.sign_in("ada")).status == 200


async def test_a_clock_may_be_off_by_150_seconds_and_one_that_is_off_by_300_is_named(acme: ConnectedProgram) -> None:
    is_ahead(acme.world, 150)
    assert (await acme.sign_in("ada")).status == 200
    is_ahead(acme.world, 300)

    page = await acme.sign_in("ada")
    tested = await acme.tried("ada")

    assert page.status == 502
    assert (acme.visitor.has_session, acme.failure) == (False, "clocks")
    assert "Check the clock of the provider" in tested.text


async def test_who_signs_out_here_is_signed_out_there(acme: ConnectedProgram) -> None:
    await acme.sign_in("ada")

    back = await acme.sign_out("ada")

    assert acme.live_sessions == 0
    assert "You are signed out" in back.text
    assert (await acme.sign_in("ada")).status == 200
    assert acme.browsers["ada"].sign_ins == 2


@pytest.mark.parametrize("program", ["lemonldap"], indirect=True)
async def test_a_logout_at_the_provider_ends_the_session_here(acme: ConnectedProgram) -> None:
    await acme.sign_in("grace")
    await acme.sign_in("ada")
    told = acme.program.sign_out(acme.browsers["ada"])

    # What stands in a frame of another site is opened without cookies.
    answered = await Visitor(acme.visitor.client).send("GET", told.removeprefix(GATEHOUSE))

    assert answered.status == 303, answered.text
    assert answered.headers["Location"].startswith(acme.program.url)
    assert acme.live_sessions == 1


async def test_a_certificate_that_the_metadata_address_publishes_replaces_the_old_one(acme: ConnectedProgram) -> None:
    await acme.change(metadata_url=acme.program.metadata_url)
    await acme.sign_in("ada")

    acme.program.rotate(keeps_old=False)

    assert (await acme.sign_in("ada")).status == 200
    assert acme.linked == ["ada@acme.example"]
    mails = [mail.to for mail in await acme.world.mails() if mail.template == "connection_certificates_replaced"]
    assert mails == ["owner@acme.example"]


async def test_a_certificate_that_is_pasted_in_place_of_the_old_one_ends_links_until_one_mailed_code(
    acme: ConnectedProgram,
) -> None:
    await acme.sign_in("ada")
    await acme.enforce()
    acme.program.rotate(keeps_old=False)
    assert (await acme.sign_in("ada")).status == 502
    await acme.change(metadata_xml=acme.program.metadata)
    assert acme.linked == []

    codes = await acme.walk_in("ada")

    assert codes <= 1
    assert (acme.linked, acme.visitor.has_session) == (["ada@acme.example"], True)
    assert await acme.walk_in("ada") == 0
