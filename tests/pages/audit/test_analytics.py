"""The plots of an organization and of the platform, and the lists behind their bars."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urljoin
from uuid import UUID

import pytest

from core.audit.sign_in_counts import count_next
from core.ids import first_id_at
from core.sign_in.reasons import SignInReason
from tests.pages.plot_links import links_of
from tests.shown_text import shows
from tests.world.visitor import Visitor, without_tokens
from tests.world.world import World

PAGE = "/app/organizations/acme/analytics"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
async def owner(world: World, visitor: Visitor, transact: Callable[..., Any]) -> Visitor:
    """A browser in which the owner of Acme has signed in; the log so far is counted."""
    world.member(world.organization("acme"), world.user(), "owner")
    world.connection.execute("UPDATE memberships SET confirmed_at = '2025-01-01T00:00:00Z'")
    await visitor.sign_in()
    world.connection.execute("DELETE FROM login_events")
    transact(count_next, 10)
    return visitor


def write(world: World, days_ago: int, *, organization: str = "acme", reason: str = "", **columns: Any) -> None:
    """Insert a sign-in with an id of its time."""
    at: datetime = world.clock() - timedelta(days=days_ago, minutes=10)
    world.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, service_id, provider, success, reason, ip_address,
                                  risk_score, risk_factors, created_at)
        SELECT %s, u.id, coalesce((SELECT id FROM organizations WHERE slug = %s), u.id), %s, %s, %s, %s, '192.0.2.1', 0,
               '{}', %s
        FROM   users u
        WHERE  u.email = 'ada@example.com'
        """,
        (
            UUID(int=first_id_at(at).int + world.value("SELECT count(*) FROM login_events")),
            organization,
            columns.get("service_id"),
            columns.get("provider", "password"),
            not reason,
            reason or None,
            at,
        ),
    )


def links(text: str) -> dict[str, str]:
    """Return the links of bars and numbers by what they say."""
    return {label: urljoin(PAGE, href) for label, href in links_of(text).items()}


async def test_each_bar_leads_to_exactly_what_it_counts(
    world: World, owner: Visitor, transact: Callable[..., Any]
) -> None:
    shop = world.service(world.value("SELECT id FROM organizations WHERE slug = 'acme'"), name=HOSTILE).id
    world.organization("bolt")
    for days_ago, reason in ((5, ""), (5, ""), (5, "wrong_password"), (2, "not_a_member"), (0, "")):
        write(world, days_ago, reason=reason, service_id=shop)
    write(world, 5, organization="bolt")
    world.connection.execute("DELETE FROM sign_in_counting")
    transact(count_next, 3)
    transact(count_next, 100)

    page = await owner.open(f"{PAGE}?days=7")

    assert page.status == 200
    assert HOSTILE not in page.text
    found = links(page.text)
    assert len(found) >= 12
    for label, href in found.items():
        number = int(label.rpartition(": ")[2])
        listed = await owner.open(href)
        assert listed.status == 200, href
        expected = "One found" if number == 1 else f"{number} found"
        assert expected in listed.text, (label, href)
        assert not shows(listed.text.lower().replace(html.escape(HOSTILE).lower(), ""), "bolt")
    assert f"{PAGE}/sign-ins?outcome=refused&day=2026-01-29" in found.values()
    # A table behind each plot, and the same numbers as a file.
    assert '<th scope="row">29 January 2026</th><td><a href=' in page.text
    assert "ada@example.com" in (await owner.open(found["In seven days: 1"])).text
    file = await owner.open(f"{PAGE}/numbers.csv?of=days&days=7")
    assert "2026-01-29,2,1" in file.text


async def test_every_number_of_the_analytics_is_a_file(owner: Visitor, world: World) -> None:
    write(world, 0, reason="wrong_password")
    write(world, 0)

    files = {of: (await owner.open(f"{PAGE}/numbers.csv?of={of}")).text for of in ("reasons", "methods", "services")}

    assert "wrong_password,1" in files["reasons"]
    assert "password,1,1" in files["methods"]
    assert "00000000-0000-0000-0000-000000000000,,1,1" in files["services"]
    assert "2026-02-03,1,1,1" in (await owner.open(f"{PAGE}/numbers.csv?of=users&days=365")).text
    assert (await owner.open(f"{PAGE}/numbers.csv?of=nonsense")).text.startswith("day,")


async def test_of_many_reasons_the_page_ranks_the_most_frequent_and_the_file_has_all(
    owner: Visitor, world: World
) -> None:
    reasons = [reason.value for reason in SignInReason][:12]
    for number, reason in enumerate(reasons):
        for _ in range(number + 1):
            write(world, 0, reason=reason)

    page = (await owner.open(PAGE)).text

    ranking = page[page.index('id="by-reason"') : page.index('id="by-method"')]
    assert re.findall(r"reason=(\w+)", ranking) == reasons[:1:-1]
    assert "The 10 most frequent reasons." in ranking
    assert len((await owner.open(f"{PAGE}/numbers.csv?of=reasons")).text.split()) == 13


async def test_an_overview_begins_with_the_steps_until_somebody_has_signed_in_to_a_service(
    owner: Visitor, world: World
) -> None:
    overview = PAGE.removesuffix("/analytics")
    shop = world.service(world.value("SELECT id FROM organizations WHERE slug = 'acme'"), "shop").id

    before = (await owner.open(overview)).text
    write(world, 0, service_id=shop)
    after = (await owner.open(overview)).text

    assert before.index('id="steps') < before.index('id="matters')
    assert after.index('id="matters') < after.index('id="sign-ins') < after.index('id="steps')


async def test_of_many_services_the_page_ranks_the_first_and_the_file_has_all(owner: Visitor, world: World) -> None:
    organization_id = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    for number in range(12):
        shop = world.service(organization_id, f"shop-{number}", name=f"Shop {number}").id
        for _ in range(number + 1):
            write(world, 0, service_id=shop)
    sentence = "The 10 services with the most sign-ins. The file has all of them."

    page = (await owner.open(PAGE)).text

    ranking = page[page.index('id="by-service"') : page.index('id="active-users"')]
    assert re.findall(r"Shop (\d+)<svg", ranking) == [str(number) for number in range(11, 1, -1)]
    assert sentence in ranking
    assert (await owner.open(f"{PAGE}/numbers.csv?of=services")).text.count(",Shop ") == 12
    world.connection.execute("DELETE FROM services WHERE slug IN ('shop-0', 'shop-1')")
    world.connection.execute("DELETE FROM login_events WHERE service_id IS NULL")
    assert sentence not in (await owner.open(PAGE)).text


async def test_longer_periods_have_bars_of_weeks_and_months(owner: Visitor, world: World) -> None:
    write(world, 80)

    for days, bars in ((90, 13), (365, 13)):
        text = (await owner.open(f"{PAGE}?days={days}")).text
        assert text.count('<th scope="row">', 0, text.index('id="by-reason"')) == bars
    assert "30 days" in (await owner.open(f"{PAGE}?days=x")).text


async def test_a_list_is_filtered_and_goes_on(owner: Visitor, world: World, transact: Callable[..., Any]) -> None:
    for _ in range(30):
        write(world, 1, reason="wrong_password")
    write(world, 2, provider=HOSTILE)
    world.connection.execute("DELETE FROM sign_in_counting")
    transact(count_next, 100)

    first = await owner.open(f"{PAGE}/sign-ins?outcome=refused")
    assert "30 found" in first.text
    [following] = re.findall(r'href="([^"]+after=[^"]+)"', first.text)
    second = await owner.open(html.unescape(following))
    assert (first.text.count("<tr role="), second.text.count("<tr role=")) == (26, 6)
    other = await owner.open(f"{PAGE}/sign-ins?method={HOSTILE}&since=nonsense&until=2026-02-03&service=x")
    assert HOSTILE not in other.text
    assert "One found" in other.text
    assert "ada@example.com" in other.text
    nowhere = await owner.open(f"{PAGE}/sign-ins?address=198.51.100.1")
    assert "No sign-in fits." in nowhere.text
    assert (await owner.open(f"{PAGE}/active-users?day=0001-01-01&days=30")).status == 200
    assert (await owner.open(f"{PAGE}/active-users?day=9999-12-31&days=9&after=x")).status == 200


async def test_the_sign_ins_of_a_person_are_found_by_the_whole_address(owner: Visitor, world: World) -> None:
    for days_ago in range(30):
        write(world, days_ago, reason="" if days_ago else "wrong_password")
    page = f"{PAGE}/sign-ins?person=%20Ada@Example.com"

    first = await owner.open(page)
    [following] = re.findall(r'href="([^"]+after=[^"]+)"', first.text)
    second = await owner.open(html.unescape(following))
    assert (first.text.count("<tr role="), second.text.count("<tr role=")) == (26, 6)
    assert (await owner.open(f"{page}&outcome=refused")).text.count("<tr role=") == 2
    assert (await owner.open(f"{page}&since=2026-02-01&until=2026-02-02")).text.count("<tr role=") == 3
    # The organization sees no sign-ins of a person from before they confirmed belonging to it.
    world.connection.execute("UPDATE memberships SET confirmed_at = '2026-02-01T00:00:00Z'")
    assert (await owner.open(page)).text.count("<tr role=") == 4


async def test_an_address_that_has_confirmed_nothing_is_answered_as_any_other(owner: Visitor, world: World) -> None:
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    world.user("stranger@example.com")
    world.member(acme, world.user("added@example.com"), "member")
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")
    write(world, 1)
    world.connection.execute("UPDATE login_events SET user_id = (SELECT id FROM users WHERE email LIKE 'added%')")

    texts = {
        name: without_tokens((await owner.open(f"{PAGE}/sign-ins?person={name}@example.com")).text).replace(
            f"{name}@", ""
        )
        for name in ("added", "stranger", "unknown")
    }

    assert "No sign-in fits." in texts["unknown"]
    pages = {text.replace(f"{name}%40", "") for name, text in texts.items()}
    assert len(pages) == 1


async def test_sign_ins_are_downloaded_as_they_are_found(
    owner: Visitor, world: World, transact: Callable[..., Any]
) -> None:
    for days_ago in (1, 90, 91):
        write(world, days_ago, provider="=1+1", reason="wrong_password")
    write(world, 2)
    world.connection.execute("DELETE FROM sign_in_counting")
    transact(count_next, 100)

    listed = await owner.open(f"{PAGE}/sign-ins?outcome=refused")
    assert f'href="{PAGE}/sign-ins/sign-ins.csv?outcome=refused" download' in listed.text
    head, *rows = (await owner.open(f"{PAGE}/sign-ins/sign-ins.csv?outcome=refused")).text.splitlines()
    assert head.startswith("time,person,outcome,reason,method,")
    assert len(rows) == 3
    assert "ada@example.com,refused,wrong_password,'=1+1," in rows[0]
    of_person = (await owner.open(f"{PAGE}/sign-ins/sign-ins.csv?person=ada@example.com&until=2026-01-01")).text
    assert len(of_person.splitlines()) == 3
    nowhere = (await owner.open(f"{PAGE}/sign-ins/sign-ins.csv?address=198.51.100.1")).text
    assert len(nowhere.splitlines()) == 1


async def test_while_the_log_is_counted_pages_say_up_to_when(world: World, owner: Visitor) -> None:
    write(world, 3)
    world.connection.execute("DELETE FROM sign_in_counting")

    assert "This begins within a minute of the start." in (await owner.open(PAGE)).text
    world.connection.execute(
        "INSERT INTO sign_in_counting (counted_through) VALUES (%s)",
        (first_id_at(world.clock() - timedelta(days=9)),),
    )
    assert "These numbers are complete up to" in (await owner.open(PAGE)).text
    assert "These numbers are complete up to" in (await owner.open("/app/organizations/acme")).text


async def test_a_role_without_the_lists_sees_numbers_without_links(world: World, owner: Visitor) -> None:
    write(world, 0)
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    world.custom_role(acme, "counting", "analytics.view")
    world.connection.execute("UPDATE memberships SET role = 'counting'")

    page = await owner.open(PAGE)

    assert page.status == 200
    assert "end_users.view" in page.text
    assert "/analytics/sign-ins" not in page.text
    assert (await owner.open(f"{PAGE}/sign-ins")).status == 403
    assert (await owner.open(f"{PAGE}/active-users")).status == 403


async def test_the_overview_leads_to_the_same_lists(world: World, owner: Visitor, transact: Callable[..., Any]) -> None:
    world.connection.execute("DELETE FROM sign_in_counting")
    write(world, 1)
    write(world, 1, reason="wrong_password")
    transact(count_next, 10)
    found = links((await owner.open("/app/organizations/acme")).text)
    assert {
        "2 February 2026, Succeeded: 1",
        "2 February 2026, Refused: 1",
        "Active users in seven days: 1",
    } <= found.keys()
