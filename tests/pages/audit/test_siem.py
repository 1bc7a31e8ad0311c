"""Setting up the stream to a SIEM with a setup link."""

from __future__ import annotations

import re

import pytest

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.siem_receivers import TOKEN, json_lines, receiving
from tests.world.setups import Setups

SIEM = "/app/setup/parts/siem"
DELETE = "/app/setup/parts/siem/delete"
TEST = "/app/setup/parts/siem/test"
ENDPOINT = "https://siem.example.com/ingest"


async def save(setups: Setups, **fields: str) -> Answer:
    """Save the form of the page."""
    given = {"siem_provider": "http", "endpoint": ENDPOINT, "siem_token": "", "index": ""}
    filled = given | fields
    kind = filled["siem_provider"] if filled["siem_provider"] != "another" else "http"
    return await setups.visitor.submit(await setups.open(f"siem?provider={kind}"), SIEM, filled)


async def test_the_holder_sets_the_receiver_and_all_is_recorded_under_the_link(setups: Setups) -> None:
    link = await setups.create("siem")
    await setups.begin(link)

    saved = await save(setups, siem_provider="splunk", siem_token=TOKEN, index="main")

    assert "HTTP Event Collector" in saved.text
    assert not shows(saved.text, "Kibana")
    assert TOKEN not in saved.text
    configured = (await setups.team.request("owner", "GET", "/siem")).json
    assert (configured["provider"], configured["endpoint"], configured["has_token"]) == ("splunk", ENDPOINT, True)
    assert configured["options"]["index"] == "main"
    assert [one["provider"] for one in setups.recorded(link, "siem.configured")] == ["splunk"]


async def test_what_the_page_does_not_show_stays(setups: Setups) -> None:
    await setups.team.request(
        "owner",
        "POST",
        "/siem",
        body={
            "provider": "datadog",
            "endpoint": f"{ENDPOINT}?key=a-secret-of-the-receiver",
            "token": TOKEN,
            "options": {"tags": ["env:prod"], "service": "id"},
            "event_filter": ["user."],
        },
    )
    await setups.begin(await setups.create("siem"))

    page = await setups.open("siem")
    await save(setups, siem_provider="datadog")

    assert "a-secret-of-the-receiver" not in page.text
    configured = (await setups.team.request("owner", "GET", "/siem")).json
    assert (configured["has_token"], configured["event_filter"]) == (True, ["user."])
    assert (configured["options"]["tags"], configured["options"]["service"]) == (["env:prod"], "id")


async def test_problems_are_shown_at_their_fields(setups: Setups, subtests: pytest.Subtests) -> None:
    await setups.begin(await setups.create("siem"))
    unknown = await save(setups, siem_provider="another")
    assert (unknown.status, "Choose one of the receivers." in unknown.text) == (400, True)

    for field, fields in (
        *(("endpoint", {"endpoint": url}) for url in ("", "https://siem.example.com:0/")),
        ("siem_token", {"siem_provider": "splunk"}),
    ):
        with subtests.test(field=field, fields=fields):
            refused = await save(setups, **fields)

            assert refused.status == 400
            assert f'id="{field}-problem"' in refused.text


async def test_the_page_says_what_the_receiver_answered(setups: Setups) -> None:
    link = await setups.create("siem")
    await setups.begin(link)
    early = await setups.visitor.post(TEST, {"form_token": form_token(await setups.open("siem?provider=http"))})
    async with receiving(json_lines) as receiver:
        page = await save(setups, endpoint=receiver.url, siem_token=TOKEN)
        taken = await setups.visitor.submit(page, TEST)
        receiver.failures = [(503, b"")]
        refused = await setups.visitor.submit(page, TEST)

    [event] = receiver.entries
    assert early.status == 200
    assert (event["action"], event["actor"]["id"]) == ("siem.test", f"setup_link:{link['id']}")
    assert len(setups.recorded(link, "siem.tested")) == 2
    assert "The receiver took the test event." in taken.text
    assert "The receiver answered 503: nothing." in refused.text
    assert TOKEN not in refused.text


async def test_the_stream_is_deleted_once_by_a_page_that_says_what_ends(setups: Setups) -> None:
    link = await setups.create("siem")
    await setups.begin(link)
    without = await setups.open("siem/delete")
    saved = await save(setups, endpoint=f"{ENDPOINT}?key=a-secret-of-the-receiver", siem_token=TOKEN)
    page = await setups.open("siem/delete")

    async def delete() -> Answer:
        return await setups.visitor.submit(page, DELETE, is_followed=False)

    answers = await at_once(delete, delete)

    assert without.status == 404
    assert f'href="{DELETE}"' in saved.text
    assert re.search(r"\d+ entr(y|ies) that waits? to be sent", page.text.replace("One entry", "1 entry"))
    assert "a-secret-of-the-receiver" not in page.text
    assert statuses_of(answers) == [303, 404]
    assert "There is no receiver of the audit log" in "".join(answer.text for answer in answers)
    assert (await setups.team.request("owner", "GET", "/siem")).status == 404
    assert len(setups.recorded(link, "siem.removed")) == 1


async def test_only_the_page_of_the_holder_of_a_link_with_that_part_deletes(setups: Setups) -> None:
    await setups.begin(await setups.create("siem"))
    await save(setups)
    await setups.visitor.post(DELETE, {})
    link = await setups.create("domain")
    await setups.begin(link)

    foreign = await setups.visitor.post(DELETE, {"form_token": form_token(await setups.open("domain"))})

    assert [foreign.status, (await setups.open("siem/delete")).status] == [404, 404]
    assert (await setups.team.request("owner", "GET", "/siem")).status == 200


def form_token(page: Answer) -> str:
    """Return the token of the forms of a page."""
    return page.text.partition('name="form_token" value="')[2].partition('"')[0]
