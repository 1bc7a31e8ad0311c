"""The pages of webhooks: creating one, its health, its settings, a new secret, and deleting it."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from urllib.parse import urlencode
from uuid import uuid4

from core.events.events import EventType
from entrypoints.pages.events.events import GROUPS
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.pages.copied import copied
from tests.receiver import Receiver
from tests.shown_text import shows
from tests.world.hooks import Hooks
from tests.world.visitor import FORM, Visitor, forms_of
from tests.world.world import World

PAGE = "/app/organizations/acme/webhooks"
FAILURE = b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nhelp"
NEW = {"name": "x", "url": "https://x.example.com/", "events": "user.joined"}
HOSTILE = "<script>alert(1)</script>"


async def send(visitor: Visitor, page: Answer, action: str, **fields: str | list[str]) -> Answer:
    """Send the form of a page with these fields in place of its own; those with several values have boxes."""
    [form] = [form for form in forms_of(page) if form.action == action]
    sent = {**form.fields, **fields}
    data = urlencode(sent, doseq=True).encode()
    answer = await visitor.send("POST", action, data=data, headers={"Content-Type": FORM})
    return await visitor.open(answer.headers["Location"]) if answer.status == 303 else answer


def secret_of(page: Answer) -> str:
    """Return the secret that a page shows."""
    return copied(page, "secret")


async def test_an_empty_list_shows_a_receiver_and_leads_to_creating_one(owner: Visitor) -> None:
    page = await owner.open(PAGE)

    assert "There is no webhook yet." in page.text
    assert "webhook-signature" in page.text
    assert f'href="{PAGE}/new"' in page.text


async def test_a_page_shows_programs_its_own_call_and_those_of_its_forms(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/")
    webhooks = "http://localhost:8000/api/organizations/acme/webhooks"

    for path, calls in (
        (PAGE, [f"curl {webhooks}", f"curl -X POST {webhooks}"]),
        (f"{PAGE}/{webhook_id}", [f"curl {webhooks}/{webhook_id}", f"curl -X POST {webhooks}/{webhook_id}/test"]),
    ):
        page = await owner.open(path)
        foot = page.text.partition('class="more program"')[2]
        assert re.findall(r"curl [^\\]+(?= )", foot) == calls
        assert "These calls of the interface do the same." in foot


async def test_a_webhook_is_created_and_its_secret_is_shown_once(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    asked = await owner.open(f"{PAGE}/new")

    created = await send(
        owner, asked, f"{PAGE}/new", name=HOSTILE, url=receiver.url, events=["user.invited", "webhook.test"]
    )

    secret = secret_of(created)
    assert created.headers["Cache-Control"] == "no-store"
    assert HOSTILE not in created.text
    [webhook] = (await hooks.request("GET")).json["webhooks"]
    assert (webhook["name"], webhook["events"]) == (HOSTILE, ["user.invited", "webhook.test"])
    for path in (PAGE, f"{PAGE}/{webhook['id']}", f"{PAGE}/{webhook['id']}/change", f"{PAGE}/{webhook['id']}/secret"):
        page = await owner.open(path)
        assert page.status == 200
        assert secret not in page.text
        assert HOSTILE not in page.text


async def test_what_was_typed_stays_with_the_problem_of_each_field(owner: Visitor) -> None:
    asked = await owner.open(f"{PAGE}/new")

    refused = await send(owner, asked, f"{PAGE}/new", name="", url="http://10.0.0.1/x", events=["no.such"])
    nothing = await send(owner, asked, f"{PAGE}/new", name="crm", url="https://crm.example.com/")

    assert refused.status == 400
    assert 'value="http://10.0.0.1/x"' in refused.text
    assert all(f'id="{name}-problem"' in refused.text for name in ("name", "url", "events"))
    assert "Name at least one event type." in nothing.text


async def test_every_event_type_is_offered_in_one_group(owner: Visitor) -> None:
    page = await owner.open(f"{PAGE}/new")

    offered = re.findall(r'name="events" type="checkbox" value="([^"]+)"', page.text)
    assert sorted(offered) == sorted(event.value for event in EventType)
    assert len({title for title, _ in GROUPS}) == len(GROUPS)


async def test_the_numbers_of_the_day_agree_with_the_deliveries_behind_them(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    await hooks.test(webhook_id)
    await hooks.send()
    hooks.team.world.clock.advance(timedelta(hours=1))
    hooks.team.tokens.clear()
    receiver.answers(FAILURE)
    await hooks.test(webhook_id)
    for hours in (0, 1, 1, 3, 3):
        await hooks.send_after(timedelta(hours=hours))

    page = await owner.open(f"{PAGE}/{webhook_id}")
    listed = await owner.open(PAGE)

    assert "50.0 %" in page.text
    assert "50.0 %" in listed.text
    assert "The receiver answered 500." in listed.text
    bars = [unescape(href) for href in re.findall(r'<a href="([^"]+)"><title>2026', page.text)]
    assert [re.findall(r"state=(\w+)", bar) for bar in bars] == [["delivered"], ["failed"]]
    for bar in bars:
        assert "One found" in (await owner.open(bar)).text


async def test_a_webhook_whose_four_tries_failed_is_failing_and_they_count_before_the_last_one(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    await hooks.test(webhook_id)
    await hooks.send()
    receiver.answers(FAILURE)
    await hooks.test(webhook_id)
    for minutes in (0, 2, 6, 35):
        await hooks.send_after(timedelta(minutes=minutes))

    shown, settings, listed = [
        await owner.open(page) for page in (f"{PAGE}/{webhook_id}", f"{PAGE}/{webhook_id}/change", PAGE)
    ]

    assert [delivery["attempt_count"] for delivery in await hooks.deliveries(webhook_id)] == [4, 1]
    for page in (shown, settings, listed):
        assert ">Failing<" in page.text
        assert ">Active<" not in page.text
    assert "One delivery has failed, and is tried again." in shown.text
    assert "One is tried again" in listed.text
    for page in (shown, listed):
        assert "50.0 %" in page.text
        assert "100.0 %" not in page.text


async def test_groups_of_events_that_are_chosen_whole_are_one_line_each(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/", *(event.value for event in EventType))
    some = await hooks.create("https://some.example.com/", "user.joined", name="some")

    shown, settings = await owner.open(f"{PAGE}/{webhook_id}"), await owner.open(f"{PAGE}/{webhook_id}/change")
    partly = await owner.open(f"{PAGE}/{some}/change")

    people = [event for event in EventType if event.category == "User management"]
    assert f"<li>People: all {len(people)}</li>" in shown.text
    assert "<code>user.joined</code>" not in shown.text.partition('id="about"')[2]
    assert f'<span class="hint">All {len(people)}</span>' in settings.text
    assert '<details class="more" open>' not in settings.text.partition('id="events"')[2]
    assert len(re.findall(r'name="events" type="checkbox" value="[^"]+" checked>', settings.text)) == len(EventType)
    assert '<details class="more" open>' in partly.text.partition('id="events"')[2]


async def test_a_test_is_sent_as_an_event_of_any_type_to_this_webhook_alone(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    await hooks.create(receiver.url, "user.joined", name="other")
    page = await owner.open(f"{PAGE}/{webhook_id}")

    sent = await owner.submit(page, f"{PAGE}/{webhook_id}/test", event_type="user.joined")
    refused = await owner.submit(page, f"{PAGE}/{webhook_id}/test", event_type="no.such")
    await hooks.send()

    assert "The test is on its way." in sent.text
    assert refused.status == 400
    [received] = receiver.received
    assert (received.payload["event"], received.payload["data"]) == ("user.joined", {"is_test": True})
    assert received.payload["id"] == received.headers["webhook-id"]
    events = (await hooks.feed()).json["events"]
    tests = [event["data"] for event in events if event["event"] == "webhook.test"]
    assert [data["event_type"] for data in tests] == ["user.joined"]
    assert [event for event in events if event["event"] == "user.joined"] == []
    assert [delivery["event_type"] for delivery in await hooks.deliveries(webhook_id)] == ["user.joined"]


async def test_a_form_on_an_older_state_is_refused_and_keeps_what_was_typed(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/")
    change, delete = f"{PAGE}/{webhook_id}/change", f"{PAGE}/{webhook_id}/delete"
    seen, asked = await owner.open(change), await owner.open(delete)
    rotating = await owner.open(f"{PAGE}/{webhook_id}/secret")
    hooks.team.world.clock.advance(timedelta(minutes=1))
    await hooks.change(webhook_id, name="changed by another")

    refused = await send(owner, seen, change, name="mine", url="https://mine.example.com/", events=["user.joined"])
    paused = await owner.submit(seen, f"{PAGE}/{webhook_id}/pause")
    deleted = await owner.submit(asked, delete)
    rotated = await owner.submit(rotating, f"{PAGE}/{webhook_id}/secret")

    assert [page.status for page in (refused, paused, deleted, rotated)] == [409] * 4
    assert "Another person has changed this webhook meanwhile." in refused.text
    assert 'value="mine"' in refused.text
    assert 'value="user.joined" checked' in refused.text
    again = await send(owner, refused, change, name="mine", url="https://mine.example.com/", events=["user.joined"])
    assert "The webhook is saved." in again.text
    damaged = await owner.post(change, {**forms_of(seen)[-1].fields, "seen_at": "yesterday", **NEW})
    assert damaged.status == 409


async def test_a_paused_webhook_says_so_and_goes_on(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/")
    change = f"{PAGE}/{webhook_id}/change"

    paused = await owner.submit(await owner.open(change), f"{PAGE}/{webhook_id}/pause")
    overview = await owner.open(f"{PAGE}/{webhook_id}")
    active = await owner.submit(paused, f"{PAGE}/{webhook_id}/activate")

    assert "The webhook is paused." in paused.text
    assert "This webhook is paused, and receives nothing." in overview.text
    assert "The webhook is active." in active.text
    assert (await hooks.request("GET", f"/{webhook_id}")).json["is_active"] is True


async def test_of_two_rotations_at_once_one_shows_a_secret(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/")
    asked = await owner.open(f"{PAGE}/{webhook_id}/secret")
    hooks.team.world.clock.advance(timedelta(minutes=1))

    answers = await at_once(*[lambda: owner.submit(asked, f"{PAGE}/{webhook_id}/secret")] * 2)

    assert statuses_of(answers) == [200, 409]
    [rotated] = [answer for answer in answers if answer.status == 200]
    assert secret_of(rotated) != hooks.secrets[webhook_id]
    assert "The secret before it signs as well until" in rotated.text
    assert "Two secrets sign until" in (await owner.open(f"{PAGE}/{webhook_id}")).text
    assert "ends at once when you go on" in (await owner.open(f"{PAGE}/{webhook_id}/secret")).text


async def test_the_deletion_says_in_numbers_what_ends(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/?token=a-secret")
    for _ in range(2):
        await hooks.test(webhook_id)

    asked = await owner.open(f"{PAGE}/{webhook_id}/delete")
    deleted = await owner.submit(asked, f"{PAGE}/{webhook_id}/delete")

    assert "2 deliveries that wait are not sent any more." in asked.text
    assert "2 deliveries are deleted with all their answers." in asked.text
    assert not shows(asked.text, "a-secret")
    assert "The webhook and its deliveries are deleted." in deleted.text
    assert (await hooks.request("GET")).json["total"] == 0
    assert (await owner.submit(asked, f"{PAGE}/{webhook_id}/delete")).status == 404


async def test_a_webhook_of_another_organization_is_not_there(hooks: Hooks, owner: Visitor, world: World) -> None:
    other = world.team("globex")
    other.add("olga", "owner")
    answer = await other.request(
        "olga", "POST", "/webhooks", body={"name": "x", "url": "https://x.example.com/", "events": ["user.joined"]}
    )
    own = await owner.open(f"{PAGE}/{await hooks.create('https://hooks.example.com/')}/change")

    for webhook_id in (answer.json["id"], str(uuid4())):
        for part in ("", "/change", "/secret", "/delete", "/deliveries", "/deliveries/failed"):
            assert (await owner.open(f"{PAGE}/{webhook_id}{part}")).status == 404, part
        for part in ("/test", "/change", "/pause", "/activate", "/secret", "/delete"):
            fields = {**forms_of(own)[-1].fields, **NEW}
            assert (await owner.post(f"{PAGE}/{webhook_id}{part}", fields)).status == 404, part


async def test_all_event_types_or_all_of_a_group_are_chosen_by_one_box_without_scripts(
    hooks: Hooks, owner: Visitor, world: World, receiver: Receiver
) -> None:
    new = f"{PAGE}/new"
    asked = await owner.open(new)
    invitations = {event.value for event in EventType if event.category == "Invitations"}
    stored = "SELECT events FROM webhooks WHERE name = %s"

    await send(owner, asked, new, name="group", url=receiver.url, sets=["invitations"], events=["user.joined"])
    await send(owner, asked, new, name="everything", url=receiver.url, sets=["all"])
    refused = await send(owner, asked, new, name="nothing", url=receiver.url, sets=["no-group"])

    assert 'name="sets" type="checkbox" value="invitations"' in asked.text
    assert set(world.value(stored, "group")) == invitations | {"user.joined"}
    assert set(world.value(stored, "everything")) == {event.value for event in EventType}
    assert "Name at least one event type." in refused.text

    webhook_id = world.value("SELECT id FROM webhooks WHERE name = 'group'")
    page = f"{PAGE}/{webhook_id}/change"
    await send(owner, await owner.open(page), page, name="group", url=receiver.url, sets=["security"], events=[])
    security = {event.value for event in EventType if event.category == "Security"}
    assert set(world.value(stored, "group")) == security


async def test_a_webhook_that_an_undone_takeover_switched_off_says_why_and_what_to_do(
    hooks: Hooks, owner: Visitor, world: World, receiver: Receiver
) -> None:
    created = await send(
        owner, await owner.open(f"{PAGE}/new"), f"{PAGE}/new", name="x", url=receiver.url, events=["user.invited"]
    )
    assert created.status == 200
    webhook_id = world.value("SELECT id FROM webhooks")
    world.connection.execute("UPDATE webhooks SET is_active = false, off_reason = 'email_change_undone'")
    english = await owner.open(f"{PAGE}/{webhook_id}")
    owner.headers["Accept-Language"] = "de"
    german = await owner.open(f"{PAGE}/{webhook_id}")

    assert "a change of its address was undone. Check where it leads before you switch it on." in english.text
    assert "Prüfen Sie, wohin es führt, bevor Sie es einschalten." in german.text
    world.connection.execute("UPDATE webhooks SET off_reason = NULL")
    assert "Prüfen Sie, wohin es führt" not in (await owner.open(f"{PAGE}/{webhook_id}")).text


async def test_a_webhook_that_410_switched_off_says_when_and_why_on_its_pages_and_in_the_list(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    receiver.answers(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")
    webhook_id = await hooks.create(receiver.url)
    await hooks.test(webhook_id)
    await hooks.send()

    shown, settings, listed = [
        await owner.open(page) for page in (f"{PAGE}/{webhook_id}", f"{PAGE}/{webhook_id}/change", PAGE)
    ]

    for page in (shown, settings):
        assert re.search(r"The receiver answered 410 \(Gone\) on <time[^>]*2026-02-03T04:05[^>]*>", page.text)
    assert f'href="{PAGE}/{webhook_id}/change">Correct the address and activate the webhook</a>' in shown.text
    assert "This webhook is paused" not in shown.text
    assert "Switched off" in settings.text
    assert re.search(r"Switched off.*The receiver answered 410 \(Gone\)\. <time[^>]*2026-02-03T04:05", listed.text)
    assert not shows(listed.text, "Paused")

    await send(owner, settings, f"{PAGE}/{webhook_id}/activate")
    await send(owner, await owner.open(f"{PAGE}/{webhook_id}/change"), f"{PAGE}/{webhook_id}/pause")

    assert "This webhook is paused" in (await owner.open(f"{PAGE}/{webhook_id}")).text
