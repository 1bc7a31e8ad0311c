"""Streaming to each kind of receiver: every entry arrives, in order, also after a failure of either side."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import trio

from actors.siem_streamer import SiemStreamer
from core.audit import siem_stream
from core.audit.siem_stream import BATCH_BYTES_MAX, BATCH_EVENTS_MAX, BATCH_EVERY
from ports.mailboxes import Drain
from tests.audit_chains import add_entry, seal_all
from tests.http.audit.streams import BEGINNING, END_SECONDS_MAX, add_entries, entries_of, show, stream_once
from tests.http.audit.test_siem import INTERFACES, configure
from tests.mailboxes import RecordedMailboxes
from tests.siem_receivers import json_lines, receiving, splunk
from tests.world.team import Team

Transact = Callable[..., Any]


@pytest.mark.parametrize("provider", INTERFACES)
async def test_the_log_is_streamed_from_the_beginning_in_its_order(
    team: Team, transact: Transact, provider: str
) -> None:
    before = add_entries(team, 3, text="größer\n")
    seal_all(transact)
    async with receiving(INTERFACES[provider]) as receiver:
        await configure(team, provider=provider, endpoint=receiver.url, options=BEGINNING)
        after = add_entries(team, 2)
        seal_all(transact)

        await stream_once(team)

    assert entries_of(receiver) == before + after
    [request] = receiver.requests
    assert request.headers["content-encoding"] == "gzip"
    # The configuration itself is an entry.
    state = await show(team)
    assert (state["status"], state["cursor"], state["lag"], state["last_error"]) == ("healthy", 6, 0, None)
    assert state["last_success_at"] == team.world.clock().isoformat().replace("+00:00", "Z")


async def test_an_entry_is_sent_as_the_audit_log_shows_it_with_its_place_in_the_chain(
    team: Team, transact: Transact
) -> None:
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        seal_all(transact)
        await stream_once(team)

    [sent] = receiver.entries
    [shown] = (await team.request("admin", "GET", "/audit-log")).json["logs"]
    assert sent.pop("position") == 1
    assert sent.pop("hash") == team.world.value("SELECT hash FROM audit_seals")
    assert sent.pop("created_at") == "2026-02-03T04:05:06.000000Z"
    del shown["created_at"]
    assert sent == shown


async def test_a_stream_from_now_on_leaves_out_what_was_there_before_even_if_it_is_sealed_later(
    team: Team, transact: Transact
) -> None:
    add_entries(team, 2)
    seal_all(transact)
    add_entries(team, 1)
    team.world.clock.advance(timedelta(seconds=1))
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        new = add_entries(team, 2)
        seal_all(transact)

        await stream_once(team)

    assert entries_of(receiver) == new
    assert (await show(team))["lag"] == 0


async def test_the_filter_leaves_entries_out_and_the_cursor_passes_them(team: Team, transact: Transact) -> None:
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, event_filter=["user.", "api_key.c"], options=BEGINNING)
        add_entries(team, 3)
        [wanted] = add_actions(team, "api_key.created")
        add_actions(team, "api_key.deleted", "service.created")
        seal_all(transact)

        await stream_once(team)
        await stream_once(team)

    assert receiver.ids == [wanted]
    assert ((await show(team))["cursor"], len(receiver.requests)) == (7, 1)


def add_actions(team: Team, *actions: str) -> list[str]:
    world = team.world
    return [str(add_entry(world.connection, team.organization_id, world.clock, action=action)) for action in actions]


async def test_a_backlog_is_sent_in_batches_of_at_most_500_entries_without_a_pause(
    team: Team, transact: Transact
) -> None:
    entries = add_entries(team, 2 * BATCH_EVENTS_MAX + 1)
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)

        for _ in range(3):
            await stream_once(team)

    assert entries_of(receiver) == entries
    assert [len(request.body.splitlines()) for request in receiver.requests] == [500, 500, 2]


@pytest.mark.parametrize("provider", INTERFACES)
async def test_a_batch_has_at_most_a_mebibyte(team: Team, transact: Transact, provider: str) -> None:
    entries = add_entries(team, 30, text="x" * 100_000)
    [huge] = add_entries(team, 1, text="x" * 2 * BATCH_BYTES_MAX)
    async with receiving(INTERFACES[provider]) as receiver:
        await configure(team, provider=provider, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)

        while (await show(team))["lag"]:
            await stream_once(team)

    assert entries_of(receiver) == [*entries, huge]
    *usual, largest = sorted(len(request.body) for request in receiver.requests)
    assert usual[-1] <= BATCH_BYTES_MAX < largest


async def test_entries_are_collected_for_five_seconds_after_a_batch(team: Team, transact: Transact) -> None:
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        seal_all(transact)
        await stream_once(team)
        entries = add_entries(team, 2)
        seal_all(transact)

        assert await stream_once(team) == []
        team.world.clock.advance(BATCH_EVERY)
        entries += add_entries(team, 1)
        seal_all(transact)
        await stream_once(team)

        team.world.clock.advance(timedelta(hours=1))
        entries += add_entries(team, 1)
        seal_all(transact)
        await stream_once(team)

    assert entries_of(receiver) == entries
    assert len(receiver.requests) == 3


async def test_the_options_reach_the_receivers(team: Team, transact: Transact) -> None:
    [entry] = add_entries(team, 1)
    async with receiving(splunk) as receiver:
        options = BEGINNING | {"index": "security", "source": "idp", "sourcetype": "idp:audit", "compress": False}
        await configure(team, provider="splunk", endpoint=receiver.url, options=options)
        seal_all(transact)
        await stream_once(team)

    document = receiver.documents[entry]
    assert (document["index"], document["source"], document["sourcetype"]) == ("security", "idp", "idp:audit")
    assert document["time"] == team.world.clock().timestamp()
    assert "content-encoding" not in receiver.requests[0].headers

    async with receiving(INTERFACES["datadog"]) as receiver:
        tags = {"service": "idp", "tags": ["a:b", "c"]}
        await configure(team, provider="datadog", endpoint=f"{receiver.url}/api/v2/logs", options=tags)
        seal_all(transact)
        team.world.clock.advance(BATCH_EVERY)
        await stream_once(team)

    [document] = receiver.documents.values()
    assert (document["service"], document["ddtags"], document["ddsource"]) == ("idp", "a:b,c", "gatehouse")


@pytest.mark.parametrize("change", ["suspended", "disabled"])
async def test_a_stream_stops_while_its_organization_or_itself_is_inactive_and_goes_on_afterwards(
    team: Team, transact: Transact, change: str
) -> None:
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        entries = add_entries(team, 2)
        seal_all(transact)
        if change == "suspended":
            team.world.set_organization_status(team.organization_id, "suspended")
        else:
            assert (await configure(team, endpoint=receiver.url, enabled=False)).json["status"] == "disabled"

        team.world.clock.advance(timedelta(days=1))
        team.tokens.clear()
        assert await stream_once(team) == []

        if change == "suspended":
            team.world.set_organization_status(team.organization_id, "active")
        else:
            await configure(team, endpoint=receiver.url)
        await stream_once(team)

    assert entries_of(receiver) == entries


async def test_entries_that_are_sealed_while_a_batch_is_sent_make_the_stream_due_again(
    team: Team, transact: Transact
) -> None:
    database = team.world.installation.database
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        seal_all(transact)
        [stream] = await database.transact(siem_stream.lease, 10)
        batch = await database.read(siem_stream.next_batch, stream)
        entries = add_entries(team, 1)
        seal_all(transact)
        receipt = await team.world.installation.siem_sender.send(stream.target, batch.events)
        await database.transact(siem_stream.record, stream, batch, receipt)

        team.world.clock.advance(BATCH_EVERY)
        await stream_once(team)

    assert entries_of(receiver) == entries


async def test_the_streamer_sends_what_is_due_and_drains(team: Team, transact: Transact) -> None:
    installation = team.world.installation
    streamer = SiemStreamer(
        database=installation.database,
        mailboxes=RecordedMailboxes(),
        sender=installation.siem_sender,
        clock=team.world.clock,
        metrics=installation.metrics,
    )
    entries = add_entries(team, 3)
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, options=BEGINNING)
        seal_all(transact)

        with trio.fail_after(END_SECONDS_MAX):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(streamer.run)
                await receiver.got_some.wait()
                streamer.box.send(Drain())

    assert entries_of(receiver) == entries
    assert (await show(team))["lag"] == 0
    assert f'sso_job_processing_duration_seconds_count{{job_type="{SiemStreamer.job_type}"}} 1.0' in (
        installation.metrics.exposition().decode()
    )
