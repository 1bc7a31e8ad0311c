"""Following an audit log: new entries appear by themselves."""

from __future__ import annotations

import re
from html import unescape

import trio

from core.audit.browser import PLACES_MAX, WAIT_SECONDS_MAX
from tests.application import Answer
from tests.pages.audit.written import PAGE, rows, seal, tails_of, waiting, write
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World


async def test_without_scripts_the_page_loads_itself_again_and_marks_what_is_new(
    world: World, people: Team, ann: Visitor
) -> None:
    write(world, people.organization_id, 1)
    first = await ann.open(f"{PAGE}?live=on&actor=system")
    [again] = re.findall(r'<noscript><meta http-equiv="refresh" content="10; url=([^"]*)">', first.text)
    write(world, people.organization_id, 2)
    second = await ann.open(unescape(again))

    assert "actor=system" in again
    assert not any(row.startswith("Changed a service New") for row in rows(first))
    assert [" New " in row for row in rows(second)] == [True, False]
    assert "connect-src 'self'" in second.headers["Content-Security-Policy"]
    still = await ann.open(PAGE)
    assert not shows(still.text, "http-equiv")
    assert not shows(still.text, "live_log")


async def test_a_question_without_a_position_is_answered_at_once(ann: Visitor) -> None:
    answer = await ann.open(f"{PAGE}/feed")

    assert answer.status == 200
    assert 'data-feed="/app/organizations/acme/audit/feed?position=0"' in answer.text


async def test_the_feed_returns_what_was_sealed_after_a_position(world: World, people: Team, ann: Visitor) -> None:
    for minute in (1, 2):
        write(world, people.organization_id, minute)
    write(world, world.organization("bolt"), 3)
    await seal(world)

    answer = await ann.open(f"{PAGE}/feed?position=1")

    assert re.findall(r"Feb, 12:(\d\d) UTC", "".join(rows(answer))) == ["02"]
    assert 'data-feed="/app/organizations/acme/audit/feed?position=2"' in answer.text
    for position in ("99999999999999999999999999", "-1", "x", ""):
        world.installation.stopping.set()
        assert (await ann.open(f"{PAGE}/feed?position={position}")).status == 200


async def test_a_reader_waits_for_the_next_entry_and_no_longer_than_allowed(
    world: World, people: Team, ann: Visitor, autojump_clock: trio.abc.Clock
) -> None:
    tails = tails_of(world)
    answers: list[Answer] = []

    async def read(path: str) -> None:
        answers.append(await ann.open(path))

    began_at = trio.current_time()
    await read(f"{PAGE}/feed?position=0")
    assert trio.current_time() - began_at >= WAIT_SECONDS_MAX
    assert rows(answers[0]) == []

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, f"{PAGE}/feed?position=0")
        await waiting(world, people.organization_id)
        write(world, people.organization_id, 1)
        await seal(world)
        tails.tell({people.organization_id: 1})

    assert len(rows(answers[1])) == 1


async def test_the_role_and_the_organization_are_looked_at_again(
    world: World, people: Team, ann: Visitor, autojump_clock: trio.abc.Clock
) -> None:
    answers: list[Answer] = []

    async def read() -> None:
        answers.append(await ann.open(f"{PAGE}/feed?position=0"))

    for change in (
        "UPDATE memberships SET role = 'member' WHERE role = 'owner'",
        "DELETE FROM organizations WHERE slug = 'acme'",
    ):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await waiting(world, people.organization_id)
            world.connection.execute(change.encode())
            tails_of(world).tell({people.organization_id: -1})
        world.connection.execute("UPDATE memberships SET role = 'owner' WHERE user_id = %s", (people.ids["ann"],))

    assert [answer.status for answer in answers] == [403, 404]


async def test_the_place_of_the_twenty_first_is_refused_and_others_are_not_delayed(
    world: World, people: Team, ann: Visitor
) -> None:
    tails = world.installation.audit_tails
    taken = [tails.place(people.organization_id) for _ in range(PLACES_MAX)]
    for place in taken:
        place.__enter__()
    refused = await ann.open(f"{PAGE}/feed?position=0")
    with tails.place(world.organization("bolt")):
        pass
    taken[0].__exit__(None, None, None)
    write(world, people.organization_id, 1)
    await seal(world)
    accepted = await ann.open(f"{PAGE}/feed?position=0")

    assert refused.status == 429
    assert "This audit log is being followed by 20 people already" in refused.text
    assert refused.headers["Retry-After"] == "10"
    assert accepted.status == 200


async def test_the_stop_of_the_server_ends_the_waiting(world: World, people: Team, ann: Visitor) -> None:
    answers: list[Answer] = []

    async def read() -> None:
        answers.append(await ann.open(f"{PAGE}/feed?position=0"))

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await waiting(world, people.organization_id)
            world.installation.stopping.set()

    assert answers[0].status == 200
