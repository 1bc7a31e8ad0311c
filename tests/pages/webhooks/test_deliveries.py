"""The pages of deliveries: finding them, one with its attempts, and sending again one, the chosen, and all failed."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from core.errors import BadRequest
from core.webhooks.delivery_log import AskedDeliveries, DeliveryState, search_of
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.receiver import Receiver
from tests.statements import recorded_statements
from tests.world.hooks import Hooks
from tests.world.visitor import FORM, Visitor, forms_of
from tests.world.world import World

PAGE = "/app/organizations/acme/webhooks"
FAILURE = b"HTTP/1.1 500 No\r\nContent-Length: 30\r\n\r\n<b onclick=alert(1)>help</b>!!"
HOSTILE = "<script>alert(1)</script>"


async def fail(hooks: Hooks, webhook_id: str, count: int = 1) -> list[str]:
    """Send tests that fail for good; return the ids of their deliveries."""
    ids = [await hooks.test(webhook_id) for _ in range(count)]
    for hours in (0, 1, 1, 3, 3):
        await hooks.send_after(timedelta(hours=hours))
    return ids


def rows_of(page: Answer) -> list[str]:
    """List the boxes of a page."""
    return re.findall(r'type="checkbox" name="rows" value="([^"]+)"', page.text)


async def send(visitor: Visitor, page: Answer, rows: list[str], path: str = "") -> Answer:
    """Send the form of a list with these rows."""
    [form] = [form for form in forms_of(page) if "/deliveries" in form.action]
    sent = [("form_token", form.fields["form_token"]), *(("rows", row) for row in rows)]
    answer = await visitor.send(
        "POST", path or form.action, data=urlencode(sent).encode(), headers={"Content-Type": FORM}
    )
    return await visitor.open(answer.headers["Location"]) if answer.status == 303 else answer


async def test_a_delivery_shows_each_attempt_with_what_was_sent_and_answered(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    delivery_id = await hooks.test(webhook_id)
    waiting = await owner.open(f"{PAGE}/{webhook_id}/deliveries/{delivery_id}")
    receiver.answers(FAILURE)
    await hooks.send()
    receiver.answers(b"HTTP/1.1 204 Fine\r\nContent-Length: 0\r\n\r\n")
    await hooks.send_after(timedelta(minutes=2))

    page = await owner.open(f"{PAGE}/{webhook_id}/deliveries/{delivery_id}")

    assert "It was not attempted yet." in waiting.text
    assert page.text.index('id="attempt-2"') < page.text.index('id="attempt-1"')
    assert "The receiver answered 500." in page.text
    assert "The answer had no body." in page.text
    assert "&lt;b onclick=alert(1)&gt;help" in page.text
    signature = receiver.received[1].headers["webhook-signature"]
    assert signature.replace("+", "&#43;") in page.text or signature in page.text
    assert hooks.secrets[webhook_id] not in page.text
    assert receiver.received[0].headers["webhook-id"] in page.text


async def test_the_overview_leads_to_what_is_tried_again_and_to_what_is_lost(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    overview = PAGE.removesuffix("/webhooks")
    receiver.answers(FAILURE)
    await hooks.test(webhook_id)
    untried = await owner.open(overview)
    await hooks.send()
    tried = await owner.open(overview)
    receiver.answers(b"HTTP/1.1 204 Fine\r\nContent-Length: 0\r\n\r\n")
    await hooks.send_after(timedelta(minutes=2))
    arrived = await owner.open(overview)
    receiver.answers(FAILURE)
    await fail(hooks, webhook_id)
    lost = await owner.open(overview)
    await hooks.test(webhook_id)
    await hooks.send()
    both = await owner.open(overview)

    again = "The webhook hook could not deliver, and tries again."
    assert [again in page.text for page in (untried, tried, arrived, lost, both)] == [False, True, False, False, False]
    assert f'href="{PAGE}/{webhook_id}">See what the receiver answers' in tried.text
    for page in (lost, both):
        assert "The webhook hook lost deliveries in the last 24 hours." in page.text
        assert f'href="{PAGE}/{webhook_id}/deliveries?state=failed"' in page.text


async def test_an_event_with_hostile_content_is_shown_as_text(hooks: Hooks, owner: Visitor, receiver: Receiver) -> None:
    webhook_id = await hooks.create(receiver.url, "user.invited")
    hooks.publish(HOSTILE + "x" * 10_000)
    await hooks.send()
    [delivery] = await hooks.deliveries(webhook_id)

    page = await owner.open(f"{PAGE}/{webhook_id}/deliveries/{delivery['id']}")

    assert HOSTILE not in page.text
    assert "&lt;script&gt;" in page.text
    assert len(page.text) < 40 * 1024


async def test_deliveries_are_found_by_state_event_and_time(hooks: Hooks, owner: Visitor, receiver: Receiver) -> None:
    webhook_id = await hooks.create(receiver.url, "user.invited", "webhook.test")
    await hooks.test(webhook_id)
    hooks.publish("a")
    await hooks.send()
    receiver.answers(FAILURE)
    await fail(hooks, webhook_id)
    await hooks.test(webhook_id)
    page = f"{PAGE}/{webhook_id}/deliveries"

    async def total(**query: str) -> str:
        found = await owner.open(f"{page}?{urlencode(query)}")
        return re.findall(r'<p class="total">([^<]+)</p>', found.text)[0]

    assert await total() == "4 found"
    assert await total(state="delivered") == "2 found"
    assert await total(state="failed") == "One found"
    assert await total(state="waiting") == "One found"
    assert await total(event="user.invited") == "One found"
    assert await total(event=HOSTILE) == "0 found"
    assert await total(state="no such") == "4 found"
    assert await total(since="2026-02-03 05:00") == "One found"
    assert await total(until="2026-02-03 05:00") == "3 found"
    assert await total(after="damaged") == "4 found"
    refused = await owner.open(f"{page}?since=yesterday&state=failed")
    assert refused.status == 400
    assert 'value="yesterday"' in refused.text
    file = await owner.open(f"{page}/deliveries.csv?state=failed")
    assert file.text.splitlines()[0] == "id,event,created,state,attempts,status,error,next_attempt"
    assert file.text.splitlines()[1].split(",")[3:6] == ["failed", "5", "500"]


async def test_the_list_goes_on_after_its_last_row(hooks: Hooks, owner: Visitor) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/")
    made = [await hooks.test(webhook_id) for _ in range(30)]

    first = await owner.open(f"{PAGE}/{webhook_id}/deliveries")
    second = await owner.follow(first, f"{PAGE}/{webhook_id}/deliveries")
    [next_page] = re.findall(r'href="([^"]+after=[^"]+)">Next', first.text)
    second = await owner.open(next_page.replace("&amp;", "&"))

    assert "30 found" in first.text
    shown = [row.partition(" ")[0] for page in (first, second) for row in rows_of(page)]
    assert sorted(shown) == sorted(made)


async def test_a_delivery_is_sent_again_once_also_by_two_admins_at_once(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    receiver.answers(FAILURE)
    [delivery_id] = await fail(hooks, webhook_id)
    receiver.answers(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    path = f"{PAGE}/{webhook_id}/deliveries/{delivery_id}"
    page = await owner.open(path)
    before = len(receiver.received)
    hooks.team.world.clock.advance(timedelta(seconds=1))

    answers = await at_once(*[lambda: owner.submit(page, f"{path}/redeliver")] * 2)
    await hooks.send()

    assert statuses_of(answers) == [200, 409]
    assert len(receiver.received) == before + 1
    [refused] = [answer for answer in answers if answer.status == 409]
    assert "This delivery was sent or queued again meanwhile." in refused.text
    assert "Arrived" in (await owner.open(path)).text


async def test_the_chosen_deliveries_are_sent_again_each_with_its_result(
    hooks: Hooks, owner: Visitor, receiver: Receiver, world: World
) -> None:
    webhook_id = await hooks.create(receiver.url)
    other = await hooks.create(receiver.url, name="other")
    receiver.answers(FAILURE)
    await fail(hooks, webhook_id, 2)
    [elsewhere] = await fail(hooks, other)
    # The session has ended meanwhile.
    await owner.sign_in("owner@example.com")
    page = await owner.open(f"{PAGE}/{webhook_id}/deliveries?state=failed&choose=all")
    rows = rows_of(page)

    world.clock.advance(timedelta(seconds=1))
    mixed = await send(owner, page, [rows[0], f"{elsewhere} ", f"{uuid4()} "])
    stale = await send(owner, page, rows)
    damaged = await send(owner, page, ["nonsense 2026"])
    none = await send(owner, page, [])
    many = await send(owner, page, [f"{uuid4()} " for _ in range(101)])
    ten_thousand = await send(owner, page, [f"{uuid4()} " for _ in range(10_000)])

    assert len(re.findall(r"name=\"rows\"[^>]* checked>", page.text)) == 2
    assert mixed.status == 200
    assert mixed.text.count("This webhook has no such delivery.") == 2
    assert mixed.text.count(">Sent again<") == 1
    assert stale.text.count("This delivery was sent or queued again meanwhile.") == 1
    assert (damaged.status, none.status, many.status) == (400, 400, 400)
    assert "Choose at most 100 deliveries at once." in many.text
    assert ten_thousand.status == 413
    foreign = await send(owner, page, rows, f"{PAGE}/{uuid4()}/deliveries")
    assert foreign.status == 404
    states = dict(world.rows("SELECT id::text, next_retry_at IS NOT NULL FROM webhook_deliveries"))
    assert states == {rows[0].partition(" ")[0]: True, rows[1].partition(" ")[0]: True, elsewhere: False}


async def test_a_member_who_may_not_change_webhooks_sends_nothing_again(
    hooks: Hooks, owner: Visitor, receiver: Receiver, world: World
) -> None:
    webhook_id = await hooks.create(receiver.url)
    receiver.answers(FAILURE)
    await fail(hooks, webhook_id)
    page = await owner.open(f"{PAGE}/{webhook_id}/deliveries?state=failed")
    rows = rows_of(page)
    world.connection.execute("UPDATE memberships SET role = 'member' WHERE user_id = %s", (hooks.team.ids["owner"],))

    refused: list[Answer] = []
    statements: list[int] = []
    for chosen in (rows, [], ["nonsense 2026"], [f"{uuid4()} " for _ in range(100)]):
        with recorded_statements() as recorded:
            refused.append(await send(owner, page, chosen))
        statements.append(len(recorded))

    # The right is asked for before the deliveries, so that a hundred cost no more than one.
    assert statuses_of(refused) == [403] * 4
    assert len({*statements}) == 1, statements
    assert world.value("SELECT count(*) FROM webhook_deliveries WHERE next_retry_at IS NOT NULL") == 0


async def test_all_that_failed_since_a_moment_is_sent_again_after_its_number_was_shown(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    receiver.answers(FAILURE)
    await fail(hooks, webhook_id, 2)
    await fail(hooks, webhook_id)
    # The session has ended meanwhile.
    await owner.sign_in("owner@example.com")
    path = f"{PAGE}/{webhook_id}/deliveries/failed"

    all_failed = await owner.open(path)
    asked = await owner.open(f"{path}?since=2026-02-03 05:00".replace(" ", "%20"))
    odd = await owner.open(f"{path}?since=9999-99-99")
    done = await owner.submit(asked, path)

    assert "3 deliveries have failed for good." in all_failed.text
    assert "One delivery has failed for good." in asked.text
    assert odd.status == 400
    assert "The deliveries are sent again" in done.text
    assert "One found" in done.text
    assert (await owner.submit(asked, path, since="")).status == 400
    nothing = await owner.open(f"{path}?since=2027-01-01")
    assert "No delivery has failed for good since then." in nothing.text


async def test_a_webhook_that_is_deleted_meanwhile_is_not_there(
    hooks: Hooks, owner: Visitor, receiver: Receiver
) -> None:
    webhook_id = await hooks.create(receiver.url)
    delivery_id = await hooks.test(webhook_id)
    path = f"{PAGE}/{webhook_id}/deliveries"
    listed, page, failed = await owner.open(path), await owner.open(f"{path}/{delivery_id}"), f"{path}/failed"
    await hooks.request("DELETE", f"/{webhook_id}")

    assert (await owner.submit(page, f"{path}/{delivery_id}/redeliver")).status == 404
    assert (await send(owner, listed, rows_of(listed))).status == 404
    assert (await owner.post(failed, {**forms_of(page)[-1].fields, "since": "2026-01-01"})).status == 404


async def test_a_delivery_of_another_webhook_or_organization_is_not_there(
    hooks: Hooks, owner: Visitor, world: World
) -> None:
    webhook_id = await hooks.create("https://hooks.example.com/")
    other = world.team("globex")
    other.add("olga", "owner")
    body = {"name": "x", "url": "https://x.example.com/", "events": ["webhook.test"]}
    foreign_hook = (await other.request("olga", "POST", "/webhooks", body=body)).json["id"]
    foreign = (await other.request("olga", "POST", f"/webhooks/{foreign_hook}/test")).json["delivery_id"]
    own = await hooks.test(webhook_id)
    page = await owner.open(f"{PAGE}/{webhook_id}/deliveries/{own}")
    second = await hooks.create("https://hooks.example.com/", name="second")

    for hook, delivery in ((webhook_id, foreign), (foreign_hook, foreign), (second, own)):
        path = f"{PAGE}/{hook}/deliveries/{delivery}"
        assert (await owner.open(path)).status == 404
        assert (await owner.post(f"{path}/redeliver", forms_of(page)[-1].fields)).status == 404


async def test_attempts_before_they_were_kept_show_the_last_answer(
    hooks: Hooks, owner: Visitor, receiver: Receiver, world: World
) -> None:
    webhook_id = await hooks.create(receiver.url)
    receiver.answers(FAILURE)
    [delivery_id] = await fail(hooks, webhook_id)
    world.connection.execute("DELETE FROM webhook_attempts")

    page = await owner.open(f"{PAGE}/{webhook_id}/deliveries/{delivery_id}")

    assert "Its attempts were made before each was kept." in page.text
    assert "The receiver answered 500." in page.text


async def test_an_attempt_keeps_no_secret(hooks: Hooks, receiver: Receiver, world: World) -> None:
    await hooks.create(receiver.url)
    webhook_id = (await hooks.request("GET")).json["webhooks"][0]["id"]
    await hooks.test(webhook_id)
    await hooks.send()

    [(body,)] = world.rows("SELECT response_body FROM webhook_attempts")
    [(headers,)] = world.rows("SELECT request_headers FROM webhook_attempts")

    assert body == "fine"
    assert set(headers) == {
        *("Content-Type", "User-Agent", "webhook-id", "webhook-timestamp", "webhook-signature"),
    }
    assert hooks.secrets[webhook_id] not in json.dumps(headers)


def test_a_search_takes_known_states_and_times_alone() -> None:
    assert search_of(AskedDeliveries(state="failed")).state is DeliveryState.FAILED
    assert search_of(AskedDeliveries(state=HOSTILE)).state is None
    with pytest.raises(BadRequest) as refused:
        search_of(AskedDeliveries(since="x", until="y"))
    assert [detail.field for detail in refused.value.details] == ["since", "until"]
