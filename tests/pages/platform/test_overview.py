"""The overview of the platform."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

from core.credentials.mfa import MfaEvent
from core.ids import PLATFORM
from tests.clock import SettableClock
from tests.pages.platform.conftest import browser_of
from tests.pages.plot_links import links_of
from tests.shown_text import shows
from tests.world.builder import new_id
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/platform"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


def insert(world: World, table: LiteralString, **columns: Any) -> None:
    """Insert a row."""
    names, places = ", ".join(columns), ", ".join(["%s"] * len(columns))
    world.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})".encode(), tuple(columns.values()))


def insert_mail(world: World, clock: SettableClock, recipient: str, state: str, error: str | None = None) -> None:
    """Insert a mail."""
    insert(
        world,
        "mails",
        id=new_id(),
        organization_id=PLATFORM,
        recipient=recipient,
        template="verify_email",
        state=state,
        attempts=1,
        due_at=clock(),
        last_error=error,
        created_at=clock(),
    )


def insert_failing(world: World, clock: SettableClock, organization_id: UUID) -> None:
    """Insert a webhook that lost deliveries, one that lost none, and a stream whose receiver takes nothing."""
    webhooks = {"broken": 2, "whole": 0, HOSTILE: 1}
    for name, lost in webhooks.items():
        webhook_id, now = new_id(), clock()
        insert(
            world,
            "webhooks",
            id=webhook_id,
            organization_id=organization_id,
            name=name,
            url="https://receiver.example",
            events=["user.created"],
            secret_sealed=b"",
            created_at=now,
            updated_at=now,
        )
        insert(
            world,
            "webhook_queues",
            webhook_id=webhook_id,
            organization_id=organization_id,
            lost_at=now if lost else None,
        )
        for number in range(3):
            event_id = new_id()
            insert(
                world,
                "events",
                id=event_id,
                type="user.created",
                organization_id=PLATFORM,
                data="{}",
                occurred_at=now,
            )
            insert(
                world,
                "webhook_deliveries",
                id=new_id(),
                organization_id=organization_id,
                webhook_id=webhook_id,
                event_id=event_id,
                event_type="user.created",
                queued_at=now,
                delivered=number >= lost,
                created_at=now,
                updated_at=now,
            )
    insert(
        world,
        "siem_streams",
        id=new_id(),
        organization_id=organization_id,
        provider="http",
        endpoint="https://siem.example",
        options="{}",
        enabled=True,
        position=0,
        failures=3,
        last_error=HOSTILE,
        created_at=clock(),
        updated_at=clock(),
    )


async def test_the_first_pages_lead_owners_and_support_here_and_no_one_else(
    callers: Callers, platform_owner: Visitor, support: Visitor
) -> None:
    for path in ("/app", "/app/organizations"):
        for reader in (platform_owner, support):
            assert 'href="/app/platform"' in (await reader.open(path)).text
        for caller in (Caller.OWNER, Caller.STRANGER, Caller.SUPPORT_WITH_ONE_FACTOR, Caller.SUPPORT_WITHOUT_FACTOR):
            assert "/app/platform" not in (await browser_of(callers, caller).open(path)).text
    # They belong to no organization.
    for reader in (platform_owner, support):
        answer = await reader.send("GET", "/app")
        assert (answer.status, answer.headers["Location"]) == (303, PAGE)


async def test_a_quiet_platform_says_so(world: World, platform_owner: Visitor, support: Visitor) -> None:
    owners = world.value("SELECT count(*) FROM users WHERE is_platform_owner")
    with_password_alone = (await platform_owner.open(PAGE)).text
    to_support = (await support.open(PAGE)).text
    world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE is_platform_owner")
    text = (await platform_owner.open(PAGE)).text

    assert owners == 1
    assert "One platform owner has no second factor" in with_password_alone
    assert 'class="button quiet" href="/app/platform/owners"' in with_password_alone
    assert "Nothing waits for you" in to_support
    # The tests' clock differs from the database's, which the system page says too.
    matters = text.partition('id="matters"')[2].partition("</section>")[0]
    assert re.findall('row-title">([^<]+)', matters) == ["Clock "]
    checked = (await platform_owner.open(f"{PAGE}/system")).text
    not_ok = re.findall(r'rowheader" scope="row"><span>([^<]+)</span></th>\s*<td[^>]*><span class="badge bad"', checked)
    assert not_ok == ["Clock"]
    assert "from the database" in matters
    assert "These numbers are counted within a minute after the start." in text


async def test_the_queue_stands_first_with_what_waits_and_what_fails(
    world: World, callers: Callers, clock: SettableClock, platform_owner: Visitor, support: Visitor
) -> None:
    waiting = [world.organization(f"grove-{number}", status="pending") for number in range(7)]
    world.member(waiting[0], world.user("boss@example.com", is_platform_owner=True), "owner")
    insert_mail(world, clock, "ann@example.com", "failed", HOSTILE)
    insert_mail(world, clock, "boss@example.com", "failed")
    insert_mail(world, clock, "bob@example.com", "queued")
    insert_failing(world, clock, callers.acme_id)
    insert(
        world,
        "mfa_events",
        id=new_id(),
        user_id=callers.people[min(callers.people)],
        event_type=MfaEvent.BACKUP_CODE_USED,
        success=True,
        details='{"is_new_device": true, "remaining": 1}',
        created_at=clock(),
    )

    text = (await platform_owner.open(PAGE)).text
    of_support = (await support.open(PAGE)).text

    assert "Nothing waits for you" not in text
    assert [number for number in range(7) if f"grove-{number}<" in text] == [0, 1, 2, 3, 4]
    assert "Organizations that wait: 7" in links_of(text)
    assert f'href="/app/platform/organizations/{waiting[0]}"' in text
    assert "A backup code was used on a new device" in text
    assert "2 lost deliveries" in text
    assert not shows(text.partition("<main")[2], "whole")
    assert "<b onclick" not in text
    assert "boss@example.com" in text
    assert "boss@example.com" not in of_support
    assert text.index('id="waiting"') < text.index('id="mails"')
    assert "Mails that wait: 1" in links_of(text)
    assert "Mails that have failed: 2" in links_of(text)
    assert "Mails that have failed: 1" in links_of(of_support)


async def test_why_a_mail_has_failed_stands_there_in_the_language_of_the_page(
    world: World, clock: SettableClock, platform_owner: Visitor
) -> None:
    insert_mail(world, clock, "ann@example.com", "failed", "The mail server refused the login (535).")
    platform_owner.headers["Accept-Language"] = "de"

    assert "Der Mailserver hat die Anmeldung abgelehnt (535)." in (await platform_owner.open(PAGE)).text


async def test_numbers_lead_to_their_lists(
    world: World, callers: Callers, clock: SettableClock, platform_owner: Visitor
) -> None:
    insert(
        world,
        "platform_figures",
        active_users=1_234_567,
        mfa_users=20_000,
        organizations=2,
        queued_mails=0,
        queued_deliveries=0,
        certificates_ending=0,
        counted_at=clock(),
    )

    text = (await platform_owner.open(PAGE)).text

    assert links_of(text)["Users in use: 1234567"] == "/app/platform/users"
    assert ">20000<" in text
    assert links_of(text)["Active organizations: 3"] == "/app/platform/organizations?status=active"
    assert 'href="/app/platform/mail?state=failed"' in text


async def test_a_webhook_that_loses_very_much_hides_no_other(
    world: World, callers: Callers, clock: SettableClock, platform_owner: Visitor
) -> None:
    insert_failing(world, clock, callers.acme_id)
    broken = world.value("SELECT id FROM webhooks WHERE name = 'broken'")
    world.connection.execute(
        """
        INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, delivered,
                                        created_at, updated_at)
        SELECT (left(first_id_at(created_at)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
               organization_id, webhook_id,
               event_id, event_type, queued_at, false, created_at + interval '1 second', updated_at
        FROM   (SELECT * FROM webhook_deliveries WHERE webhook_id = %s LIMIT 1) AS one
        CROSS  JOIN generate_series(1, 1100)
        """,
        (broken,),
    )

    text = (await platform_owner.open(PAGE)).text

    assert "1102 lost deliveries" in text
    assert "One lost delivery" in text


async def test_webhooks_that_were_switched_off_lately_because_their_receiver_is_gone_are_named(
    world: World, callers: Callers, clock: SettableClock, platform_owner: Visitor
) -> None:
    insert_failing(world, clock, callers.acme_id)
    for name, reason, days in (("broken", "receiver_gone", 1), ("whole", "receiver_gone", 31), (HOSTILE, "undone", 1)):
        world.connection.execute(
            "UPDATE webhooks SET is_active = false, off_reason = %s, off_at = %s WHERE name = %s",
            (reason, clock() - timedelta(days=days), name),
        )

    text = (await platform_owner.open(PAGE)).text
    panel = text.partition('id="gone-webhooks"')[2].partition("</li>")[0]

    assert "broken" in panel
    assert not shows(panel, "whole")
    assert not shows(panel, "Bolt")
    assert f'href="/app/platform/organizations/{callers.acme_id}"' in panel
