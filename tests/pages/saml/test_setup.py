"""Setting up SAML with a setup link."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from entrypoints.pages.organizations.setup import SETUP
from entrypoints.pages.saml.application_kinds import kind_of_application
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.service_provider import ServiceProvider, posted_form
from tests.world.saml import SamlService
from tests.world.setups import Setups
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

SAML = "/app/setup/parts/saml"
CERTIFICATE = "/app/setup/parts/saml/certificate"
DELETE = "/app/setup/parts/saml/delete"
FORMAT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"


async def begun(setups: Setups) -> dict[str, Any]:
    """Return a link to the SAML of a new service, which was opened."""
    setups.team.world.service(setups.team.organization_id, "shop", name="The Shop")
    link = await setups.create("saml", service_slug="shop")
    await setups.begin(link)
    return link


async def save(setups: Setups, **fields: str) -> Answer:
    """Save the form of the page."""
    return await setups.visitor.submit(await setups.open("saml?provider=other"), SAML, fields)


async def stored(setups: Setups) -> dict[str, Any]:
    """Return the configuration as members see it."""
    return (await setups.team.request("owner", "GET", "/services/shop/saml")).json


async def test_the_holder_sets_up_saml_and_all_is_recorded_under_the_link(setups: Setups, world: World) -> None:
    link = await begun(setups)

    first = await setups.visitor.submit(await setups.open("saml?provider=other"), CERTIFICATE)
    sp = ServiceProvider(now=world.clock, idp="http://localhost:8000/saml/acme/shop")
    await save(setups, metadata=sp.metadata(), name_id_format=FORMAT, email_attribute="mail")
    done = await save(setups, name_id_format=FORMAT)

    assert "-----BEGIN CERTIFICATE-----" in first.text
    assert "SAML is set up." in done.text
    assert all(name in done.text for name in ("Okta", "Microsoft Entra", "Google Workspace"))
    assert "http://localhost:8000/saml/acme/shop/sso" in done.text
    configuration = await stored(setups)
    assert (configuration["enabled"], configuration["has_certificate"]) == (True, True)
    assert (configuration["entity_id"], configuration["acs_url"]) == (sp.entity_id, sp.acs_url)
    assert configuration["name_id_format"] == FORMAT
    assert configuration["attribute_mapping"] == {"email": "mail", "id": "id"}
    assert len(setups.recorded(link, "saml_certificate.created")) == 1
    changed = setups.recorded(link, "saml_configuration.updated")
    assert [one["change"] for one in changed] == ["saml_configured", "saml_configured"]
    entries = (await setups.team.request("owner", "GET", "/audit-log?action=saml_certificate.created")).json["logs"]
    assert [one["actor"] for one in entries] == [
        {"id": f"setup_link:{link['id']}", "email": "", "is_platform_owner": False}
    ]
    browser = Visitor(world.client)
    await browser.sign_in("member@example.com")
    assert posted_form((await browser.open(f"/saml/acme/shop/sso?{sp.query(sp.authn_request())}")).text).statuses == [
        "Success"
    ]


async def test_entity_id_and_address_can_be_typed_and_problems_are_shown_at_their_fields(setups: Setups) -> None:
    await begun(setups)

    invalid = await save(setups, entity_id="two words", acs_url="javascript:alert(1)", name_id_format="urn:none")
    malformed = await save(setups, metadata="<no-metadata/>")
    empty = await save(setups)
    done = await save(setups, entity_id="https://sp.example/metadata", acs_url="https://sp.example/acs")

    assert [answer.status for answer in (invalid, malformed, empty, done)] == [400, 400, 400, 200]
    assert 'value="two words"' in invalid.text
    assert 'id="metadata-problem"' in malformed.text
    assert 'id="entity_id-problem"' in empty.text
    assert "The entity id of the service provider is required." in empty.text
    assert (await stored(setups))["attribute_mapping"] == {"email": "email", "id": "id"}
    assert "The certificate is missing." in done.text
    assert 'value="https://sp.example/metadata"' in done.text


async def test_what_was_entered_under_another_application_is_shown_after_it_is_saved(setups: Setups) -> None:
    await begun(setups)
    setups.visitor.headers["Accept-Language"] = "de"

    refused = await save(setups, provider="okta", entity_id="https://sp.example/metadata", acs_url="two words")
    done = await save(setups, provider="okta", entity_id="https://sp.example/metadata", acs_url="https://sp.example/a")

    assert "Eine Adresse hat 1 bis 2000 Zeichen" in refused.text
    assert all(f'value="https://sp.example/{end}"' in done.text for end in ("metadata", "a"))


async def test_the_steps_of_one_application_are_shown_with_the_values_to_copy(
    setups: Setups, subtests: pytest.Subtests
) -> None:
    await begun(setups)
    address = "http://localhost:8000/saml/acme/shop"

    choice = await setups.open("saml")
    unknown = await setups.open("saml?provider=none")
    made = await setups.visitor.submit(await setups.open("saml?provider=google"), CERTIFICATE)

    assert "SP details" in made.text
    assert [f'href="{SAML}?provider={word}"' in choice.text for word in ("okta", "entra", "google", "other")] == [
        True
    ] * 4
    assert all('name="acs_url"' not in page.text for page in (choice, unknown))
    for word, own, foreign, copies in (
        ("okta", "IdP Issuer URI", "SP details", ("", "/sso")),
        ("entra", "SAML/WS-Fed", "SP details", ("/metadata", "", "/sso")),
        ("google", "SP details", "IdP Issuer URI", ("", "/sso", "/slo")),
        ("other", "If it reads metadata", "SP details", ("/metadata", "", "/sso", "/slo")),
    ):
        with subtests.test(word=word):
            page = await setups.open(f"saml?provider={word}")

            assert own in page.text
            assert foreign not in page.text
            assert all(f">{address}{end}</textarea>" in page.text for end in copies)
            assert ">-----BEGIN CERTIFICATE-----\n" in page.text
            assert f'href="{SAML}"' in page.text


async def test_entra_takes_one_press_because_its_values_are_filled_in(setups: Setups) -> None:
    await begun(setups)

    page = await setups.open("saml?provider=entra")
    done = await setups.visitor.submit(page, SAML, name_id_format=FORMAT)
    again = await setups.open("saml")
    another = await setups.open("saml?provider=google")

    assert f'<option value="{FORMAT}" selected>' in page.text
    configuration = await stored(setups)
    assert (configuration["entity_id"], configuration["name_id_format"]) == ("urn:federation:MicrosoftOnline", FORMAT)
    assert configuration["attribute_mapping"]["email"].endswith("/claims/emailaddress")
    assert all("At Microsoft Entra ID" in page.text for page in (done, again))
    assert "urn:federation" not in another.text


def test_the_kind_of_a_stored_application_is_known_by_its_entity_id(subtests: pytest.Subtests) -> None:
    for entity_id, word in (
        ("https://www.okta.com/saml2/service-provider/sp1", "okta"),
        ("https://accounts.google.com/samlrp/03x", "google"),
        ("urn:federation:MicrosoftOnline", "entra"),
        ("https://sp.example/metadata", "other"),
        ("https://[broken", "other"),
        ("urn:sp", "other"),
        ("", None),
    ):
        with subtests.test(entity_id=entity_id):
            kind = kind_of_application(entity_id)

            assert (kind.word if kind is not None else None) == word


async def test_a_form_without_a_kind_shows_what_was_typed_again(setups: Setups) -> None:
    await begun(setups)

    refused = await save(setups, provider="", entity_id="two words", acs_url="https://sp.example/acs")

    assert (refused.status, 'value="two words"' in refused.text) == (400, True)


async def test_another_application_inherits_nothing_of_the_one_before(setups: Setups, world: World) -> None:
    await begun(setups)
    sp = ServiceProvider(now=world.clock, idp="")
    await save(setups, metadata=sp.metadata())
    before = await stored(setups)

    await save(setups, entity_id="https://another.example/metadata", acs_url="https://another.example/acs")
    after = await stored(setups)

    assert (before["entity_id"], before["slo_url"]) == (sp.entity_id, sp.slo_url)
    assert (after["entity_id"], after["slo_url"], after["sp_certificate"]) == (
        "https://another.example/metadata",
        None,
        None,
    )


async def test_two_that_press_the_button_at_once_make_one_certificate(setups: Setups) -> None:
    await begun(setups)
    page = await setups.open("saml?provider=okta")

    await at_once(*[lambda: setups.visitor.submit(page, CERTIFICATE) for _ in range(2)])
    await setups.visitor.submit(page, CERTIFICATE)

    assert setups.team.world.value("SELECT count(*) FROM saml_certificates") == 1


async def test_the_page_shows_whether_the_application_has_asked_and_why_it_was_refused(
    setups: Setups, saml_shop: SamlService, visitor: Visitor
) -> None:
    await setups.begin(await setups.create("saml", service_slug="shop"))
    before = await setups.open("saml")
    stale = replace(saml_shop.sp, entity_id="https://another.example")

    await visitor.open(saml_shop.sso(stale.authn_request()))
    refused = await setups.open("saml")
    await visitor.open(saml_shop.sso())
    posted = await saml_shop.post(visitor, "sso", stale.authn_request())
    accepted = await setups.open("saml")

    assert "has sent no acceptable request yet" in before.text
    assert posted.status == 400
    assert "Its Issuer is not the entity id that is configured for this service." in refused.text
    assert "last sent an acceptable request on" in accepted.text


async def test_a_link_reaches_its_own_service_alone(setups: Setups, world: World) -> None:
    link = await begun(setups)
    world.service(setups.team.organization_id, "blog")
    globex = world.team("globex")
    globex.add("boss", "owner")
    world.service(globex.organization_id, "theirs")

    foreign = await setups.request("POST", body={"parts": ["saml"], "service_slug": "theirs"})
    await save(setups, entity_id="https://sp.example/metadata", acs_url="https://sp.example/acs")

    assert link["service_slug"] == "shop"
    assert foreign.invalid_fields == ["service_slug"]
    assert world.rows("SELECT s.slug FROM saml_configurations JOIN services s ON s.id = service_id") == [("shop",)]
    assert (await setups.open("domain")).status == 404


async def test_a_link_ends_with_its_service(setups: Setups, world: World) -> None:
    await begun(setups)

    answer = await setups.team.request("owner", "DELETE", "/services/shop")

    assert answer.status == 204, answer.text
    assert (await setups.open("saml")).status == 404
    assert world.value("SELECT count(*) FROM setup_links") == 0


async def test_a_service_that_is_deleted_during_a_request_is_as_if_the_link_had_ended(
    setups: Setups, world: World
) -> None:
    await begun(setups)
    # Without the foreign key, as a transaction sees it that has read the link before.
    world.connection.execute("ALTER TABLE setup_links DROP CONSTRAINT setup_links_organization_id_service_id_fkey")
    world.connection.execute("DELETE FROM services")

    assert (await setups.open("saml")).status == 404


async def test_a_maker_who_may_not_manage_services_cannot_make_the_link(setups: Setups, world: World) -> None:
    world.service(setups.team.organization_id, "shop")
    setups.team.custom_role("integrator", "integrations.manage")
    setups.team.add("ida", "integrator")

    answer = await setups.request("POST", by="ida", body={"parts": ["saml"], "service_slug": "shop"})

    assert_refused(answer, 403, "FORBIDDEN")


async def test_the_application_is_deleted_once_and_what_the_organization_has_decided_stays(
    setups: Setups, saml_shop: SamlService, visitor: Visitor
) -> None:
    link = await setups.create("saml", service_slug="shop")
    await setups.begin(link)
    body = {"enabled": True, "members_only": False, "sign_response": False}
    fields = {"entity_id": saml_shop.sp.entity_id, "acs_url": saml_shop.sp.acs_url, "slo_url": saml_shop.sp.acs_url}
    assert (await setups.team.request("owner", "POST", "/services/shop/saml", body=body | fields)).status == 200
    await visitor.open(saml_shop.sso())
    page = await setups.open("saml")
    asked = await setups.visitor.open(DELETE)

    async def delete() -> Answer:
        return await setups.visitor.submit(asked, DELETE, is_followed=False)

    answers = await at_once(delete, delete)

    assert f'href="{DELETE}"' in page.text
    assert saml_shop.sp.entity_id in asked.text
    assert "The application last sent an acceptable request on" in asked.text
    assert statuses_of(answers) == [303, 404]
    after = await stored(setups)
    names = ("enabled", "entity_id", "acs_url", "slo_url", "name_id_format", "attribute_mapping", "sp_certificate")
    assert [after[name] for name in names] == [False, *[None] * 6]
    decided = ("has_certificate", "members_only", "sign_response", "sign_assertions")
    assert [after[name] for name in decided] == [False, False, False, True]
    assert (await visitor.open(saml_shop.sso())).status == 404
    [recorded] = setups.recorded(link, "saml_configuration.updated")
    assert (recorded["change"], recorded["deleted_entity_id"]) == ("saml_deleted", saml_shop.sp.entity_id)
    again = await setups.open("saml")
    assert "Which application do you use?" in again.text
    assert DELETE not in again.text


async def test_an_application_that_took_the_place_of_the_shown_one_stays(setups: Setups) -> None:
    await begun(setups)
    await save(setups, entity_id="https://sp.example/metadata", acs_url="https://sp.example/acs")
    asked = await setups.visitor.open(DELETE)
    await save(setups, entity_id="https://another.example/metadata", acs_url="https://another.example/acs")

    refused = await setups.visitor.submit(asked, DELETE)

    assert (refused.status, "It may be deleted or replaced already." in refused.text) == (404, True)
    assert (await stored(setups))["entity_id"] == "https://another.example/metadata"


async def test_a_certificate_without_an_application_is_deleted_too(setups: Setups) -> None:
    await begun(setups)
    before = await setups.visitor.open(DELETE)
    await setups.visitor.submit(await setups.open("saml?provider=other"), CERTIFICATE)
    made = (await stored(setups))["has_certificate"]
    asked = await setups.visitor.open(DELETE)

    deleted = await setups.visitor.submit(asked, DELETE)

    assert (before.status, made, deleted.status) == (404, True, 200)
    assert "Users can no longer sign in" not in asked.text
    assert (await stored(setups))["has_certificate"] is False


async def test_an_application_is_deleted_by_the_link_of_its_service_alone(setups: Setups, world: World) -> None:
    await begun(setups)
    await save(setups, entity_id="https://sp.example/metadata", acs_url="https://sp.example/acs")
    asked = await setups.visitor.open(DELETE)
    globex = world.team("globex")
    globex.add("boss", "owner")
    world.service(globex.organization_id, "shop")
    theirs = type(setups)(globex, Visitor(world.client))
    await theirs.begin(await theirs.create("saml", service_slug="shop", by="boss"))
    world.service(setups.team.organization_id, "blog")
    sibling = type(setups)(setups.team, Visitor(world.client))
    await sibling.begin(await sibling.create("saml", service_slug="blog"))

    foreign = [await one.visitor.open(DELETE) for one in (theirs, sibling)]
    token = (await theirs.open("saml?provider=other")).text.partition('name="form_token" value="')[2].partition('"')[0]
    sent = await theirs.visitor.post(DELETE, {"form_token": token, "shown_entity_id": "https://sp.example/metadata"})
    untrusted = await theirs.visitor.submit(asked, DELETE)

    assert [one.status for one in (*foreign, sent, untrusted)] == [404, 404, 404, 403]
    assert (await stored(setups))["enabled"] is True


async def test_what_the_application_before_has_sent_is_forgotten(
    setups: Setups, saml_shop: SamlService, visitor: Visitor
) -> None:
    await setups.begin(await setups.create("saml", service_slug="shop"))
    await visitor.open(saml_shop.sso())
    await visitor.open(saml_shop.sso(replace(saml_shop.sp, entity_id="https://another.example").authn_request()))
    before = await setups.visitor.open(SETUP)

    await save(setups, acs_url=saml_shop.sp.acs_url, entity_id=saml_shop.sp.entity_id)
    same = await setups.visitor.open(SETUP)
    await save(setups, entity_id="https://another.example/metadata", acs_url="https://another.example/acs")
    another = await setups.visitor.open(SETUP)

    assert ["Done. Last used on" in one.text for one in (before, same, another)] == [True, True, False]
    assert "Next, test it." in another.text
