"""Setting up the stream to a SIEM with a setup link (decisions 13.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.siem_receivers import TOKEN, json_lines, receiving

if TYPE_CHECKING:
    import pytest

    from tests.application import Answer
    from tests.world.setups import Setups

SIEM = "/app/setup/parts/siem"
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
    assert "Kibana" not in saved.text
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


async def test_the_stored_token_goes_to_no_other_receiver(setups: Setups) -> None:
    await setups.begin(await setups.create("siem"))
    await save(setups, siem_token=TOKEN)

    await save(setups, endpoint="https://elsewhere.example.com/ingest")

    assert (await setups.team.request("owner", "GET", "/siem")).json["has_token"] is False


async def test_problems_are_shown_at_their_fields(setups: Setups, subtests: pytest.Subtests) -> None:
    await setups.begin(await setups.create("siem"))
    unknown = await save(setups, siem_provider="another")
    assert (unknown.status, "Choose one of the receivers." in unknown.text) == (400, True)

    for field, fields in (
        *(("endpoint", {"endpoint": url}) for url in ("", "ftp://siem.example.com/", "https://siem.example.com:0/")),
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


def form_token(page: Answer) -> str:
    """Return the token of the forms of a page."""
    return page.text.partition('name="form_token" value="')[2].partition('"')[0]
