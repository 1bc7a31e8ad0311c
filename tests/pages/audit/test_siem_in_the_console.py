"""The page of the SIEM in the console: the receiver, a test, pausing, sending entries again, and deleting it."""

from __future__ import annotations

import re
from datetime import timedelta

from tests.application import Answer
from tests.shown_text import shows
from tests.siem_receivers import TOKEN
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/organizations/acme/siem"
ENDPOINT = "https://siem.example.com/ingest"


async def save(ann: Visitor, page: Answer, **fields: str) -> Answer:
    """Save the form of a page."""
    return await ann.submit(page, PAGE, {"siem_token": "", "index": "", "endpoint": ENDPOINT, **fields})


async def test_the_receiver_is_chosen_set_paused_and_deleted(people: Team, ann: Visitor) -> None:
    chosen = await ann.open(f"{PAGE}?provider=splunk")
    refused = await save(ann, chosen, endpoint="http://10.0.0.1/")
    saved = await save(ann, chosen, siem_token=TOKEN)
    paused = await ann.submit(saved, f"{PAGE}/pause")
    resumed = await ann.submit(paused, f"{PAGE}/resume")
    asked = await ann.open(f"{PAGE}/delete")
    deleted = await ann.submit(asked, f"{PAGE}/delete")

    assert "HTTP Event Collector" in chosen.text
    assert refused.status == 400
    assert 'value="http://10.0.0.1/"' in refused.text
    assert "The receiver is saved." in saved.text
    assert TOKEN not in saved.text
    assert "The stream is paused." in paused.text
    assert "The stream goes on where it was." in resumed.text
    assert "The token of the receiver is deleted here." in asked.text
    assert "The receiver is deleted." in deleted.text
    assert (await people.request("ann", "GET", "/siem")).status == 404
    assert (await ann.open(f"{PAGE}/delete")).status == 404
    assert (await ann.open(f"{PAGE}/restart")).status == 404
    assert (await ann.submit(saved, f"{PAGE}/pause")).status == 404
    assert (await people.request("ann", "POST", "/siem/restart", body={})).status == 404


async def test_a_hidden_query_and_what_is_not_shown_stay(people: Team, ann: Visitor) -> None:
    body = {
        "provider": "http",
        "endpoint": f"{ENDPOINT}?key=a-secret",
        "include": ["audit"],
        "event_filter": ["user."],
        "enabled": False,
    }
    await people.request("ann", "POST", "/siem", body=body)

    page = await ann.open(PAGE)
    await save(ann, page, index="main")

    assert not shows(page.text, "a-secret")
    present = (await people.request("ann", "GET", "/siem")).json
    assert (present["endpoint"], present["event_filter"], present["enabled"]) == (
        *(f"{ENDPOINT}?key=a-secret", ["user."], False),
    )


async def test_a_form_on_an_older_state_is_refused(people: Team, ann: Visitor, world: World) -> None:
    await people.request("ann", "POST", "/siem", body={"provider": "http", "endpoint": ENDPOINT})
    page, asked, again = [await ann.open(f"{PAGE}{part}") for part in ("", "/delete", "/restart")]
    world.clock.advance(timedelta(minutes=1))
    await people.request("ann", "POST", "/siem", body={"provider": "http", "endpoint": f"{ENDPOINT}/other"})

    refused = [
        await save(ann, page, endpoint="https://mine.example.com/"),
        *[await ann.submit(shown, f"{PAGE}/{part}") for shown, part in ((page, "pause"), (asked, "delete"))],
        await ann.submit(again, f"{PAGE}/restart"),
    ]

    assert [answer.status for answer in refused] == [409] * 4
    assert 'value="https://mine.example.com/"' in refused[0].text


async def test_entries_are_sent_again_since_a_moment(people: Team, ann: Visitor, world: World) -> None:
    await people.request("ann", "POST", "/siem", body={"provider": "http", "endpoint": ENDPOINT})

    odd = await ann.open(f"{PAGE}/restart?since=yesterday")
    whole = await ann.open(f"{PAGE}/restart")
    asked = await ann.open(f"{PAGE}/restart?since=2026-02-03")
    done = await ann.submit(asked, f"{PAGE}/restart")
    by_program = await people.request("ann", "POST", "/siem/restart", body={})
    beyond = await people.request("ann", "POST", "/siem/restart", body={"since": "0001-01-01T00:00:00+14:00"})
    assert beyond.status == 400

    assert odd.status == 400
    assert "The whole log:" in whole.text
    assert "since then." in asked.text
    assert "The entries are sent again" in done.text
    assert (by_program.status, by_program.json["cursor"]) == (200, 0)
    details = [one for (one,) in world.audit_entries("siem.configured", "details")]
    assert [one.get("restarted_from") for one in details] == [None, "2026-02-03T00:00:00Z", "beginning"]


async def test_who_does_not_read_the_audit_log_sees_what_is_closed(people: Team, visitor: Visitor) -> None:
    people.custom_role("integrator", "integrations.manage")
    people.add("eve", "integrator")
    await people.request("ann", "POST", "/siem", body={"provider": "http", "endpoint": ENDPOINT})
    await visitor.sign_in("eve@example.com")

    page = await visitor.open(PAGE)

    assert "audit_logs.view" in page.text
    assert f"{PAGE}/pause" not in {form.action for form in forms_of(page)}
    assert re.search(r"<button[^>]* disabled[^>]*>Pause", page.text)
    assert (await visitor.open(f"{PAGE}/restart")).status == 403


async def test_a_stream_that_an_undone_takeover_switched_off_says_why_and_what_to_do(
    people: Team, ann: Visitor, world: World
) -> None:
    await save(ann, await ann.open(f"{PAGE}?provider=splunk"), siem_token=TOKEN)
    world.connection.execute("UPDATE siem_streams SET enabled = false, off_reason = 'email_change_undone'")

    english = await ann.open(PAGE)
    ann.headers["Accept-Language"] = "de"
    german = await ann.open(PAGE)

    assert "a change of its address was undone. Check where it leads before you switch it on." in english.text
    assert "Prüfen Sie, wohin es führt, bevor Sie es einschalten." in german.text
