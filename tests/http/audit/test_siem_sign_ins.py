"""The sign-ins that a SIEM gets beside the audit log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from core.audit.siem_stream import BATCH_EVENTS_MAX, BATCH_EVERY, LOOKED_FOR_EVERY, SETTLED_AFTER, WINDOW
from core.limits import SIGN_INS_KEPT_FOR
from core.sign_in.reasons import WAITING, SignInReason
from tests.audit_chains import add_entry, seal_all
from tests.http.audit.streams import BEGINNING, show, stream_once
from tests.http.audit.test_siem import INTERFACES, configure
from tests.ids import FollowingRandomness
from tests.siem_receivers import TOKEN, Receiver, json_lines, receiving
from tests.world.customer_backend import CustomerBackend, insert_customer_backend
from tests.world.team import Team
from tests.world.world import World, assert_refused

Transact = Callable[..., Any]

SIGN_INS = {"include": ["sign_ins"]}
SECOND = timedelta(seconds=1)


def sign_ins_of(receiver: Receiver) -> list[dict[str, Any]]:
    """Return the sign-ins that were received."""
    return [entry for entry in receiver.entries if entry.get("type") == "sign_in"]


async def settle(team: Team) -> None:
    """Let what was written settle, and stream it."""
    team.world.clock.advance(SETTLED_AFTER + LOOKED_FOR_EVERY)
    team.tokens.clear()
    await stream_once(team)


def insert(team: Team, user: str = "owner", *, later: timedelta = timedelta(0), **columns: Any) -> str:
    """Insert a sign-in to the organization that was decided so much later than it began; return its id."""
    world = team.world
    sign_in_id = FollowingRandomness(world.clock).new_id()
    row = {
        "id": sign_in_id,
        "user_id": team.ids[user],
        "organization_id": team.organization_id,
        "provider": "password",
        "success": True,
        "risk_score": 0,
        "risk_factors": [],
        "created_at": world.clock() + later,
        **columns,
    }
    names = ", ".join(row)
    marks = ", ".join(["%s"] * len(row))
    world.connection.execute(f"INSERT INTO login_events ({names}) VALUES ({marks})".encode(), list(row.values()))
    return str(sign_in_id)


async def test_sign_ins_to_the_organization_and_its_services_are_sent_refused_ones_too(team: Team) -> None:
    world = team.world
    service = world.service(team.organization_id, "shop")
    world.link(team.organization_id, service.id, team.ids["member"])
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, **SIGN_INS)
        await world.log_in("member@example.com", org_slug="acme", service_slug="shop")
        world.clock.advance(SECOND)
        await world.log_in("member@example.com", "a wrong password", org_slug="acme")
        # Neither a refreshed token nor a selection is a sign-in.
        tokens = (await world.log_in("member@example.com")).json
        selected = await world.client.post(f"{team.path}/select", token=tokens["access_token"])
        refreshed = await world.client.post("/api/auth/refresh", body={"refresh_token": tokens["refresh_token"]})
        assert (selected.status, refreshed.status) == (200, 200)
        await settle(team)

    succeeded, refused = [one for one in sign_ins_of(receiver) if one["user"]["email"] == "member@example.com"]
    [(first_id, ip)] = world.rows("SELECT id::text, ip_address FROM login_events WHERE service_id IS NOT NULL")
    assert succeeded == {
        "type": "sign_in",
        "id": first_id,
        "outcome": "success",
        "reason": None,
        "user": {"id": str(team.ids["member"]), "email": "member@example.com"},
        "service": "shop",
        "customer": None,
        "connection_id": None,
        "ip": ip,
        "created_at": "2026-02-03T04:05:06.000000Z",
    }
    assert (refused["outcome"], refused["reason"], refused["service"]) == ("refused", "wrong_password", None)


async def test_each_side_of_a_product_gets_its_half(world: World) -> None:
    shop: CustomerBackend = insert_customer_backend(world)
    vendor, customer = shop.trade.vendor, shop.trade.customer
    await shop.trade.begin()
    other = world.team("gamma")
    other.add("boss", "owner")
    async with (
        receiving(json_lines) as of_vendor,
        receiving(json_lines) as of_customer,
        receiving(json_lines) as of_other,
    ):
        for team, by, receiver in (
            (vendor, "owner", of_vendor),
            (customer, "chief", of_customer),
            (other, "boss", of_other),
        ):
            body = {"provider": "http", "endpoint": receiver.url, "token": TOKEN, **SIGN_INS}
            assert (await team.request(by, "POST", "/siem", body=body)).status == 200
        signed_in = await shop.sign_in("worker")
        await settle(vendor)

    assert signed_in.status == 200
    for receiver in (of_vendor, of_customer):
        [sent] = [one for one in sign_ins_of(receiver) if one["service"] is not None]
        assert (sent["service"], sent["customer"], sent["outcome"]) == ("shop", "beta", "success")
        assert sent["user"]["email"] == "worker@example.com"
        assert str(customer.organization_id) not in str(sent)
    assert [one["service"] for one in sign_ins_of(of_other)] == []


async def test_who_had_nothing_to_do_with_the_organization_is_not_named(team: Team) -> None:
    team.world.user("stranger@example.com")
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, **SIGN_INS)
        await team.world.log_in("stranger@example.com", org_slug="acme")
        await settle(team)

    strangers = [one for one in sign_ins_of(receiver) if one["user"] is None]
    assert [(one["outcome"], one["ip"]) for one in strangers] == [("refused", None)]


@pytest.mark.parametrize(
    ("include", "kinds"),
    [
        (["audit"], {"entry"}),
        (["sign_ins"], {"sign_in"}),
        (["audit", "sign_ins"], {"entry", "sign_in"}),
        (None, {"entry", "sign_in"}),
    ],
)
async def test_a_stream_sends_what_it_includes_and_the_filter_concerns_entries_alone(
    team: Team, transact: Transact, include: list[str] | None, kinds: set[str]
) -> None:
    async with receiving(json_lines) as receiver:
        wanted = {"include": include} if include is not None else {}
        made = await configure(team, endpoint=receiver.url, event_filter=["user."], **wanted)
        add_entry(team.world.connection, team.organization_id, team.world.clock, action="user.joined")
        add_entry(team.world.connection, team.organization_id, team.world.clock, action="service.created")
        insert(team)
        seal_all(transact)
        for _ in range(2):
            await settle(team)

    assert made.json["include"] == (include or ["audit", "sign_ins"])
    assert {"sign_in" if one.get("type") == "sign_in" else "entry" for one in receiver.entries} == kinds
    assert {one["action"] for one in receiver.entries if "action" in one} <= {"user.joined"}
    state = await show(team)
    assert (state["lag"], state["sign_ins_through"] is None) == (0, "sign_in" not in kinds)


@pytest.mark.parametrize("include", [[], ["logs"], "audit"])
async def test_nothing_and_what_there_is_not_is_400(team: Team, include: Any) -> None:
    assert_refused(await configure(team, include=include), 400, "BAD_REQUEST")


async def test_a_stream_of_an_earlier_version_goes_on_with_the_audit_log_alone_until_it_is_asked(team: Team) -> None:
    await configure(team)
    team.world.connection.execute("UPDATE siem_streams SET include = DEFAULT, sign_ins_at = NULL, sign_ins_id = NULL")
    before = await show(team)
    kept = await configure(team)
    asked = await configure(team, include=["sign_ins", "audit"])
    left = await configure(team, include=["audit"])

    assert (before["include"], before["sign_ins_through"]) == (["audit"], None)
    assert kept.json["include"] == ["audit"]
    assert (asked.json["include"], asked.json["sign_ins_through"] is None) == (["audit", "sign_ins"], False)
    assert (left.json["include"], left.json["sign_ins_through"]) == (["audit"], None)


async def test_who_may_not_read_sign_ins_sends_none(team: Team) -> None:
    team.custom_role("auditor", "integrations.manage", "audit_logs.view")
    team.add("auditor", "auditor")
    await configure(team)
    body = {"provider": "http", "endpoint": "https://elsewhere.example.com/", "token": "a-token"}

    refused = await team.request("auditor", "POST", "/siem", body=body | {"include": ["audit", "sign_ins"]})
    made = await team.request("auditor", "POST", "/siem", body=body)

    assert_refused(refused, 403, "FORBIDDEN")
    assert "end_users.view" in refused.json["error"]
    assert (made.status, made.json["include"]) == (200, ["audit"])


@pytest.mark.parametrize("provider", INTERFACES)
async def test_every_receiver_takes_sign_ins_and_both_states_of_one_that_went_on(team: Team, provider: str) -> None:
    async with receiving(INTERFACES[provider]) as receiver:
        await configure(team, provider=provider, endpoint=receiver.url, **SIGN_INS)
        sign_in_id = insert(team, success=False, reason=SignInReason.WRONG_CODE.value)
        await settle(team)
        team.world.connection.execute(
            "UPDATE login_events SET success = true, reason = NULL, created_at = %s WHERE id = %s",
            (team.world.clock(), sign_in_id),
        )
        await settle(team)

    sent = [one for one in receiver.entries if one["id"] == sign_in_id]
    assert [one["outcome"] for one in sent] == ["refused", "success"]


async def test_one_that_waits_is_sent_when_it_is_decided_and_what_settles_late_is_not_passed_over(team: Team) -> None:
    world = team.world
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, **SIGN_INS)
        waiting = [insert(team, success=False, reason=reason.value) for reason in WAITING]
        await settle(team)
        first = insert(team)
        # A row of an earlier time that is committed after a later one was written.
        late = insert(team, later=-SECOND)
        await stream_once(team)
        before = [one["id"] for one in sign_ins_of(receiver)]
        world.connection.execute(
            "UPDATE login_events SET success = true, reason = NULL, created_at = %s WHERE id = %s",
            (world.clock() + SECOND, waiting[0]),
        )
        await settle(team)

    mine = [one["id"] for one in sign_ins_of(receiver)]
    assert not {*before} & {first, late, *waiting}
    assert [one for one in mine if one in {first, late, *waiting}] == [late, first, waiting[0]]


async def test_from_the_beginning_all_that_are_kept_are_sent_in_the_order_of_their_times(team: Team) -> None:
    world = team.world
    now = world.clock()
    kept: list[str] = []
    for before in (SIGN_INS_KEPT_FOR + timedelta(days=1), timedelta(days=300), timedelta(days=2), WINDOW, SECOND):
        world.clock.now = now - before
        kept.append(insert(team))
    world.clock.now = now
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url, options=BEGINNING, **SIGN_INS)
        for _ in range(6):
            await settle(team)
        once = [one["id"] for one in sign_ins_of(receiver) if one["id"] in kept]
        again = await team.request(
            "admin", "POST", "/siem/restart", body={"since": (now - timedelta(days=3)).isoformat()}
        )
        for _ in range(6):
            await settle(team)

    assert once == kept[1:]
    assert again.status == 200, again.text
    assert [one["id"] for one in sign_ins_of(receiver) if one["id"] in kept] == kept[1:] + kept[2:]


async def test_a_backlog_is_sent_in_batches_and_the_older_of_both_kinds_comes_first(
    team: Team, transact: Transact
) -> None:
    world = team.world
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        ids = [insert(team) for _ in range(BATCH_EVENTS_MAX + 1)]
        world.clock.advance(SECOND)
        add_entry(world.connection, team.organization_id, world.clock, action="user.joined")
        seal_all(transact)
        world.clock.advance(SETTLED_AFTER)
        for _ in range(8):
            await stream_once(team)
            world.clock.advance(BATCH_EVERY)

    sent = [one["id"] for one in sign_ins_of(receiver) if one["id"] in ids]
    assert sent == ids
    assert max(len(request.body.splitlines()) for request in receiver.requests) == BATCH_EVENTS_MAX
    # Neither kind waits for all of the other.
    kinds = ["sign_in" if "type" in one else one["action"] for one in receiver.entries]
    assert kinds.index("user.joined") < len(kinds) - BATCH_EVENTS_MAX


async def test_after_a_failure_the_stream_goes_on_where_it_was(team: Team) -> None:
    async with receiving(json_lines) as receiver:
        receiver.failures = [(500, b"")]
        await configure(team, endpoint=receiver.url, **SIGN_INS)
        ids = [insert(team) for _ in range(3)]
        await settle(team)
        failing = await show(team)
        for _ in range(4):
            await settle(team)

    assert (failing["status"], sign_ins_of(receiver) != []) == ("failing", True)
    assert [one["id"] for one in sign_ins_of(receiver) if one["id"] in ids] == ids


async def test_a_stream_with_nothing_to_send_looks_again_and_entries_do_not_wait_for_that(
    team: Team, transact: Transact
) -> None:
    async with receiving(json_lines) as receiver:
        await configure(team, endpoint=receiver.url)
        seal_all(transact)
        await stream_once(team)
        idle = await stream_once(team)
        team.world.clock.advance(BATCH_EVERY)
        add_entry(team.world.connection, team.organization_id, team.world.clock, action="user.joined")
        seal_all(transact)
        soon = await stream_once(team)
        team.world.clock.advance(LOOKED_FOR_EVERY)
        later = await stream_once(team)

    assert (idle, len(soon), len(later)) == ([], 1, 1)
