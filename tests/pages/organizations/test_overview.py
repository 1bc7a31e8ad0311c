"""The overview of an organization as an inbox: what needs a person, the steps of a new one, and what each role sees."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest

from core.ids import first_id_at
from core.organizations.overview import MENDED_BY, PERIOD, AttentionKind
from tests.application import Answer
from tests.world.builder import new_id
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme"
DAY = timedelta(days=1)
NOTHING = "Nothing needs you"


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization that is too old to count as new."""
    acme = world.organization("acme")
    world.connection.execute("UPDATE organizations SET created_at = %s", (world.clock() - 2 * PERIOD,))
    return acme


@pytest.fixture
async def owner(world: World, acme: UUID, visitor: Visitor) -> Visitor:
    """A browser in which the owner has signed in, whose account has a second factor."""
    user_id = world.user()
    world.member(acme, user_id, "owner")
    await visitor.sign_in()
    world.connection.execute("UPDATE users SET mfa_enabled_at = %s WHERE id = %s", (world.clock(), user_id))
    return visitor


def insert(world: World, table: LiteralString, **columns: Any) -> None:
    """Insert a row."""
    names, places = ", ".join(columns), ", ".join(["%s"] * len(columns))
    world.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})".encode(), tuple(columns.values()))


def insert_webhook(world: World, acme: UUID, **columns: Any) -> UUID:
    """Insert a webhook, and return its id."""
    webhook_id, now = new_id(), world.clock()
    made = {"name": "crm", "url": "https://crm.example", "events": ["user.joined"], "secret_sealed": b""}
    times = {"created_at": now, "updated_at": now}
    insert(world, "webhooks", id=webhook_id, organization_id=acme, **made | times | columns)
    return webhook_id


def insert_connection(world: World, acme: UUID, **columns: Any) -> UUID:
    """Insert a SAML connection, and return its id."""
    connection_id, now = new_id(), world.clock()
    made: dict[str, Any] = {
        "type": "saml",
        "name": "Okta",
        "issuer": "https://okta.example",
        "scopes": [],
        "attribute_mapping": "{}",
        "trust_mfa": False,
        "enabled": True,
    }
    times = {"created_at": now, "updated_at": now}
    insert(world, "upstream_connections", id=connection_id, organization_id=acme, **made | times | columns)
    return connection_id


def insert_key(world: World, table: LiteralString, acme: UUID, valid_until: datetime, **of: UUID) -> None:
    """Insert an active certificate."""
    now = world.clock()
    insert(
        world,
        table,
        id=new_id(),
        organization_id=acme,
        public_key="",
        private_key_sealed=b"",
        valid_from=now,
        valid_until=valid_until,
        is_active=True,
        created_at=now,
        **of,
    )


def insert_invitation(world: World, acme: UUID, email: str, status: str, created_at: datetime) -> None:
    """Insert an invitation."""
    insert(
        world,
        "invitations",
        id=new_id(),
        organization_id=acme,
        email=email,
        role="member",
        status=status,
        token_hash=new_id().bytes,
        proof_hash=b"",
        created_at=created_at,
        expires_at=created_at + 7 * DAY,
    )


def insert_stream(world: World, acme: UUID, **columns: Any) -> None:
    """Insert a stream to a SIEM."""
    now = world.clock()
    options = '{"start": "now", "tags": [], "compress": true}'
    made = {"provider": "http", "endpoint": "https://siem.example", "options": options, "enabled": True, "position": 0}
    times = {"created_at": now - DAY, "updated_at": now}
    insert(world, "siem_streams", id=new_id(), organization_id=acme, **made | times | columns)


def buttons(page: Answer) -> list[tuple[str, str]]:
    """Return the lines of the inbox: each with where its only button leads."""
    found = re.search(r'<section[^>]*id="matters".*?</section>', page.text, re.DOTALL)
    if found is None:
        return []
    rows = re.findall(r'<li class="row">.*?</li>', found[0], re.DOTALL)
    lines: list[tuple[str, str]] = []
    for row in rows:
        [href] = re.findall(r'<a class="button[^"]*" href="([^"]*)"', row)
        [title] = re.findall(r'<p class="row-title">(.*?) <span class="badge', row, re.DOTALL)
        lines.append((re.sub(r"<[^>]*>", "", title), href))
    return lines


async def test_an_organization_where_nothing_fails_says_so_in_one_line(owner: Visitor) -> None:
    page = await owner.open(PAGE)

    assert NOTHING in page.text
    assert buttons(page) == []


async def test_what_is_switched_off_and_what_fails_leads_each_to_its_page(
    world: World, acme: UUID, owner: Visitor
) -> None:
    since = world.clock() - DAY
    off = insert_webhook(world, acme, is_active=False, off_reason="receiver_gone", off_at=since)
    insert_webhook(world, acme, name="paused", is_active=False)
    taken = insert_connection(world, acme, name="Entra", enabled=False, off_reason="email_change_undone")
    failing = insert_connection(world, acme)
    insert(
        world,
        "upstream_failures",
        organization_id=acme,
        connection_id=failing,
        problem="UNREACHABLE",
        first_at=since,
        last_at=since,
        occurrences=3,
        last_request_id="",
    )
    domain = {"value": "", "status": "failing", "verified_at": since, "failing_since": since}
    insert(world, "custom_domains", id=new_id(), organization_id=acme, domain="id.acme.example", **domain)
    route = new_id()
    of_route = {"domain": "acme.example", "connection_id": failing, "enforced": False}
    insert(world, "domain_routes", id=route, organization_id=acme, **of_route, **domain)
    insert_stream(world, acme, failures=3)
    insert(
        world,
        "mail_servers",
        organization_id=acme,
        host="mail.example",
        port=25,
        tls="none",
        from_name="Acme",
        from_email="a@acme.example",
        created_at=since,
        updated_at=since,
        failing_since=since,
    )

    page = await owner.open(PAGE)

    assert [(line.partition(" on ")[0].partition(" since ")[0], href) for line, href in buttons(page)] == [
        ("Your mail server has refused mail", f"{PAGE}/mail"),
        ("The custom domain has failed its checks", f"{PAGE}/domain"),
        (
            "The connection Entra was switched off, because a takeover was undone.",
            f"{PAGE}/sign-in/connections/{taken}",
        ),
        ("Sign-ins by the connection Okta have failed", f"{PAGE}/sign-in/connections/{failing}"),
        ("The TXT record of the mail domain acme.example is missing", f"{PAGE}/sign-in/mail-domains/{route}"),
        ("The webhook crm was switched off", f"{PAGE}/webhooks/{off}"),
        ("The receiver of the audit log has accepted nothing", f"{PAGE}/siem"),
    ]
    assert NOTHING not in page.text
    for _, href in buttons(page):
        assert (await owner.open(href)).status == 200, href


async def test_what_ends_soon_is_named_with_its_day(world: World, acme: UUID, owner: Visitor) -> None:
    soon, later = world.clock() + 29 * DAY, world.clock() + 31 * DAY
    connection = insert_connection(world, acme, metadata_xml="<x/>", metadata_valid_until=soon)
    insert_connection(world, acme, name="renews", metadata_url="https://x.example", metadata_valid_until=soon)
    insert_key(world, "connection_keys", acme, soon, connection_id=connection)
    for slug, valid_until in (("shop", soon), ("blog", later)):
        service = world.service(acme, slug=slug).id
        insert_key(world, "saml_certificates", acme, valid_until, service_id=service)
        insert(
            world,
            "saml_configurations",
            service_id=service,
            organization_id=acme,
            enabled=True,
            entity_id="x",
            acs_url="https://x.example",
            slo_binding="redirect",
            sign_assertions=True,
            sign_response=True,
            members_only=False,
            updated_at=world.clock(),
        )

    found = buttons(await owner.open(PAGE))

    assert [href for _, href in found] == [
        f"{PAGE}/sign-in/connections/{connection}",
        f"{PAGE}/sign-in/connections/{connection}",
        f"{PAGE}/services/shop/single-sign-on",
    ]
    assert all(line.endswith(" on 4 March 2026.") for line, _ in found)


async def test_a_stream_that_is_an_hour_behind_lags(world: World, acme: UUID, owner: Visitor) -> None:
    world.connection.execute("DELETE FROM audit_seals")
    insert_stream(world, acme)
    written = world.clock() - timedelta(minutes=50)
    seal = {"hash": "", "digests": "{}", "salts": "{}"}
    insert(world, "audit_seals", organization_id=acme, position=1, entry_id=first_id_at(written), **seal)

    assert buttons(await owner.open(PAGE)) == []

    world.clock.advance(timedelta(minutes=11))

    assert buttons(await owner.open(PAGE)) == [
        ("The stream of the audit log is more than an hour behind.", f"{PAGE}/siem")
    ]


async def test_seats_are_a_matter_from_nine_tenths_on(world: World, acme: UUID, owner: Visitor) -> None:
    for number in range(8):
        world.member(acme, world.user(f"u{number}@example.com"), "member")
    world.connection.execute("UPDATE organizations SET max_users = 11")
    assert buttons(await owner.open(PAGE)) == []

    world.connection.execute("UPDATE organizations SET max_users = 10")
    almost = buttons(await owner.open(PAGE))
    world.connection.execute("UPDATE organizations SET max_users = 9")
    full = buttons(await owner.open(PAGE))

    assert almost == [("9 of 10 seats are used.", f"{PAGE}/people")]
    assert full == [("All 9 seats are used, so no one can join.", f"{PAGE}/people")]


async def test_requests_that_wait_are_named(world: World, acme: UUID, owner: Visitor) -> None:
    now = world.clock()
    for email, status, age in (
        ("a@example.com", "expired", 8),
        ("b@example.com", "expired", 8),
        # Long ago, answered, and invited again.
        ("c@example.com", "expired", 15),
        ("d@example.com", "rejected", 8),
        ("e@example.com", "expired", 8),
        ("e@example.com", "pending", 1),
    ):
        insert_invitation(world, acme, email, status, now - age * DAY)
    vendor = world.organization("vendor")
    for slug, ends in (("shop", now + DAY), ("over", now - DAY)):
        insert(
            world,
            "service_customers",
            id=new_id(),
            vendor_id=vendor,
            service_id=world.service(vendor, slug=slug).id,
            offered_slug="acme",
            offered_to=acme,
            offer_expires_at=ends,
            created_at=now,
        )
    client_id = world.value("SELECT client_id FROM services WHERE slug = 'shop'")

    found = buttons(await owner.open(PAGE))

    assert [href for _, href in found] == [f"{PAGE}/products/{client_id}", f"{PAGE}/people/invited?status=expired"]
    assert found[1][0] == "2 invitations ended in the last seven days without an answer."


async def test_the_owner_is_told_of_a_missing_second_factor_and_no_one_else(
    world: World, acme: UUID, owner: Visitor
) -> None:
    world.connection.execute("UPDATE users SET mfa_enabled_at = NULL")
    world.member(acme, world.user("admin@example.com"), "admin")
    admin = Visitor(world.client)
    await admin.sign_in("admin@example.com")

    assert buttons(await owner.open(PAGE)) == [
        ("You own this organization, and your account has no second factor.", "/app/account/second-factor")
    ]
    assert buttons(await admin.open(PAGE)) == []


async def test_a_role_sees_what_it_may_mend_and_a_plain_member_neither_inbox_nor_steps(
    world: World, acme: UUID, visitor: Visitor
) -> None:
    insert_webhook(world, acme, is_active=False, off_reason="receiver_gone")
    insert_stream(world, acme, failures=1)
    world.custom_role(acme, "hooks", "webhooks.manage")
    user_id = world.user()
    world.member(acme, user_id, "hooks")
    await visitor.sign_in()

    of_role = await visitor.open(PAGE)
    world.connection.execute("UPDATE memberships SET role = 'member' WHERE user_id = %s", (user_id,))
    of_member = await visitor.open(PAGE)

    assert [line for line, _ in buttons(of_role)] == ["The webhook crm was switched off."]
    assert "Set up your organization" in of_role.text
    assert buttons(of_member) == []
    assert NOTHING not in of_member.text
    assert "Set up your organization" not in of_member.text


async def test_a_new_organization_begins_with_the_steps_and_an_older_one_ends_with_them(
    world: World, acme: UUID, owner: Visitor
) -> None:
    older = (await owner.open(PAGE)).text
    world.connection.execute("UPDATE organizations SET created_at = %s", (world.clock() - PERIOD + DAY,))
    new = (await owner.open(PAGE)).text

    assert older.index(NOTHING) < older.index('id="sign-ins') < older.index('id="steps')
    assert new.index('id="steps') < new.index(NOTHING) < new.index('id="sign-ins')


async def test_a_pending_organization_says_for_whom_it_waits_and_hides_what_does_not_open(
    world: World, acme: UUID, owner: Visitor
) -> None:
    world.set_organization_status(acme, "pending")

    page = await owner.open(PAGE)

    assert "for the owners of Gatehouse, who approve or reject it" in page.text
    assert f'href="{PAGE}/settings"' in page.text
    for path in ("webhooks", "people", "services"):
        assert f'href="{PAGE}/{path}' not in page.text, path
    assert NOTHING not in page.text


def test_every_kind_names_what_mends_it() -> None:
    assert set(MENDED_BY) == set(AttentionKind)
