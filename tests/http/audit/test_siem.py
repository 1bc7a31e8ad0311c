"""The SIEM configuration: created, replaced, shown without its token, tested, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.gateways.name_lookups import NameLookups
from adapters.gateways.outbound import outbound_client
from adapters.gateways.siem_sender import HttpSiemSender
from adapters.resolver import DnsResolver, HostsFile
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import VERSION, Answer
from tests.audit_chains import add_entry, seal_all
from tests.concurrency import at_once, statuses_of
from tests.siem_receivers import TOKEN, Interface, datadog, elastic, json_lines, receiving, splunk
from tests.world.team import Team
from tests.world.world import assert_refused

Transact = Callable[..., Any]


ENDPOINT = "https://siem.example.com/ingest"
INTERFACES = {"http": json_lines, "splunk": splunk, "datadog": datadog, "elastic": elastic}


async def configure(team: Team, **changes: Any) -> Answer:
    """Configure the SIEM as an admin."""
    body = {"provider": "http", "endpoint": ENDPOINT, "token": TOKEN} | changes
    return await team.request("admin", "POST", "/siem", body=body)


async def test_the_configuration_is_answered_without_its_token(team: Team) -> None:
    answer = await configure(team, event_filter=["user.", "api_key."], options={"compress": False})

    assert answer.status == 200, answer.text
    now = team.world.clock().isoformat().replace("+00:00", "Z")
    assert answer.json | {"id": None} == {
        "id": None,
        "provider": "http",
        "endpoint": ENDPOINT,
        "has_token": True,
        "options": {
            "start": "now",
            "index": None,
            "source": None,
            "sourcetype": None,
            "service": None,
            "tags": [],
            "compress": False,
        },
        "include": ["audit", "sign_ins"],
        "event_filter": ["user.", "api_key."],
        "enabled": True,
        "status": "waiting",
        "last_success_at": None,
        "last_error": None,
        "cursor": 0,
        "lag": 0,
        # What this request recorded.
        "pending": 1,
        "sign_ins_through": now,
        "created_at": now,
        "updated_at": now,
    }
    assert (await team.request("admin", "GET", "/siem")).json == answer.json
    assert TOKEN not in answer.text


@pytest.mark.parametrize("lacking", ["integrations.manage", "audit_logs.view"])
async def test_a_stream_is_made_by_members_who_connect_systems_and_read_the_audit_log(team: Team, lacking: str) -> None:
    await configure(team)
    team.custom_role("nearly", *({"integrations.manage", "audit_logs.view"} - {lacking}))
    team.custom_role("enough", "integrations.manage", "audit_logs.view")
    team.add("nearly", "nearly")
    team.add("enough", "enough")
    body = {"provider": "http", "endpoint": "https://elsewhere.example.com/", "token": TOKEN}

    refused = await team.request("nearly", "POST", "/siem", body=body)

    assert_refused(refused, 403, "FORBIDDEN")
    assert lacking in refused.json["error"]
    assert (await team.request("owner", "GET", "/siem")).json["endpoint"] == ENDPOINT
    assert (await team.request("enough", "POST", "/siem", body=body)).status == 200


async def test_the_token_is_stored_sealed(team: Team) -> None:
    await configure(team)

    stored = team.world.value("SELECT token_sealed FROM siem_streams")
    assert TOKEN.encode() not in stored


async def test_without_a_configuration_there_is_nothing_to_show_to_test_or_to_delete(team: Team) -> None:
    for method, path in (("GET", "/siem"), ("DELETE", "/siem"), ("POST", "/siem/test")):
        assert_refused(await team.request("admin", method, path), 404, "NOT_FOUND")


async def test_a_wrong_value_is_refused_by_its_field(team: Team, subtests: pytest.Subtests) -> None:
    for changes, field in (
        ({"provider": "syslog"}, "provider"),
        ({"endpoint": "ftp://siem.example.com"}, "endpoint"),
        ({"endpoint": "https://10.0.0.1/"}, "endpoint"),
        ({"endpoint": "https://[::ffff:10.0.0.1]/"}, "endpoint"),
        ({"token": "two words"}, "token"),
        ({"token": "line\nend"}, "token"),
        ({"token": "x" * 5000}, "token"),
        ({"provider": "splunk", "token": None}, "token"),
        ({"provider": "datadog", "token": ""}, "token"),
        ({"event_filter": []}, "event_filter"),
        ({"event_filter": [""]}, "event_filter"),
        ({"event_filter": ["user.", "users."]}, "event_filter"),
        ({"options": {"start": "yesterday"}}, "options.start"),
        ({"options": {"index": "x" * 201}}, "options"),
        ({"options": {"tags": ["x"] * 51}}, "options"),
        ({"options": {"compress": "no"}}, "options.compress"),
    ):
        with subtests.test(changes=changes, field=field):
            answer = await configure(team, **changes)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert [problem["field"] for problem in answer.json["details"]] == [field]
            assert (await team.request("admin", "GET", "/siem")).status == 404


async def test_a_replacement_keeps_the_cursor_and_the_token_of_the_same_receiver(
    team: Team, transact: Transact
) -> None:
    first = await configure(team)
    add_entry(team.world.connection, team.organization_id, team.world.clock)
    seal_all(transact)
    team.world.clock.advance(timedelta(minutes=1))

    second = await configure(team, token=None, endpoint=f"{ENDPOINT}/other", options={"start": "beginning"})

    assert second.status == 200
    assert (second.json["id"], second.json["created_at"]) == (first.json["id"], first.json["created_at"])
    assert second.json["updated_at"] > first.json["updated_at"]
    assert (second.json["has_token"], second.json["cursor"], second.json["lag"]) == (True, 0, 2)


@pytest.mark.parametrize(
    "changes", [{"endpoint": "https://other.example.com/ingest"}, {"provider": "elastic"}, {"token": ""}]
)
async def test_a_token_is_never_kept_for_another_receiver(team: Team, changes: dict[str, Any]) -> None:
    await configure(team)

    answer = await configure(team, **({"token": None} | changes))

    assert answer.json["has_token"] is False
    assert team.world.value("SELECT token_sealed FROM siem_streams") is None


async def test_a_token_is_required_again_for_another_receiver_that_needs_one(team: Team) -> None:
    await configure(team, provider="splunk")

    assert (await configure(team, provider="splunk", token=None)).status == 200
    assert_refused(
        await configure(team, provider="splunk", token=None, endpoint="https://other.example.com"), 400, "BAD_REQUEST"
    )


async def test_of_two_first_configurations_at_once_one_creates_and_the_other_replaces(team: Team) -> None:
    await team.token("admin")

    answers = await at_once(*(lambda: configure(team) for _ in range(4)))

    assert statuses_of(answers) == [200] * 4
    assert len({answer.json["id"] for answer in answers}) == 1


async def test_a_deleted_configuration_is_gone_with_its_cursor(team: Team) -> None:
    first = await configure(team)

    deleted = await team.request("admin", "DELETE", "/siem")

    assert (deleted.status, deleted.json["success"]) == (200, True)
    assert_refused(await team.request("admin", "GET", "/siem"), 404, "NOT_FOUND")
    assert (await configure(team)).json["id"] != first.json["id"]


async def test_all_invalid_fields_are_named_at_once(team: Team) -> None:
    answer = await configure(team, endpoint="ftp://x", token="two words", event_filter=[], options={"index": "i" * 201})

    assert answer.status == 400
    assert [detail["field"] for detail in answer.json["details"]] == ["endpoint", "event_filter", "token", "options"]


async def test_changes_are_in_the_audit_log_without_token_and_path(team: Team) -> None:
    await configure(team, endpoint=f"{ENDPOINT}?key=hidden")
    await configure(team, provider="elastic", enabled=False)
    await team.request("admin", "DELETE", "/siem")

    entries, both = team.world.audit_entries(None, "target_id", "action", "details"), ["audit", "sign_ins"]
    assert {target for target, *_ in entries} == {str(team.organization_id)}
    assert [entry[1:] for entry in entries] == [
        ("siem.configured", {"provider": "http", "host": "siem.example.com", "enabled": True, "include": both}),
        ("siem.configured", {"provider": "elastic", "host": "siem.example.com", "enabled": False, "include": both}),
        ("siem.removed", {}),
    ]
    assert len(team.world.events("siem.configured")) == 2
    assert len(team.world.events("siem.removed")) == 1


async def test_a_test_is_in_the_audit_log_whether_or_not_it_arrives(team: Team) -> None:
    async with receiving(json_lines) as receiver:
        receiver.failures = [(500, b"")]
        await configure(team, endpoint=f"{receiver.url}/?key=hidden")
        for _ in range(2):
            await team.request("admin", "POST", "/siem/test")

    entries = team.world.audit_entries("siem.tested", "actor_user_id", "details")
    assert entries == [(team.ids["admin"], {"provider": "http", "host": "127.0.0.1"})] * 2


@pytest.mark.parametrize("provider", INTERFACES)
async def test_the_test_sends_one_event_that_the_receiver_takes(team: Team, provider: str) -> None:
    interface: Interface = INTERFACES[provider]
    async with receiving(interface) as receiver:
        await configure(team, provider=provider, endpoint=receiver.url, enabled=False)

        answer = await team.request("admin", "POST", "/siem/test")

    assert answer.json | {"latency_ms": 0} == {
        "success": True,
        "status_code": 204 if provider == "http" else 202 if provider == "datadog" else 200,
        "latency_ms": 0,
        "message": "The receiver took the test event.",
    }
    [event] = receiver.entries
    assert (event["action"], event["org_id"], event["actor"]["email"]) == (
        "siem.test",
        str(team.organization_id),
        "admin@example.com",
    )
    # It is no attempt of the stream.
    assert (await team.request("admin", "GET", "/siem")).json["last_success_at"] is None


@pytest.mark.parametrize("provider", INTERFACES)
async def test_the_test_says_why_a_receiver_refuses_the_token_and_does_not_repeat_it(team: Team, provider: str) -> None:
    async with receiving(INTERFACES[provider]) as receiver:
        await configure(team, provider=provider, endpoint=receiver.url, token="another-token-than-it-has")

        answer = await team.request("admin", "POST", "/siem/test")

    assert (answer.status, answer.json["success"]) == (200, False)
    assert answer.json["status_code"] in {401, 403}
    assert answer.json["message"].startswith(f"The receiver answered {answer.json['status_code']}: ")
    assert "another-token" not in answer.text


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (None, "The receiver closed the connection without an answer."),
        ((307, b""), "Redirects are not followed: change the endpoint."),
        ((500, b"\x00\xff"), "The receiver answered 500: \ufffd\ufffd."),
        ((503, b""), "The receiver answered 503: nothing."),
    ],
)
async def test_the_test_says_what_a_broken_receiver_did(team: Team, failure: Any, message: str) -> None:
    async with receiving(json_lines) as receiver:
        receiver.failures = [failure]
        await configure(team, endpoint=receiver.url)

        answer = await team.request("admin", "POST", "/siem/test")

    assert answer.json["success"] is False
    assert message in answer.json["message"]


class TestPrivateAddresses:
    """No endpoint leads into the operator's network."""

    @pytest.fixture
    def settings(self) -> Settings:
        """Settings of production, which allow no private address."""
        return Settings(rate_limits=False)

    @pytest.fixture
    def installation(self, installation: Installation, tmp_path: Path) -> Installation:
        """The installation, on a machine whose hosts file gives the receiver a loopback address."""
        hosts = tmp_path / "hosts"
        hosts.write_text("127.0.0.1 siem.example.com\n")
        client = outbound_client((), lookups=NameLookups(DnsResolver(hosts=HostsFile(hosts))))
        return replace(installation, siem_sender=HttpSiemSender(client, version=VERSION))

    async def test_a_name_of_a_private_address_is_refused_when_it_is_connected_to(self, team: Team) -> None:
        async with receiving(json_lines) as receiver:
            await configure(team, endpoint=f"http://siem.example.com:{receiver.port}/")

            answer = await team.request("admin", "POST", "/siem/test")

        assert receiver.requests == []
        assert (answer.json["success"], answer.json["status_code"]) == (False, None)
        assert answer.json["message"] == "The name siem.example.com leads to a private address, which is not allowed."

    async def test_a_literal_loopback_address_is_refused_when_it_is_saved(self, team: Team) -> None:
        answer = await configure(team, endpoint="http://127.0.0.1:9/")

        assert_refused(answer, 400, "BAD_REQUEST")
