"""The feed: receivers pull events in an order that never skips one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from core.webhooks.events import LIMIT_MAX, RETENTION, WAIT_SECONDS_MAX
from tests.application import Answer
from tests.marks import mark_due
from tests.postgres import connected
from tests.world.builder import new_id
from tests.world.hooks import Hooks
from tests.world.world import World, assert_refused

URL = "https://hooks.example.com/"
SECOND = timedelta(seconds=1)
TYPES = "?types=user.invited"


def names(answer: Answer) -> list[str]:
    """Return the names of the published events of an answer."""
    assert answer.status == 200, answer.text
    return [event["data"]["name"] for event in answer.json["events"] if event["event"] == "user.invited"]


def cursor(answer: Answer) -> str:
    """Return the cursor after an answer."""
    return answer.json["next_cursor"]


async def read_all(hooks: Hooks, limit: int) -> list[str]:
    """Read the feed in pages to its end."""
    found: list[str] = []
    query = f"{TYPES}&limit={limit}"
    while True:
        answer = await hooks.feed(query)
        found += names(answer)
        if not answer.json["has_more"]:
            return found
        query = f"{TYPES}&limit={limit}&after={cursor(answer)}"


class TestOrder:
    """Each event comes once, in the order of the positions."""

    async def test_without_a_cursor_the_feed_starts_at_the_oldest_event(self, hooks: Hooks) -> None:
        hooks.publish("a", "b", "c")
        await hooks.assign_positions()

        answer = await hooks.feed(TYPES)

        assert names(answer) == ["a", "b", "c"]
        assert answer.json["has_more"] is False
        assert answer.json.keys() == {"events", "next_cursor", "has_more"}

    async def test_an_event_has_the_payload_that_a_webhook_gets(self, hooks: Hooks) -> None:
        webhook_id = await hooks.create(URL, "user.invited")
        hooks.publish("a")
        await hooks.assign_positions()

        [event] = (await hooks.feed(TYPES)).json["events"]
        [delivery] = await hooks.deliveries(webhook_id)

        assert json.dumps(event) == json.dumps(delivery["payload"])

    async def test_pages_contain_every_event_once(self, hooks: Hooks, subtests: pytest.Subtests) -> None:
        hooks.publish(*"abcdefg")
        await hooks.assign_positions()

        for limit in (1, 2, 3, 7, 100):
            with subtests.test(limit=limit):
                assert await read_all(hooks, limit) == list("abcdefg")

    async def test_a_cursor_continues_with_what_came_later(self, hooks: Hooks) -> None:
        hooks.publish("a")
        await hooks.assign_positions()
        first = await hooks.feed(TYPES)
        assert names(await hooks.feed(f"{TYPES}&after={cursor(first)}")) == []
        hooks.publish("b")
        await hooks.assign_positions()

        assert names(await hooks.feed(f"{TYPES}&after={cursor(first)}")) == ["b"]

    async def test_a_cursor_passes_what_the_filter_leaves_out(self, hooks: Hooks) -> None:
        hooks.publish("a")
        await hooks.assign_positions()
        nothing = await hooks.feed("?types=plan.created")
        hooks.publish("b")
        await hooks.assign_positions()

        assert names(nothing) == []
        assert names(await hooks.feed(f"?after={cursor(nothing)}")) == ["b"]

    async def test_an_event_that_is_committed_late_is_not_skipped(
        self, hooks: Hooks, world: World, database_url: str
    ) -> None:
        late = (new_id(), hooks.team.organization_id, world.clock())
        # Only the very first writers of an organization wait for each other.
        mark_due(world.connection, hooks.team.organization_id)
        with connected(database_url) as other:
            with other.transaction():
                mark_due(other, hooks.team.organization_id)
                other.execute(
                    """
                    INSERT INTO events (id, type, organization_id, data, occurred_at)
                    VALUES (%s, 'user.invited', %s, '{"name": "late"}', %s)
                    """,
                    late,
                )
                hooks.publish("early")
                await hooks.assign_positions()
                first = await hooks.feed(TYPES)
            await hooks.assign_positions()

        assert names(first) == ["early"]
        assert names(await hooks.feed(f"{TYPES}&after={cursor(first)}")) == ["late"]

    async def test_events_that_are_handed_on_while_pages_are_read_are_not_skipped(self, hooks: Hooks) -> None:
        await hooks.team.token("owner")
        total = 60
        one_at_a_time = trio.CapacityLimiter(1)
        found: list[str] = []

        async def read() -> None:
            query = TYPES
            with trio.fail_after(120):
                while len(found) < total:
                    answer = await hooks.feed(f"{query}&limit=7")
                    found.extend(names(answer))
                    query = f"{TYPES}&after={cursor(answer)}"

        async def write(first: int) -> None:
            for number in range(first, total, 3):
                # In a thread: it waits while a mark is removed.
                await trio.to_thread.run_sync(hooks.publish, str(number), limiter=one_at_a_time)
                await hooks.assign_positions()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            for first in range(3):
                nursery.start_soon(write, first)

        assert sorted(found, key=int) == [str(number) for number in range(total)]

    async def test_events_of_another_organization_are_not_in_it(self, hooks: Hooks, world: World) -> None:
        hooks.publish("theirs", organization_id=world.organization("globex"))
        hooks.publish("ours")
        await hooks.assign_positions()

        assert names(await hooks.feed(TYPES)) == ["ours"]


class TestRestoredDatabase:
    """After the restore of a backup, cursors are good that were made after it."""

    async def go_back(self, hooks: Hooks, world: World, before: str) -> None:
        """Delete the events after one, as a restore does, and let some time pass."""
        world.connection.execute("DELETE FROM events WHERE data ->> 'name' > %s", (before,))
        for organization_id, last in world.rows("SELECT organization_id, max(position) FROM events GROUP BY 1"):
            world.connection.execute(
                "UPDATE event_positions SET last_position = %s WHERE organization_id = %s", (last, organization_id)
            )
        world.clock.advance(timedelta(minutes=5))

    async def read_until(self, hooks: Hooks, *published: str) -> str:
        """Publish events and read them; return the cursor."""
        hooks.publish(*published)
        await hooks.assign_positions()
        answer = await hooks.feed(TYPES)
        assert names(answer) == list(published)
        return cursor(answer)

    async def test_a_reader_who_is_ahead_gets_the_new_events(self, hooks: Hooks, world: World) -> None:
        after = await self.read_until(hooks, "a", "b", "c", "d")
        await self.go_back(hooks, world, "b")

        hooks.publish("e")
        await hooks.assign_positions()
        answer = await hooks.feed(f"{TYPES}&after={after}")
        assert names(answer) == ["e"]

        hooks.publish("f", "g")
        await hooks.assign_positions()
        assert names(await hooks.feed(f"{TYPES}&after={cursor(answer)}")) == ["f", "g"]

    async def test_new_events_beyond_the_position_of_a_reader_hide_none(self, hooks: Hooks, world: World) -> None:
        after = await self.read_until(hooks, "a", "b", "c", "d")
        await self.go_back(hooks, world, "b")

        hooks.publish("e", "f", "g", "h")
        await hooks.assign_positions()

        assert names(await hooks.feed(f"{TYPES}&after={after}")) == ["e", "f", "g", "h"]

    async def test_a_reader_who_asks_before_there_are_new_events_gets_them_later(
        self, hooks: Hooks, world: World
    ) -> None:
        after = await self.read_until(hooks, "a", "b", "c", "d")
        await self.go_back(hooks, world, "b")
        answer = await hooks.feed(f"{TYPES}&after={after}")
        assert names(answer) == []

        world.clock.advance(SECOND)
        hooks.publish("e", "f", "g")
        await hooks.assign_positions()

        assert names(await hooks.feed(f"{TYPES}&after={cursor(answer)}")) == ["e", "f", "g"]

    async def test_a_reader_whose_clock_differs_a_little_reads_nothing_twice(self, hooks: Hooks, world: World) -> None:
        world.clock.advance(timedelta(seconds=30))
        hooks.publish("of a process that is ahead")
        world.clock.advance(-timedelta(seconds=30))
        await hooks.assign_positions()
        first = await hooks.feed(TYPES)

        assert names(await hooks.feed(f"{TYPES}&after={cursor(first)}")) == []


class TestBacklog:
    """Events that were stored before there were positions."""

    @pytest.fixture
    def upgraded(self, world: World) -> Iterator[None]:
        """An installation that was upgraded this second."""
        before = world.value("SELECT backlog_before FROM event_sequencing")
        world.connection.execute("UPDATE event_sequencing SET backlog_before = %s", (world.clock(),))
        yield
        world.connection.execute("UPDATE event_sequencing SET backlog_before = %s", (before,))

    async def test_they_are_handed_on_beside_new_ones_and_delay_none(
        self, hooks: Hooks, world: World, upgraded: None
    ) -> None:
        await hooks.team.token("owner")
        world.connection.execute("DELETE FROM events")
        world.clock.advance(-timedelta(days=1))
        hooks.publish("1", "2", "3")
        world.clock.advance(timedelta(days=1))
        hooks.publish("new")

        handed_on = await hooks.hand_on_once(2)
        first = await hooks.feed(TYPES)
        await hooks.assign_positions()

        assert (handed_on.events, handed_on.has_more) == (2, True)
        assert sorted(names(first)) == ["1", "new"]
        assert names(await hooks.feed(f"{TYPES}&after={cursor(first)}")) == ["2", "3"]

    async def test_those_that_are_older_than_the_feed_keeps_them_get_no_position(
        self, hooks: Hooks, world: World, upgraded: None
    ) -> None:
        await hooks.team.token("owner")
        world.connection.execute("DELETE FROM events")
        world.clock.advance(-RETENTION)
        hooks.publish("too old")
        world.clock.advance(SECOND)
        hooks.publish("old")
        world.clock.advance(RETENTION - SECOND)

        await hooks.assign_positions()

        assert names(await hooks.feed(TYPES)) == ["old"]


class TestParameters:
    """Types, limits, and cursors."""

    async def test_types_are_separated_by_commas(self, hooks: Hooks) -> None:
        await hooks.test(await hooks.create(URL))
        hooks.publish("a")
        await hooks.assign_positions()

        answer = await hooks.feed("?types=user.invited,%20webhook.test")

        assert sorted(event["event"] for event in answer.json["events"]) == ["user.invited", "webhook.test"]

    async def test_invalid_parameters_are_refused(self, hooks: Hooks, subtests: pytest.Subtests) -> None:
        for query in (
            *("?types=", "?types=user.invited,", "?types=no.such", "?limit=0", "?limit=-1", "?limit=x"),
            *("?wait=-1", "?wait=x", "?wait=1.5"),
        ):
            with subtests.test(query=query):
                assert_refused(await hooks.feed(query), 400, "BAD_REQUEST")

    async def test_a_limit_above_the_maximum_is_lowered(self, hooks: Hooks) -> None:
        hooks.publish(*(str(number) for number in range(LIMIT_MAX + 1)))
        await hooks.assign_positions()

        answer = await hooks.feed(f"{TYPES}&limit=100000")

        assert (len(names(answer)), answer.json["has_more"]) == (LIMIT_MAX, True)

    async def test_a_malformed_cursor_is_refused(self, hooks: Hooks, subtests: pytest.Subtests) -> None:
        for text in ("", "x", "0" * 31, "0" * 33, "0" * 32, "%00" * 32, "%C3%A4" * 32, "=" * 32):
            with subtests.test(text=text):
                assert_refused(await hooks.feed(f"?after={text}"), 400, "BAD_REQUEST")

    async def test_a_cursor_that_was_changed_is_refused(self, hooks: Hooks) -> None:
        good = cursor(await hooks.feed())

        for place in range(len(good)):
            changed = good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :]
            assert_refused(await hooks.feed(f"?after={changed}"), 400, "BAD_REQUEST")

    async def test_a_cursor_of_another_organization_is_refused(self, hooks: Hooks, world: World) -> None:
        good = cursor(await hooks.feed())
        other = world.team("globex")
        other.add("olga", "owner")

        assert_refused(await other.request("olga", "GET", f"/events?after={good}"), 400, "BAD_REQUEST")

    async def test_cursors_do_not_tell_how_much_happens_elsewhere(self, hooks: Hooks, world: World) -> None:
        first = cursor(await hooks.feed())
        world.clock.advance(SECOND)

        assert cursor(await hooks.feed(f"?after={first}"))[6:20] != first[6:20]

    async def test_a_cursor_is_good_for_90_days(self, hooks: Hooks, world: World) -> None:
        good = cursor(await hooks.feed())
        world.clock.advance(timedelta(days=90))
        hooks.team.tokens.clear()
        assert (await hooks.feed(f"?after={good}")).status == 200

        world.clock.advance(SECOND)

        assert_refused(await hooks.feed(f"?after={good}"), 410, "GONE")


class TestWaiting:
    """A request that waits is answered as soon as there is an event."""

    async def wait(self, hooks: Hooks, query: str, told: list[tuple[float, Any]]) -> None:
        """Read the feed, and tell the answer and how long it took."""
        began_at = trio.current_time()
        answer = await hooks.feed(query)
        told.append((trio.current_time() - began_at, names(answer)))

    async def test_without_an_event_the_answer_comes_after_the_time_and_is_empty(
        self, hooks: Hooks, autojump_clock: MockClock
    ) -> None:
        after = cursor(await hooks.feed())
        await hooks.assign_positions()
        told: list[tuple[float, Any]] = []

        await self.wait(hooks, f"{TYPES}&after={after}&wait=7", told)

        assert told == [(pytest.approx(7, abs=4), [])]

    async def test_nothing_waits_longer_than_20_seconds(self, hooks: Hooks, autojump_clock: MockClock) -> None:
        told: list[tuple[float, Any]] = []

        await self.wait(hooks, f"{TYPES}&wait=1000", told)

        assert told == [(pytest.approx(WAIT_SECONDS_MAX, abs=4), [])]

    async def test_an_event_that_is_handed_on_here_is_answered_at_once(
        self, hooks: Hooks, autojump_clock: MockClock
    ) -> None:
        told: list[tuple[float, Any]] = []
        await hooks.team.token("owner")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(self.wait, hooks, f"{TYPES}&wait=20", told))
            await trio.sleep(5.25)
            hooks.publish("a")
            await hooks.assign_positions()
            hooks.team.world.installation.feed_waiters.wake()

        assert told == [(pytest.approx(5.25, abs=0.2), ["a"])]

    async def test_an_event_that_another_process_hands_on_is_answered_within_a_second(
        self, hooks: Hooks, autojump_clock: MockClock
    ) -> None:
        told: list[tuple[float, Any]] = []
        await hooks.team.token("owner")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(self.wait, hooks, f"{TYPES}&wait=20", told))
            await trio.sleep(5.5)
            hooks.publish("a")
            await hooks.assign_positions()

        [(seconds, found)] = told
        assert (5.4 < seconds < 7, found) == (True, ["a"])

    async def test_waiting_ends_when_the_server_stops(self, hooks: Hooks, autojump_clock: MockClock) -> None:
        told: list[tuple[float, Any]] = []
        await hooks.team.token("owner")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(self.wait, hooks, f"{TYPES}&wait=20", told))
            await trio.sleep(5)
            hooks.team.world.installation.stopping.set()

        assert told[0][0] < 7

    async def test_a_member_who_loses_the_right_while_waiting_is_refused(
        self, hooks: Hooks, autojump_clock: MockClock
    ) -> None:
        answers: list[Answer] = []

        async def wait() -> None:
            answers.append(await hooks.feed(f"{TYPES}&wait=20", by="admin"))

        await hooks.team.token("admin")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.sleep(5)
            hooks.team.world.connection.execute(
                "UPDATE memberships SET role = 'member' WHERE user_id = %s", (hooks.team.ids["admin"],)
            )

        assert_refused(answers[0], 403, "FORBIDDEN")
