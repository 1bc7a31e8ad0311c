"""Calls are sent with the credential, repeated where Gatehouse asks for it, and their refusals are typed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from drivers import Driver
from issuer import Issuer

from gatehouse_client import Feed, Refused, Unreachable, management, service
from gatehouse_client.calls import segment

USERS = "/api/service/users"
REFUSAL = {
    "error": "The address is not valid.",
    "error_code": "BAD_REQUEST",
    "details": [{"field": "email", "message": "no address"}],
    "request_id": "r1",
}


def items(driver: Driver, client: Any, call: Any) -> list[Any]:
    """Return what `pages` yields."""

    async def collect() -> list[Any]:
        return [item async for item in client.pages(call)]

    return driver.call(collect) if driver.is_async else list(client.pages(call))


def test_a_call_is_sent_with_its_credential_and_its_answer_returned(driver: Driver, issuer: Issuer) -> None:
    async def live_token() -> str:
        return "a token"

    issuer.answers[USERS] = lambda: (200, {"id": "u1", "email": "ann@example.com", "created_at": "x"}, {})
    issuer.answers["/api/service/users/a%2Fb"] = lambda: (204, None, {})

    for options, header in (
        ({"api_key": "key-of-the-engines"}, ("X-Api-Key", "key-of-the-engines")),
        ({"key": "gk_1"}, ("X-Api-Key", "gk_1")),
        ({"token": "t1"}, ("Authorization", "Bearer t1")),
        ({"token": live_token if driver.is_async else lambda: "a token"}, ("Authorization", "Bearer a token")),
    ):
        client = driver.make("Gatehouse", issuer.url, **options)
        answer = driver.call(client.send, service.add_user(email="ann@example.com"))
        assert answer["id"] == "u1"
        assert header in issuer.headers[-1].items() or header[0].lower() in map(str.lower, issuer.headers[-1])
        assert json.loads(issuer.bodies[-1]) == {"email": "ann@example.com"}
        assert "key-of-the-engines" not in repr(client)
    assert driver.call(client.send, service.remove_user("a/b")) is None
    with pytest.raises(TypeError, match="one of"):
        driver.make("Gatehouse", issuer.url, api_key="k", token="t")


def test_a_refusal_says_what_a_program_needs(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, api_key="k1")
    issuer.answers[USERS] = lambda: (400, REFUSAL, {"X-Request-Id": "r1"})

    with pytest.raises(Refused) as caught:
        driver.call(client.send, service.add_user(email="x"))

    refusal = caught.value
    assert (refusal.status, refusal.error_code, refusal.request_id) == (400, "BAD_REQUEST", "r1")
    assert [(detail.field, detail.message) for detail in refusal.details] == [("email", "no address")]
    issuer.answers[USERS] = lambda: (502, [], {})
    with pytest.raises(Unreachable, match="502"):
        driver.call(client.send, service.list_users())


def test_a_call_is_repeated_after_the_pause_that_gatehouse_asks_for(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, api_key="k1", wait_seconds_max=0.5)
    refused = 0

    def after_two(status: int, wait: str = "0") -> None:
        nonlocal refused
        refused = 0

        def answer() -> tuple[int, Any, dict[str, str]]:
            nonlocal refused
            refused += 1
            return (status, REFUSAL, {"Retry-After": wait}) if refused <= 2 else (200, {"users": [], "total": 0}, {})

        issuer.answers[USERS] = answer

    for status, call in (
        (429, service.list_users()),
        (429, service.add_user(email="x")),
        (503, service.list_users()),
    ):
        after_two(status)
        assert driver.call(client.send, call) == {"users": [], "total": 0}
    # One that changes something is not sent again after a 503, and none when it would take too long.
    for status, wait, call in ((503, "0", service.add_user(email="x")), (429, "1", service.list_users())):
        after_two(status, wait)
        with pytest.raises(Refused) as caught:
            driver.call(client.send, call)
        assert (caught.value.retry_after, refused) == (float(wait), 1)
    issuer.answers[USERS] = lambda: (429, REFUSAL, {"Retry-After": "0"})
    before = issuer.count(USERS)
    with pytest.raises(Refused):
        driver.call(client.send, service.list_users())
    assert issuer.count(USERS) == before + 4


def test_pages_are_read_to_the_end_in_each_form_of_paging(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, api_key="k1")
    members, people = "/api/organizations/acme/members", "/api/service/customers/c1/users"
    pages: dict[str, Any] = {
        f"{USERS}?limit=2": {"users": [1, 2], "total": 3},
        f"{USERS}?limit=2&offset=2": {"users": [3], "total": 3},
        members: {"members": [1, 2], "pagination": {"page": 1, "limit": 2, "total": 3}},
        f"{members}?page=2": {"members": [3], "pagination": {"page": 2, "limit": 2, "total": 3}},
        people: {"users": [{"id": "a"}, {"id": "b"}], "total": 3},
        f"{people}?after=b": {"users": [{"id": "c"}], "total": 3},
        f"{people}?after=c": {"users": [], "total": 3},
        "/api/organizations/acme/events": {"events": [1], "next_cursor": "x", "has_more": True},
        "/api/organizations/acme/events?after=x": {"events": [2], "next_cursor": "y", "has_more": False},
        "/api/organizations": [1, 2],
    }
    for path, answer in pages.items():
        issuer.answers[path] = lambda answer=answer: (200, answer, {})

    assert items(driver, client, service.list_users(limit=2)) == [1, 2, 3]
    assert items(driver, client, management.list_members("acme")) == [1, 2, 3]
    assert [one["id"] for one in items(driver, client, service.list_customer_users("c1"))] == ["a", "b", "c"]
    assert items(driver, client, management.read_events("acme")) == [1, 2]
    assert items(driver, client, management.list_organizations()) == [1, 2]


def test_a_customer_is_made_and_set_up_by_calls_of_the_key_of_a_service(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, api_key="k1")
    customers = "/api/service/customers"
    sent: dict[str, tuple[Any, Any]] = {
        customers: (
            service.make_customer(name="Globex", external_id="crm-7", owner_email="ann@globex.example"),
            {"name": "Globex", "external_id": "crm-7", "owner_email": "ann@globex.example"},
        ),
        f"{customers}/c1/owner": (
            service.name_owner("c1", email="ann@globex.example"),
            {"email": "ann@globex.example"},
        ),
        f"{customers}/c1/setup-links": (
            service.create_customer_setup_link("c1", parts=["upstream"], return_url="https://shop.example.com/a?b=c"),
            {"parts": ["upstream"], "return_url": "https://shop.example.com/a?b=c"},
        ),
        f"{customers}/c1/connections": (
            service.create_customer_connection("c1", type="saml", name="Okta", metadata_url="https://okta.example/m"),
            {"name": "Okta", "metadata_url": "https://okta.example/m", "type": "saml"},
        ),
        f"{customers}/c1/mail-domains": (
            service.create_customer_mail_domain("c1", domain="globex.example", provider_id="p1"),
            {"domain": "globex.example", "provider_id": "p1"},
        ),
        f"{customers}/c1/scim-tokens": (service.create_customer_scim_token("c1", name="Okta"), {"name": "Okta"}),
        f"{customers}/c1/group-rules": (
            service.create_customer_group_rule("c1", group="Billing", service_roles=("editor",), source="p1"),
            {"group": "Billing", "service_roles": ["editor"], "source": "p1"},
        ),
        f"{customers}/c1/mail-domains/d1/verify": (service.verify_customer_mail_domain("c1", "d1"), None),
        f"{customers}/c1/restore": (service.restore_customer("c1"), None),
    }
    for path, (call, body) in sent.items():
        issuer.answers[path] = lambda path=path: (200, {"id": path}, {})
        assert driver.call(client.send, call) == {"id": path}
        assert (json.loads(issuer.bodies[-1]) if issuer.bodies[-1] else None) == body, path
    # An offer is about an organization that exists, and has no name.
    assert service.offer_service(organization="globex").body == {"organization": "globex"}


def test_usage_is_of_one_customer_or_of_the_service(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, api_key="k1")
    of_one = {"month": "2026-11", "active_people": 2}
    of_all = {**of_one, "customers": [{"customer_id": "c1", "external_id": "crm-7", "active_people": 2}]}
    issuer.answers["/api/service/customers/c1/usage?month=2026-11"] = lambda: (200, of_one, {})
    issuer.answers["/api/service/usage?month=2026-11"] = lambda: (200, of_all, {})

    assert driver.call(client.send, service.show_customer_usage("c1", month="2026-11")) == of_one
    assert driver.call(client.send, service.show_service_usage(month="2026-11")) == of_all


def test_a_value_in_a_path_leads_nowhere_else() -> None:
    assert segment("a/b?c#d e") == "a%2Fb%3Fc%23d%20e"
    for value in ("", ".", ".."):
        with pytest.raises(ValueError, match="no name"):
            segment(value)


def read_feed(driver: Driver, client: Any, saved: list[str], *, count: int) -> list[str]:
    """Return the ids of the events that a reader yields, up to a number; it keeps its cursor in `saved`."""
    found: list[str] = []

    def load() -> str | None:
        return saved[-1] if saved else None

    async def load_async() -> str | None:
        return load()

    async def save_async(cursor: str) -> None:
        saved.append(cursor)

    if driver.is_async:
        feed = Feed(organization="acme", types=["user.joined"], load=load_async, save=save_async)
    else:
        feed = Feed(organization="acme", types=["user.joined"], load=load, save=saved.append)
    events = driver.make_with(client, "FeedReader", feed).events(is_endless=False)

    async def collect() -> None:
        async for event in events:
            found.append(event.id)
            if len(found) == count:
                break
        await events.aclose()

    if driver.is_async:
        driver.call(collect)
    else:
        found += [event.id for event, _ in zip(events, range(count), strict=False)]
        events.close()
    return found


def test_the_feed_goes_on_after_the_cursor_and_repeats_what_was_not_handled(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, key="gk_1")
    saved: list[str] = []

    def answered(number: int) -> Any:
        events = [
            {"id": f"e{number}{letter}", "event": "user.joined", "timestamp": "2026-02-03T04:05:06Z", "data": {}}
            for letter in "ab"
        ]
        return 200, {"events": events, "next_cursor": f"c{number}", "has_more": number < 2}, {}

    for after, number in (("", 1), ("after=c1&", 2), ("after=c2&", 3)):
        path = f"/api/organizations/acme/events?{after}types=user.joined&limit=500&wait=0"
        issuer.answers[path] = lambda number=number: answered(number)

    # The third event is read, and the program ends before the answer with it is done.
    assert read_feed(driver, client, saved, count=3) == ["e1a", "e1b", "e2a"]
    assert saved == ["c1"]
    assert read_feed(driver, client, saved, count=9) == ["e2a", "e2b"]
    assert saved == ["c1", "c2"]
    assert read_feed(driver, client, saved, count=9) == ["e3a", "e3b"]


def test_a_reader_reads_what_has_happened_each_time(blocking: Driver, issuer: Issuer) -> None:
    cursors: list[str] = []
    feed = Feed(organization="acme", load=lambda: cursors[-1] if cursors else None, save=cursors.append)
    reader = blocking.make_with(blocking.make("Gatehouse", issuer.url, key="gk_1"), "FeedReader", feed)
    event = {"id": "e", "event": "user.joined", "timestamp": "2026-02-03T04:05:06Z", "data": {}}
    for after, number in (("", 1), ("after=c1&", 2)):
        answer = {"events": [event | {"id": f"e{number}"}], "next_cursor": f"c{number}", "has_more": False}
        issuer.answers[f"/api/organizations/acme/events?{after}limit=500&wait=0"] = lambda answer=answer: (
            200,
            answer,
            {},
        )

    found = [[event.id for event in reader.events(is_endless=False)] for _ in range(2)]

    assert found == [["e1"], ["e2"]]


def test_a_reader_stops_after_a_time_and_waits_no_longer_than_it_has_left(blocking: Driver, issuer: Issuer) -> None:
    cursors: list[str] = []
    feed = Feed(organization="acme", load=lambda: None, save=cursors.append)
    client = blocking.make("Gatehouse", issuer.url, key="gk_1")
    now = [1_000.0]
    client.io.clock = lambda: now[0]
    event = {"id": "e", "event": "user.joined", "timestamp": "2026-02-03T04:05:06Z", "data": {}}

    def answer() -> Any:
        now[0] += 20
        return 200, {"events": [event], "next_cursor": "c1", "has_more": False}, {}

    issuer.answers["/api/organizations/acme/events?limit=500&wait=20"] = answer
    issuer.answers["/api/organizations/acme/events?after=c1&limit=500&wait=10"] = answer

    found = [event.id for event in blocking.make_with(client, "FeedReader", feed).events(stop_after=29.5)]

    assert found == ["e", "e"]
    assert cursors == ["c1", "c1"]


def test_a_reader_stops_while_gatehouse_is_away(driver: Driver, issuer: Issuer) -> None:
    saved: list[str] = []
    issuer.answers["/api/organizations/acme/events?limit=500&wait=1"] = lambda: (503, REFUSAL, {})
    client = driver.make("Gatehouse", issuer.url, key="gk_1")
    feed = Feed(organization="acme", load=lambda: None, save=saved.append)
    events = driver.make_with(client, "FeedReader", feed).events(stop_after=0.05)

    async def collect() -> list[Any]:
        return [event async for event in events]

    assert (driver.call(collect) if driver.is_async else list(events)) == []
    assert saved == []


def test_the_feed_says_when_its_cursor_has_expired(driver: Driver, issuer: Issuer) -> None:
    client = driver.make("Gatehouse", issuer.url, key="gk_1")
    issuer.answers["/api/organizations/acme/events"] = lambda: (410, REFUSAL | {"error_code": "GONE"}, {})

    with pytest.raises(Refused, match="410 GONE"):
        items(driver, client, management.read_events("acme", after="old"))
