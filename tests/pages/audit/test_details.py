"""The words for details of entries on the pages of the audit logs."""

from __future__ import annotations

import re
from dataclasses import fields
from uuid import UUID

import pytest

from core.accounts.support_access import RecordPart
from core.billing.provider import BillingMode
from core.billing.subscriptions import Source
from core.customers.products import SETTINGS, ProductAccess
from core.customers.relation_log import CustomerSide
from core.organizations.organizations import BUILT_IN_ROLES, Organization, OrganizationStatus
from core.organizations.settings.branding import Branding
from core.services.plans import Plan
from core.services.services import Admission, Service
from core.services.subscriptions import Subscription, SubscriptionStatus
from entrypoints.pages.console.audit_details import FIELDS, NO, PLATFORM_FIELDS, VALUES, YES
from entrypoints.pages.events.actions import UNDONE
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.services.connecting import TYPES
from tests.application import Answer
from tests.pages.audit.recorded_details import RecordedDetails
from tests.pages.audit.written import HOSTILE, KEY, PAGE, rows, write
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

FREE_TIER = "00000000-0000-7000-8000-000000000001"
# Words that are the same in both languages.
SAME = {"Domain", "Format", "Host", "Icon", "Logo", "Name", "Person", "Port", "Sandbox", "Status", "Webhook"}


def test_every_detail_that_core_writes_has_words() -> None:
    recorded = RecordedDetails().keys()

    assert recorded - FIELDS.keys() == set()
    # Of calls in other forms: by a wrapper, a dictionary, a property, another name of a module.
    assert {
        *("plan_id", "sent", "secrets", "role_name", "to", "deleted_entity_id", "sessions_ended"),
        *("note", "source", "leads_elsewhere", "part", "deed", "device_id", "invited_email", "sealed_through"),
    } <= recorded


@pytest.mark.parametrize("kind", [Organization, Service, Plan, Subscription, Branding])
def test_every_field_whose_changes_are_recorded_has_words(kind: type) -> None:
    assert {field.name for field in fields(kind)} - FIELDS.keys() == set()


def test_every_setting_of_a_product_has_words() -> None:
    assert set(SETTINGS) - FIELDS.keys() == set()


def test_values_of_closed_sets_have_words() -> None:
    assert VALUES["part"].keys() == set(RecordPart)
    assert VALUES["mode"].keys() == set(BillingMode)
    assert VALUES["source"].keys() == set(Source)
    assert VALUES["access"].keys() == {one.value for one in (*ProductAccess, *Admission)}
    assert VALUES["by"].keys() == set(CustomerSide)
    assert VALUES["role"].keys() == set(BUILT_IN_ROLES)
    assert VALUES["service_type"] == TYPES
    assert VALUES["status"].keys() == {*OrganizationStatus, *SubscriptionStatus}


@pytest.mark.parametrize("name", ["cause", "change", "deed", "reason", "setup_link.action", "group_rule.action"])
def test_words_are_of_values_that_core_writes(name: str) -> None:
    assert VALUES[name].keys() - RecordedDetails().constants() == set()


def test_every_constant_value_that_core_records_has_words() -> None:
    recorded = RecordedDetails().constants_given_to(
        *("_record", "record", "_save", "record_impersonated", "end_appointment", "end_of_makers"),
        *("remove_left", "end_unconfirmed_links"),
    )

    assert {"webhook_deactivated", "access_revoked", "saml_disabled", "device.renamed", "promoted"} <= recorded
    # The format of a file is its own name.
    assert recorded - {value for words in VALUES.values() for value in words} == {"csv"}


def test_every_word_is_translated() -> None:
    texts = {*FIELDS.values(), *PLATFORM_FIELDS.values(), YES, NO, *(text for _, text in UNDONE.values())}
    texts |= {text for words in VALUES.values() for text in words.values()}

    assert {text for text in texts if LANGUAGES["de"].known(text) == text} <= SAME | {"Scopes", "Slug", "Workload"}


async def test_details_are_shown_in_words_with_the_names_of_what_they_name(
    world: World, people: Team, ann: Visitor
) -> None:
    acme = people.organization_id
    plan, foreign_plan = _plan(world, acme, "Gold"), _plan(world, world.organization("bolt"), "Secret")
    write(world, acme, 1, details={"plan_id": str(plan), "is_active": False})
    write(world, acme, 2, details={"plan_id": str(foreign_plan), "change": "webhook_created"})
    write(world, acme, 3, details={"changes": {"tier_id": {"from": KEY, "to": FREE_TIER}}})
    write(world, acme, 4, details={"setup_link": {"id": KEY, "parts": ["saml"], "action": "revoked"}})
    write(world, acme, 5, details={"later_field": "<b>", "change": "later_change"})
    write(world, acme, 6, details={"user_id": str(people.ids["bob"]), "name": "Active"})
    write(world, acme, 7, details={"status": HOSTILE, "reason": "promoted"})
    write(world, acme, 8, details={"role": "member", "service_type": "web"})

    english = rows(await ann.open(PAGE))
    german = rows(await _in_german(ann))

    for number, (words, translated) in enumerate(
        (
            ("Plan: Gold Active: No", "Tarif: Gold Aktiv: Nein"),
            ("Created a webhook The platform itself", "Webhook angelegt Die Plattform selbst"),
            ("Tier: – → Free", "Stufe: – → Free"),
            ("Withdrew a setup link Parts of the setup link: saml", "Einrichtungslink zurückgezogen Teile des"),
            ("Change: later_change later_field : <b>", "Änderung: later_change later_field : <b>"),
            ("Changed a service Person: bob@example.com", "geändert Person: bob@example.com"),
            (f"Reason: The person has become a platform owner Status: {HOSTILE}", "Grund: Die Person wurde Eigentümer"),
            ("Role: member Type of the service: Web", "Rolle: Mitglied Art des Dienstes: Webanwendung"),
        ),
        start=1,
    ):
        assert words in english[-number], english[-number]
        assert translated in german[-number], german[-number]


async def test_names_of_other_organizations_are_not_found(world: World, people: Team, ann: Visitor) -> None:
    organizations = {"acme": people.organization_id, "bolt": world.organization("bolt")}
    values: dict[UUID, UUID] = {}
    stranger = world.user("stranger@example.com")
    world.member(organizations["bolt"], stranger)
    for slug, organization_id in organizations.items():
        world.mail_domain(organization_id, f"{slug}.example")
        named = {
            "service_id": world.service(organization_id).id,
            "provider_id": _id_of(world, "upstream_connections", organization_id),
            "route_id": _id_of(world, "domain_routes", organization_id),
            "webhook_id": _webhook(world, organization_id),
            "user_id": people.ids["bob"] if slug == "acme" else stranger,
            "organization_id": organization_id,
        }
        for minute, (name, value) in enumerate(named.items(), start=1 if slug == "acme" else 11):
            entry_id = write(world, people.organization_id, minute, details={name: str(value)})
            values[entry_id] = value

    shown = rows(await ann.open(PAGE))

    theirs, ours = shown[:6], shown[6:]
    assert [row.split(" The platform")[0].split(": ")[1] for row in reversed(ours)] == [
        *("Shop", "Directory", "acme.example", "Events", "bob@example.com", "Acme"),
    ]
    # The list shows no id; the page of an entry does.
    assert not any(re.search(r"[0-9a-f]{8}-", row) or ": " in row.split(" The platform")[0] for row in theirs)
    for entry_id, value in values.items():
        assert f"<code>{value}</code>" in (await ann.open(f"{PAGE}/{entry_id}")).text


async def test_an_entry_shows_the_name_beside_the_id(world: World, people: Team, ann: Visitor) -> None:
    acme = people.organization_id
    plan = _plan(world, acme, "Gold")
    entry = write(
        world, acme, 1, details={"plan_id": str(plan), "delivery_id": KEY, "setup_link": {"action": "revoked"}}
    )

    page = await ann.open(f"{PAGE}/{entry}")
    shown = rows(page)

    assert shown == [
        f"Plan – Gold {plan}",
        f"Delivery – {KEY}",
    ]
    assert f"<code>{KEY}</code>" in page.text
    # The source keeps what programs read.
    assert "plan_id" in page.text


async def test_the_file_keeps_the_keys_of_details(world: World, people: Team, ann: Visitor) -> None:
    write(world, people.organization_id, 1, details={"plan_id": KEY, "is_active": False})

    await _in_german(ann)
    file = await ann.open(f"{PAGE}/entries.csv")

    assert "plan_id" in file.text
    assert "is_active" in file.text
    assert not shows(file.text, "Tarif")


def _plan(world: World, organization_id: UUID, name: str) -> UUID:
    return world.plan(organization_id, world.service(organization_id).id, name)


def _id_of(world: World, table: str, organization_id: UUID) -> UUID:
    return world.value(f"SELECT id FROM {table} WHERE organization_id = %s", organization_id)


def _webhook(world: World, organization_id: UUID) -> UUID:
    return world.value(
        """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        VALUES (gen_random_uuid(), %s, 'Events', 'https://hooks.example', '{user.joined}', '', now(), now())
        RETURNING id
        """,
        organization_id,
    )


async def _in_german(visitor: Visitor) -> Answer:
    await visitor.switch(await visitor.open(PAGE), "de")
    return await visitor.open(PAGE)
