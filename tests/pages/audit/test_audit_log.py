"""The pages of an organization's audit log."""

from __future__ import annotations

import csv
import json
import re
from datetime import timedelta
from html import unescape
from uuid import UUID

import pytest

from core.audit import entry_search
from core.events.actions import AuditAction, PlatformAction
from entrypoints.pages.events.actions import ACTIONS, PLATFORM_ACTIONS, TARGET_TYPES
from entrypoints.pages.frame.languages import LANGUAGES
from tests.clock import SettableClock
from tests.pages.audit.written import HOSTILE, KEY, PAGE, rows, seal, write
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World


def test_every_action_and_target_has_words_in_every_language() -> None:
    assert ACTIONS.keys() == set(AuditAction)
    assert PLATFORM_ACTIONS.keys() == set(PlatformAction)
    assert {action.target_type.value for action in (*AuditAction, *PlatformAction)} <= TARGET_TYPES.keys()
    german = LANGUAGES["de"]
    for text in (*ACTIONS.values(), *PLATFORM_ACTIONS.values()):
        assert german.known(text) != text


async def test_entries_are_readable_and_found_by_the_filter(world: World, people: Team, ann: Visitor) -> None:
    acme, ann_id, bob_id = people.organization_id, people.ids["ann"], people.ids["bob"]
    write(
        world,
        acme,
        1,
        actor_user_id=ann_id,
        ip_address="192.0.2.7",
        request_id="req-1",
        target_id=str(bob_id),
        target_type="user",
        action="user.role_updated",
        details={"old_role": "admin", "new_role": "member"},
    )
    write(world, acme, 2, actor_user_id=ann_id, details={"service_name": HOSTILE, "impersonator_id": str(bob_id)})
    write(
        world,
        acme,
        3,
        details={"organization_key_id": KEY, "organization_key_name": "Deploy"},
        ip_address="2001:db8::1",
    )
    write(world, acme, 4, details={"setup_link_id": KEY})
    write(world, acme, 5, details={"scim_token_id": KEY}, success=False)
    write(world, acme, 6, details={"api_key_id": KEY}, action="later.version")
    write(world, acme, 7)
    write(world, world.organization("bolt"), 8, request_id="req-1")

    page = await ann.open(PAGE)
    shown = rows(page)

    assert HOSTILE not in page.text
    assert "7 found" in page.text
    for row, words in zip(
        shown,
        (
            ["Changed a service", "The platform itself"],
            ["later.version", f"A service, with the API key {KEY}"],
            ["Failed", f"The directory, with the token {KEY}"],
            ["The holder of a setup link"],
            ["A program, with the management key Deploy", "2001:db8::1"],
            ["ann@example.com", "It was bob@example.com of the platform, acting as this person.", HOSTILE],
            ["Changed the role of a member", "Role: admin → member", "bob@example.com Person", "192.0.2.7"],
        ),
        strict=True,
    ):
        assert all(word in row for word in words), (row, words)
    for query, minutes in (
        ("actor=ann@example.com", [2, 1]),
        ("actor=system", [7, 6, 5]),
        ("action=user.role_updated", [1]),
        ("target=bob@example.com", [1]),
        (f"target={bob_id}", [1]),
        (f"target={KEY}", []),
        ("target=zoe@example.com", []),
        ("address=2001:DB8:0::1", [3]),
        ("address=nonsense", []),
        ("request=req-1", [1]),
        ("since=2026-02-03T12:06", [7, 6]),
        ("until=2026-02-03T13:03%2B01:00", [2, 1]),
        ("since=2026-02-04", []),
        ("before=damaged", [7, 6, 5, 4, 3, 2, 1]),
    ):
        found = await ann.open(f"{PAGE}?{query}")
        assert [int(minute) for minute in re.findall(r"Feb, 12:(\d\d) UTC", "".join(rows(found)))] == minutes, query
        assert f"{len(minutes) if len(minutes) != 1 else 'One'} found" in found.text, query


async def test_former_members_and_invited_people_are_shown_and_found_by_address(
    world: World, people: Team, ann: Visitor, clock: SettableClock
) -> None:
    clock.advance(timedelta(minutes=1))
    removal = f"/app/organizations/acme/people/{people.ids['bob']}/remove"
    await ann.submit(await ann.open(removal), removal)
    invited = "/app/organizations/acme/people/invited"
    await ann.submit(await ann.open(invited), invited, emails="zoe@example.com")

    [row] = rows(await ann.open(f"{PAGE}?action=user.removed"))
    invitation = rows(await ann.open(f"{PAGE}?target=zoe@example.com"))
    world.user("zoe@example.com")
    with_account = rows(await ann.open(f"{PAGE}?target=zoe@example.com"))
    clock.advance(timedelta(minutes=1))
    world.connection.execute(
        "UPDATE users SET email = 'robert@example.com', email_verified_at = %s WHERE id = %s",
        (clock(), people.ids["bob"]),
    )
    [after_change] = rows(await ann.open(f"{PAGE}?action=user.removed"))

    assert "bob@example.com" in row
    assert len(invitation) == 1
    assert "zoe@example.com" in invitation[0]
    # Whether the address has an account by now makes no difference.
    assert with_account == invitation
    assert "robert@example.com" not in after_change


async def test_what_cannot_be_searched_for_is_said_at_its_field(ann: Visitor) -> None:
    for query, problem in (
        ("actor=ann", "Give an email address, or the id of an actor"),
        ("target=shop", "Give an email address, or the id of what"),
        ("since=yesterday", "Give a day or a time"),
        ("until=0001-01-01T00:00%2B14:00", "Give a day or a time"),
    ):
        page = await ann.open(f"{PAGE}?{query}&address=192.0.2.7")

        assert page.status == 400, query
        assert problem in page.text, query
        assert 'aria-invalid="true"' in page.text, query
        assert 'value="192.0.2.7"' in page.text, query


async def test_a_long_log_goes_on_and_stays_small(world: World, people: Team, ann: Visitor) -> None:
    for minute in range(55):
        write(
            world,
            people.organization_id,
            minute,
            user_agent="x" * 400,
            request_id="r" * 128,
            details={"changes": {"name": {"from": "x" * 5000, "to": HOSTILE * 500}}},
        )

    page, seen, sizes = PAGE + "?request=" + "r" * 128, list[str](), list[int]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        seen += re.findall(r"Feb, 12:(\d\d) UTC", "".join(rows(answer)))
        links = re.findall(r'href="([^"]*)"', answer.text.partition('class="pages"')[2].partition("</nav>")[0])
        page = next((unescape(link) for link in links if "before=" in link), "")

    assert seen == [f"{minute:02}" for minute in reversed(range(55))]
    assert len(sizes) == 3
    assert max(sizes) < 40 * 1024


async def test_the_next_page_of_a_filtered_list_has_the_same_filter(world: World, people: Team, ann: Visitor) -> None:
    for minute in range(60):
        action = "user.joined" if minute % 2 else "user.updated"
        write(world, people.organization_id, minute, ip_address="192.0.2.7", action=action)

    first = await ann.open(f"{PAGE}?action=user.joined&address=192.0.2.7")
    [link] = [link for link in re.findall(r'href="([^"]*)"', first.text) if "before=" in link]
    second = await ann.open(unescape(link))

    shown = [re.findall(r"Feb, 12:(\d\d) UTC", " ".join(rows(page))) for page in (first, second)]
    assert [*shown[0], *shown[1]] == [f"{minute:02}" for minute in reversed(range(1, 60, 2))]
    assert shown[0]
    assert shown[1]
    assert "user.updated" not in "".join(rows(second))


async def test_a_search_that_finds_little_says_how_far_it_has_looked(
    world: World, people: Team, ann: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("adapters.postgres.audit.entry_search", "entrypoints.pages.audit.browser"):
        monkeypatch.setattr(f"{module}.LOOKED_AT_MAX", 3)
    for minute in range(1, 9):
        action = "user.updated" if minute in {1, 3, 4, 5} else "user.joined"
        write(world, people.organization_id, minute, ip_address="192.0.2.7", action=action)

    first = await ann.open(f"{PAGE}?address=192.0.2.7&action=user.updated")
    [link] = [link for link in re.findall(r'href="([^"]*)"', first.text) if "before=" in link]
    second = await ann.open(unescape(link))

    assert "12:08" not in first.text.partition("<table")[2].partition("</table>")[0]
    assert "found among the newest 3 entries" in first.text
    assert "This page has looked back to" in first.text
    assert len(rows(second)) >= 1


async def test_an_entry_shows_what_was_changed_and_that_it_fits_its_seal(
    world: World, people: Team, ann: Visitor
) -> None:
    details = {
        "changes": {"name": {"from": "Shop", "to": HOSTILE}, "scopes": {"from": None, "to": ["a", 1]}, "odd": 1},
        "old_role": "admin",
        "new_role": "member",
        "new_thing": True,
        "reason": "=1+1",
        "nested": {"a": [HOSTILE]},
    }
    entry_id = write(world, people.organization_id, 1, details=details, actor_user_id=people.ids["ann"])
    unsealed = await ann.open(f"{PAGE}/{entry_id}")
    await seal(world)
    sealed = await ann.open(f"{PAGE}/{entry_id}")
    world.connection.execute('UPDATE audit_entries SET details = details || \'{"reason": "forged"}\'')
    forged = await ann.open(f"{PAGE}/{entry_id}")
    world.connection.execute("DELETE FROM audit_seals")
    without = await ann.open(f"{PAGE}/{entry_id}")

    assert "Not sealed yet; that takes a few seconds." in unsealed.text
    assert "Entry 1 of the chain</dd>" in sealed.text
    for page in (forged, without):
        assert "Does not fit" in page.text
    assert HOSTILE not in sealed.text
    said = rows(sealed)
    assert said[:3] == [f"Name Shop {HOSTILE}", "Scopes – a, 1", "Role admin member"]
    assert set(said[3:]) == {"odd – 1", "new_thing – Yes", "Reason – =1+1", f'nested – {{"a": ["{HOSTILE}"]}}'}
    assert "&#34;reason&#34;: &#34;=1+1&#34;" in sealed.text


async def test_an_entry_of_another_organization_is_not_found(world: World, people: Team, ann: Visitor) -> None:
    theirs = write(world, world.organization("bolt"), 1)

    for path in (f"{PAGE}/{theirs}", f"{PAGE}/{KEY}", f"{PAGE}/nonsense"):
        assert (await ann.open(path)).status == 404
    # A position of theirs is one in this log.
    ours = write(world, people.organization_id, 1)
    assert len(rows(await ann.open(f"{PAGE}?before={UUID(int=theirs.int + 1)}"))) in {0, 1}
    assert str(ours) in (await ann.open(f"{PAGE}?before={entry_search.LAST_ID}")).text


async def test_who_may_not_read_the_log_gets_none_of_its_pages(world: World, people: Team, visitor: Visitor) -> None:
    entry_id = write(world, people.organization_id, 1)
    await visitor.sign_in("bob@example.com")
    for path in ("", "/feed", "/entries.csv", "/export.jsonl", "/proof.json", f"/{entry_id}"):
        assert (await visitor.open(PAGE + path)).status == 403, path
    assert world.audit_entries("audit_log.exported") == []


async def test_a_custom_role_with_the_capability_reads_it(world: World, people: Team, visitor: Visitor) -> None:
    write(world, people.organization_id, 1)
    await visitor.sign_in("cid@example.com")

    assert len(rows(await visitor.open(PAGE))) == 1


async def test_the_found_entries_are_a_file_for_spreadsheets(world: World, people: Team, ann: Visitor) -> None:
    for minute in range(4):
        write(
            world,
            people.organization_id,
            minute,
            ip_address="192.0.2.7" if minute else None,
            user_agent="=HYPERLINK(1)",
            details={"service_name": "@SUM(1)"},
            actor_user_id=people.ids["ann"],
        )

    answer = await ann.open(f"{PAGE}/entries.csv?address=192.0.2.7")

    found = list(csv.DictReader(answer.text.splitlines()))
    assert [row["time"] for row in found] == [f"2026-02-03T12:0{minute}:00+00:00" for minute in (3, 2, 1)]
    assert found[0]["actor"] == "ann@example.com"
    assert found[0]["user_agent"] == "'=HYPERLINK(1)"
    assert found[0]["target"] == "'@SUM(1)"
    assert json.loads(found[0]["details"]) == {"service_name": "@SUM(1)"}
    [entry] = world.audit_entries("audit_log.exported", "details")
    assert entry == ({"format": "csv"},)


async def test_a_file_has_every_part(world: World, people: Team, ann: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrypoints.pages.audit.audit_log.ROWS_AT_ONCE", 2)
    for minute in range(5):
        write(world, people.organization_id, minute)

    answer = await ann.open(f"{PAGE}/entries.csv?since=2026-02-03T12:00")

    assert len(answer.text.splitlines()) == 6


async def test_the_log_is_proved_and_exported(world: World, people: Team, ann: Visitor) -> None:
    write(world, people.organization_id, 1)
    await seal(world)
    page = await ann.open(PAGE)
    proof = await ann.open(f"{PAGE}/proof.json")
    export = await ann.open(f"{PAGE}/export.jsonl")

    assert "<dd>to entry 1</dd>" in page.text
    assert json.loads(proof.text)["sealed_through"] == 1
    lines = [json.loads(line) for line in export.text.splitlines()]
    assert [line.get("position") for line in lines] == [1, None]
    assert lines[1]["sealed_through"] == 1
    for answer, name in ((proof, "acme-audit-log-proof.json"), (export, "acme-audit-log.jsonl")):
        assert name in answer.headers["Content-Disposition"]
        assert answer.headers["Cache-Control"] == "no-store"
