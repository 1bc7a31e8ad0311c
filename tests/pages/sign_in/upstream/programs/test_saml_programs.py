"""Independent SAML identity providers work unchanged as an organization's connection."""

from __future__ import annotations

import pytest

from tests.identity_programs.connected import ConnectedProgram
from tests.identity_programs.django_peers import running_djangosaml2idp
from tests.identity_programs.lemonldap import LemonldapSaml, running_lemonldap_saml
from tests.identity_programs.program import GATEHOUSE, SamlProgram
from tests.waiting import eventually
from tests.world.visitor import Visitor

pytestmark = pytest.mark.long

PROGRAMS = {"djangosaml2idp": running_djangosaml2idp, "lemonldap": running_lemonldap_saml}


def saml(acme: ConnectedProgram) -> SamlProgram:
    """Return the provider, which is one by SAML."""
    assert isinstance(acme.program, SamlProgram)
    return acme.program


# LemonLDAP::NG publishes one certificate alone.
@pytest.mark.parametrize("program", ["djangosaml2idp"], indirect=True)
async def test_a_certificate_beside_the_old_one_ends_no_link(acme: ConnectedProgram) -> None:
    await acme.sign_in("ada")
    for _ in range(2):
        acme.program.rotate(keeps_old=True)
        refused = await acme.sign_in("ada")
        assert refused.status >= 500
        assert not acme.visitor.has_session
        assert acme.failure is not None

        await acme.change(metadata_xml=saml(acme).metadata)

        assert acme.linked == ["ada@acme.example"]
        assert (await acme.sign_in("ada")).status == 200


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
    lemonldap = acme.program
    assert isinstance(lemonldap, LemonldapSaml)
    told = lemonldap.sign_out(acme.browsers["ada"])

    # What stands in a frame of another site is opened without cookies.
    answered = await Visitor(acme.visitor.client).send("GET", told.removeprefix(GATEHOUSE))

    assert answered.status == 303, answered.text
    assert answered.headers["Location"].startswith(acme.program.url)
    assert acme.live_sessions == 1


async def test_a_certificate_that_the_metadata_address_publishes_replaces_the_old_one(acme: ConnectedProgram) -> None:
    await acme.change(metadata_url=saml(acme).metadata_url)
    await acme.sign_in("ada")

    async def is_signed_in() -> bool:
        # Metadata that have just been read are not read again at once.
        return (await acme.sign_in("ada")).status == 200

    acme.program.rotate(keeps_old=False)

    await eventually(is_signed_in)
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
    await acme.change(metadata_xml=saml(acme).metadata)
    assert acme.linked == []

    codes = await acme.walk_in("ada")

    assert codes <= 1
    assert (acme.linked, acme.visitor.has_session) == (["ada@acme.example"], True)
    assert await acme.walk_in("ada") == 0
