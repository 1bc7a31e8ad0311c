"""The tab of a service with SAML, in the console of its organization."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import RawConnection
from tests.application import Answer
from tests.concurrency import statuses_of
from tests.multipart import CONTENT_TYPE, form_data
from tests.service_provider import ServiceProvider, posted_form
from tests.shown_text import shows
from tests.waiting import eventually
from tests.world.saml import SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

SAML = "/app/organizations/acme/services/shop/single-sign-on"
HOSTILE = "https://sp.example/<script>alert(1)</script>"


@pytest.fixture
def shop(world: World) -> Team:
    """An organization with an owner, a member, and a service."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    world.service(team.organization_id, "shop")
    return team


@pytest.fixture
async def ann(shop: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def save(visitor: Visitor, **fields: str) -> Answer:
    """Save the form of the application."""
    return await visitor.submit(await visitor.open(f"{SAML}?provider=other"), SAML, fields)


async def stored(team: Team) -> dict[str, Any]:
    """Return the configuration as programs see it."""
    return (await team.request("ann", "GET", "/services/shop/saml")).json


async def test_an_admin_sets_up_saml_and_signs_in(world: World, shop: Team, ann: Visitor) -> None:
    choice = await ann.open(SAML)
    first = await ann.submit(await ann.open(f"{SAML}?provider=other"), f"{SAML}/certificate")
    sp = ServiceProvider(now=world.clock, idp="http://localhost:8000/saml/acme/shop")
    done = await save(ann, metadata=sp.metadata(), email_attribute="mail")
    test = await ann.open("/api/organizations/acme/services/shop/saml/login")
    downloaded = await ann.open(f"{SAML}/certificate.pem")

    for word in ("okta", "entra", "google", "other"):
        assert f'href="{SAML}?provider={word}"' in choice.text
    assert "The certificate is created" in first.text
    assert "SAML is set up." in done.text
    for address in ("", "/sso", "/slo", "/metadata"):
        assert f">http://localhost:8000/saml/acme/shop{address}</textarea>" in done.text
    assert 'href="/api/organizations/acme/services/shop/saml/login" target="_blank" rel="noopener"' in done.text
    assert test.status == 200
    assert downloaded.text.startswith("-----BEGIN CERTIFICATE-----")
    assert downloaded.headers["Content-Disposition"] == 'attachment; filename="acme-shop.pem"'
    assert not shows(downloaded.text, "PRIVATE")
    configuration = await stored(shop)
    assert (configuration["entity_id"], configuration["attribute_mapping"]) == (
        sp.entity_id,
        {"email": "mail", "id": "id"},
    )
    browser = Visitor(world.client)
    await browser.sign_in("bob@example.com")
    assert posted_form((await browser.open(f"/saml/acme/shop/sso?{sp.query(sp.authn_request())}")).text).statuses == [
        "Success"
    ]
    assert "last sent an acceptable request" in (await ann.open(SAML)).text


async def test_the_metadata_may_be_a_file(world: World, shop: Team, ann: Visitor) -> None:
    page = await ann.open(f"{SAML}?provider=other")
    form = next(one for one in forms_of(page) if one.action == SAML)
    fields = {name: value for name, value in form.fields.items() if name != "metadata_file"}
    sp = ServiceProvider(now=world.clock, idp="http://localhost:8000/saml/acme/shop")

    async def send(file: bytes) -> Answer:
        data = form_data(fields, {"metadata_file": file})
        return await ann.send("POST", SAML, data=data, headers={"Content-Type": CONTENT_TYPE})

    damaged = [await send(file) for file in (b"\xff\xfe\x00", b"\x00<md>\x00", b"<kept-to-be-corrected>")]
    saved = await send(b"\xef\xbb\xbf" + sp.metadata().encode())

    assert 'enctype="multipart/form-data"' in page.text
    assert [one.status for one in damaged] == [400, 400, 400]
    assert "&lt;kept-to-be-corrected&gt;" in damaged[2].text
    assert saved.status == 303
    assert (await stored(shop))["entity_id"] == sp.entity_id


@pytest.mark.parametrize(
    "metadata",
    [
        "<no-metadata/>",
        "no xml",
        '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><EntityDescriptor>&e;</EntityDescriptor>',
        '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><EntityDescriptor>&b;</EntityDescriptor>',
        "<a>" * 10_000,
        "\ufffe",
    ],
)
async def test_hostile_metadata_are_refused_at_their_field_as_the_interface_refuses_them(
    shop: Team, ann: Visitor, metadata: str
) -> None:
    refused = await save(ann, metadata=metadata)
    by_program = await shop.request("ann", "POST", "/services/shop/saml/metadata", body={"metadata": metadata})

    assert (refused.status, by_program.status) == (400, 400)
    assert 'id="metadata-problem"' in refused.text
    assert "root:" not in refused.text
    assert (await stored(shop))["entity_id"] is None


async def test_problems_are_shown_at_their_fields_and_what_was_typed_stays(ann: Visitor) -> None:
    invalid = await save(ann, entity_id="two words", acs_url="javascript:alert(1)", name_id_format="urn:none")

    assert invalid.status == 400
    assert 'value="two words"' in invalid.text
    for field in ("entity_id", "acs_url"):
        assert f'id="{field}-problem"' in (await save(ann, entity_id="two words", acs_url="x:")).text


async def test_the_settings_are_saved_and_saml_is_switched_off(world: World, shop: Team, ann: Visitor) -> None:
    await save(ann, entity_id=HOSTILE, acs_url="https://sp.example/acs")
    key = ServiceProvider(now=world.clock, idp="x").key

    page = await ann.open(SAML)
    saved = await ann.submit(
        page,
        f"{SAML}/details",
        {
            "enabled": "on",
            "sign_response": "on",
            "slo_url": "https://sp.example/slo",
            "slo_binding": "post",
            "sp_certificate": key.certificate_pem,
            "id_attribute": "",
            "name_attribute": "displayName",
        },
    )
    configuration = await stored(shop)
    off = await ann.submit(saved, f"{SAML}/details", {"sign_response": "on"})

    assert HOSTILE not in page.text
    assert "The settings are saved" in saved.text
    assert configuration["enabled"]
    assert (configuration["members_only"], configuration["sign_assertions"], configuration["sign_response"]) == (
        False,
        False,
        True,
    )
    assert (configuration["slo_url"], configuration["slo_binding"]) == ("https://sp.example/slo", "post")
    assert configuration["attribute_mapping"] == {"email": "email", "name": "displayName"}
    assert configuration["sp_certificate"]
    assert "SAML is off." in off.text
    assert (await stored(shop))["entity_id"] == HOSTILE


async def test_what_assertions_say_about_a_customer_stays_when_settings_are_saved(
    world: World, shop: Team, ann: Visitor
) -> None:
    await save(ann, entity_id=HOSTILE, acs_url="https://sp.example/acs")
    world.connection.execute("""UPDATE saml_configurations SET attribute_mapping = '{"customer.id": "tenant"}'""")

    await ann.submit(await ann.open(SAML), f"{SAML}/details", {"sign_response": "on", "name_attribute": "displayName"})

    mapping = (await stored(shop))["attribute_mapping"]
    assert {name: mapping[name] for name in ("customer.id", "name")} == {"customer.id": "tenant", "name": "displayName"}


async def test_invalid_settings_are_refused_at_their_fields(ann: Visitor) -> None:
    await save(ann, entity_id="https://sp.example", acs_url="https://sp.example/acs")
    page = await ann.open(SAML)

    async def send(**fields: str) -> Answer:
        return await ann.submit(page, f"{SAML}/details", {"enabled": "on", "sign_response": "on", **fields})

    unsigned = await ann.submit(page, f"{SAML}/details", {"enabled": "on"})
    twice = await send(id_attribute="mail", name_attribute="mail")
    odd = await send(slo_url="javascript:alert(1)")
    broken = await send(sp_certificate="no certificate")
    binding = await send(slo_binding="fax")

    assert [one.status for one in (unsigned, twice, odd, broken, binding)] == [400] * 5
    assert "anyone could forge an unsigned answer" in unsigned.text
    assert "Two fields have the same attribute name." in twice.text
    assert 'value="mail"' in twice.text
    assert 'id="slo_url-problem"' in odd.text
    assert 'id="sp_certificate-problem"' in broken.text
    assert ">no certificate</textarea>" in broken.text
    assert 'id="slo_binding-problem"' in binding.text


async def test_a_form_on_changed_settings_is_refused_and_keeps_what_was_typed(shop: Team, ann: Visitor) -> None:
    first, second = await ann.open(f"{SAML}?provider=other"), await ann.open(f"{SAML}?provider=other")
    await ann.submit(first, SAML, entity_id="https://one.example", acs_url="https://one.example/acs")

    late = await ann.submit(second, SAML, entity_id="https://two.example", acs_url="https://two.example/acs")
    again = await ann.submit(late, SAML)

    assert (late.status, "Another person has changed these settings meanwhile." in late.text) == (409, True)
    assert 'value="https://two.example"' in late.text
    assert again.status == 200
    assert (await stored(shop))["entity_id"] == "https://two.example"


async def test_a_certificate_is_replaced_once_by_two_admins(world: World, shop: Team, ann: Visitor) -> None:
    await ann.submit(await ann.open(f"{SAML}?provider=other"), f"{SAML}/certificate")
    page = f"{SAML}/certificate"
    first, second = await ann.open(page), await ann.open(page)

    done = await ann.submit(first, page)
    late = await ann.submit(second, page)

    assert "refuses every sign-in until the new one is entered there" in first.text
    assert "The certificate is created" in done.text
    assert (late.status, "Another person has made a certificate meanwhile." in late.text) == (409, True)
    assert world.value("SELECT count(*) FROM saml_certificates") == 2
    assert world.value("SELECT count(*) FROM saml_certificates WHERE is_active") == 1
    assert (await ann.submit(late, page)).status == 200


async def test_of_two_admins_who_make_the_first_certificate_at_once_one_sees_that_of_the_other(
    world: World, shop: Team, ann: Visitor, raw_connection: RawConnection
) -> None:
    page = f"{SAML}/certificate"
    shown = await ann.open(f"{SAML}?provider=other")
    answers: list[Answer] = []

    async def make() -> None:
        answers.append(await ann.submit(shown, page, is_followed=False))

    async def both_wait() -> bool:
        # One waits for the row, and the other one for that one.
        is_blocked = world.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1
        database = cast("PostgresDatabase", world.installation.database)
        return is_blocked and database.pool.places.statistics().waiting == 1

    async with trio.open_nursery() as nursery:
        with raw_connection.transaction():
            raw_connection.execute("SELECT FROM organizations FOR NO KEY UPDATE")
            nursery.start_soon(make)
            nursery.start_soon(make)
            await eventually(both_wait)

    late = next(one for one in answers if one.status != 303)
    assert statuses_of(answers) == [303, 409]
    assert "Another person has made a certificate meanwhile." in late.text
    assert world.value("SELECT count(*) FROM saml_certificates") == 1


async def test_an_application_is_deleted_after_a_page_that_counts_its_sessions(
    world: World, shop: Team, ann: Visitor, saml: SamlWorld
) -> None:
    team = world.team("globex")
    team.add("cid", "owner")
    service = await saml.service(team.organization_id, "globex")
    await service.signed_in(await signed_in_browser(world, "cid@example.com"))
    visitor = await signed_in_browser(world, "cid@example.com")
    page = "/app/organizations/globex/services/shop/single-sign-on"

    asked, other = await visitor.open(f"{page}/delete"), await visitor.open(f"{page}/delete")
    done = await visitor.submit(asked, f"{page}/delete")
    late = await visitor.submit(other, f"{page}/delete")

    assert "One session there is running." in asked.text
    assert service.sp.entity_id in asked.text
    assert "The application is deleted here." in done.text
    assert (late.status, "There is no such application here." in late.text) == (404, True)
    assert (await visitor.open(f"{page}/delete")).status == 404
    assert (await visitor.open(f"{page}/certificate.pem")).status == 404


async def signed_in_browser(world: World, email: str) -> Visitor:
    """Return another browser that is signed in."""
    browser = Visitor(world.client)
    await browser.sign_in(email)
    return browser


async def test_a_member_reads_and_a_manager_of_the_service_changes(world: World, shop: Team, visitor: Visitor) -> None:
    await visitor.sign_in("bob@example.com")

    empty = await visitor.open(SAML)
    closed = [(await visitor.open(f"{SAML}{path}")).status for path in ("/certificate", "/delete")]
    world.grant(shop.organization_id, world.value("SELECT id FROM services"), shop.ids["bob"], "manager")
    saved = await save(visitor, entity_id="https://sp.example", acs_url="https://sp.example/acs")
    world.connection.execute("UPDATE service_grants SET relation = 'viewer'")
    read = await visitor.open(SAML)

    assert closed == [403, 403]
    assert "<code>services.manage</code>" in empty.text
    assert saved.status == 200
    assert "https://sp.example/acs" in read.text
    assert re.search('name="seen_state"', read.text) is None


async def test_saml_of_another_organization_is_not_opened(world: World, ann: Visitor) -> None:
    globex = world.organization("globex")
    world.service(globex, "till")

    assert (await ann.open(SAML.replace("/acme/", "/globex/"))).status == 403
    assert (await ann.open(SAML.replace("/shop/", "/till/"))).status == 404
    assert (await ann.open(SAML.replace("/shop/", "/till/") + "/certificate.pem")).status == 404
