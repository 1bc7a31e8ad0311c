"""Receivers that fail: nothing is skipped, nothing else waits, and what was received is not sent again in vain."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import trio

from actors.siem_streamer import SiemStreamer
from core.audit import siem_stream
from core.audit.siem_stream import BACKOFF_MAX, BACKOFF_MIN, LEASE
from ports.mailboxes import Drain
from tests.audit_chains import seal_all
from tests.http.audit.streams import BEGINNING, END_SECONDS_MAX, add_entries, entries_of, show, stream_once
from tests.http.audit.test_siem import INTERFACES, configure
from tests.mailboxes import RecordedMailboxes
from tests.siem_receivers import TOKEN, Answer, Receiver, Request, elastic, json_lines, receiving
from tests.world.team import Team

Transact = Callable[..., Any]


async def test_a_receiver_that_fails_is_retried_with_growing_delays_and_gets_everything_afterwards(
    team: Team, transact: Transact
) -> None:
    entries = add_entries(team, 3)
    async with receiving(json_lines) as receiver:
        receiver.failures = [(500, b"broken"), None, (429, b"")] + [(503, b"")] * 9
        await configure(team, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)
        delays: list[timedelta] = []
        for _ in range(12):
            [progress] = await stream_once(team)
            assert progress is not None
            delays.append(progress.next_at - team.world.clock())
            team.world.clock.now = progress.next_at - timedelta(milliseconds=1)
            assert await stream_once(team) == []
            team.world.clock.now = progress.next_at

        state = await show(team)
        assert (state["status"], state["cursor"], state["lag"]) == ("failing", 0, 4)
        assert state["last_error"] == "The receiver answered 503: nothing."
        # The first batch after so many failures has a single entry; the others follow at once.
        while await stream_once(team):
            pass

    for number, delay in enumerate(delays):
        longest = min(BACKOFF_MIN * 2**number, BACKOFF_MAX)
        assert longest / 2 <= delay <= longest
    assert entries_of(receiver) == entries
    state = await show(team)
    assert (state["status"], state["lag"], state["last_error"]) == ("healthy", 0, None)


async def test_a_failing_receiver_delays_no_other_organization(team: Team, transact: Transact) -> None:
    other = team.world.team("globex")
    other.add("boss", "owner")
    async with receiving(json_lines) as broken, receiving(json_lines) as receiver:
        broken.failures = [None] * 5
        await configure(team, endpoint=broken.url)
        body = {"provider": "http", "endpoint": receiver.url, "token": TOKEN}
        await other.request("boss", "POST", "/siem", body=body)
        entries = add_entries(other, 2)
        seal_all(transact)

        await stream_once(team)

    assert entries_of(receiver) == entries
    assert {entry["org_id"] for entry in receiver.entries} == {str(other.organization_id)}
    assert (await show(team))["status"] == "failing"


async def test_an_entry_that_elastic_refuses_stops_the_stream_before_it_and_says_why(
    team: Team, transact: Transact
) -> None:
    entries = add_entries(team, 5)
    async with receiving(elastic) as receiver:
        receiver.refused = {entries[2]: 400}
        await configure(team, provider="elastic", endpoint=f"{receiver.url}/es/", options=BEGINNING)
        seal_all(transact)
        await stream_once(team)

        state = await show(team)
        assert (state["status"], state["cursor"]) == ("failing", 2)
        assert state["last_error"].startswith(f"Entry {entries[2]} was refused with 400: ")
        assert "failed to parse field [details.n]" in state["last_error"]
        # Those after it are there already, and are refused as duplicates the next time.
        assert entries_of(receiver) == [*entries[:2], *entries[3:]]

        receiver.refused = {}
        team.world.clock.advance(BACKOFF_MAX)
        await stream_once(team)

    assert receiver.requests[0].target == "/es/_bulk"
    assert sorted(entries_of(receiver)) == entries
    assert (await show(team))["status"] == "healthy"


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        ("elastic", (200, {"items": []})),
        ("elastic", (200, b"<html>")),
        ("elastic", (200, {"items": [7, {"create": 8}]})),
        ("elastic", (200, {"items": [{"index": {"status": 201}}, {}]})),
        ("splunk", (200, b"<html>")),
        ("splunk", (200, [])),
        ("splunk", (200, {"text": "Server is busy", "code": 9})),
    ],
)
async def test_an_answer_that_does_not_confirm_the_entries_is_a_failure(
    team: Team, transact: Transact, provider: str, answer: Any
) -> None:
    add_entries(team, 1)
    async with receiving(INTERFACES[provider]) as receiver:
        receiver.failures = [answer]
        await configure(team, provider=provider, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)

        await stream_once(team)

    state = await show(team)
    assert (state["status"], state["cursor"]) == ("failing", 0)


async def test_an_address_in_the_answer_of_a_receiver_is_not_kept(team: Team, transact: Transact) -> None:
    add_entries(team, 1)
    async with receiving(json_lines) as receiver:
        receiver.failures = [(400, b'{"email":"Ada@example.com","note":"by <bob@xn--bcher-kva.example>"}')]
        await configure(team, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)

        await stream_once(team)

    kept = 'The receiver answered 400: {"email":"…","note":"by <…>"}.'
    assert (await show(team))["last_error"] == kept


async def test_a_batch_whose_outcome_was_lost_is_sent_again_after_the_lease(team: Team, transact: Transact) -> None:
    entries = add_entries(team, 2)
    database = team.world.installation.database
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)
        # The process dies after it has sent.
        [stream] = await database.transact(siem_stream.lease, 10)
        batch = await database.read(siem_stream.next_batch, stream)
        receipt = await team.world.installation.siem_sender.send(stream.target, batch.events)

        assert await stream_once(team) == []
        team.world.clock.advance(LEASE)
        await stream_once(team)
        # What comes too late moves nothing back.
        assert await database.transact(siem_stream.record, stream, batch, receipt) is None

    assert entries_of(receiver) == entries * 2
    assert (await show(team))["cursor"] == 3


async def test_a_batch_that_was_sent_for_a_replaced_configuration_does_not_move_the_cursor(
    team: Team, transact: Transact
) -> None:
    add_entries(team, 2)
    database = team.world.installation.database
    async with receiving(json_lines) as old, receiving(json_lines) as new:
        await configure(team, endpoint=old.url, options=BEGINNING)
        seal_all(transact)
        [stream] = await database.transact(siem_stream.lease, 10)
        batch = await database.read(siem_stream.next_batch, stream)
        receipt = await team.world.installation.siem_sender.send(stream.target, batch.events)
        await configure(team, endpoint=new.url)

        assert await database.transact(siem_stream.record, stream, batch, receipt) is None
        await stream_once(team)

    assert entries_of(new) == entries_of(old)


async def test_a_receiver_that_does_not_answer_delays_no_other_one(team: Team, transact: Transact) -> None:
    installation = team.world.installation
    streamer = SiemStreamer(
        database=installation.database,
        mailboxes=RecordedMailboxes(),
        sender=installation.siem_sender,
        clock=team.world.clock,
        metrics=installation.metrics,
    )
    other = team.world.team("globex")
    other.add("boss", "owner")
    async with receiving(json_lines) as silent, receiving(json_lines) as receiver:
        silent.may_answer = trio.Event()
        await configure(team, endpoint=silent.url)
        body = {"provider": "http", "endpoint": receiver.url, "token": TOKEN}
        await other.request("boss", "POST", "/siem", body=body)
        seal_all(transact)

        with trio.fail_after(END_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(streamer.run)
                await receiver.got_some.wait()
                assert silent.entries == []
                silent.may_answer.set()
                # What is in flight is finished.
                streamer.box.send(Drain())

    assert len(silent.entries) == 1
    assert (await show(team))["status"] == "healthy"


@pytest.mark.parametrize(
    ("provider", "received"), [("http", True), ("datadog", True), ("splunk", False), ("elastic", False)]
)
async def test_a_body_that_is_cut_off_counts_only_where_it_is_the_answer(
    team: Team, transact: Transact, provider: str, received: bool
) -> None:
    add_entries(team, 2)
    async with receiving(INTERFACES[provider]) as receiver:
        receiver.cuts_bodies_off = True
        await configure(team, provider=provider, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)

        await stream_once(team)

    state = await show(team)
    assert (state["status"], state["cursor"]) == (("healthy", 3) if received else ("failing", 0))


async def test_a_receiver_that_takes_only_few_at_once_gets_everything(team: Team, transact: Transact) -> None:
    def takes_three(receiver: Receiver, request: Request) -> Answer:
        return json_lines(receiver, request) if request.body.count(b"\n") <= 3 else (413, b"")

    entries = add_entries(team, 12)
    async with receiving(takes_three) as receiver:
        await configure(team, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)
        for _ in range(20):
            for progress in await stream_once(team):
                assert progress is not None
                team.world.clock.now = progress.next_at

    assert entries_of(receiver) == entries
    assert (await show(team))["lag"] == 0
