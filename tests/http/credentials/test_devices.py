"""The caller's own devices: list, detail, name and removal."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from core.credentials.devices import LISTED_MAX
from tests.application import Answer
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

LAPTOP = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0"}
PHONE = {
    "User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/17.5 Mobile/15E148 Safari/604.1"
}
TERMINAL = {"User-Agent": "curl/8.5.0"}
SUMMARY = {
    "id",
    "name",
    "device_type",
    "browser",
    "os",
    "last_used_at",
    "last_ip",
    "is_current",
    "trusted",
    "created_at",
}
DETAIL = SUMMARY | {"browser_version", "os_version", "last_location", "risk_score"}
EVE = "eve@example.com"


async def devices(world: World, tokens: Tokens) -> list[dict[str, object]]:
    """Return the caller's devices."""
    answer = await world.client.get("/api/user/devices", token=tokens.access_token)
    assert answer.status == 200, answer.text
    assert answer.json["total"] == len(answer.json["devices"])
    return answer.json["devices"]


async def call(world: World, tokens: Tokens, method: str, device_id: object, body: object = None) -> Answer:
    """Call the endpoint of one device."""
    return await world.client.request(method, f"/api/user/devices/{device_id}", token=tokens.access_token, body=body)


def device_of(world: World, tokens: Tokens) -> UUID:
    """Return the id of the device of a session."""
    return world.value("SELECT device_id FROM sessions WHERE id = %s", tokens.session_id)


class TestList:
    """GET /api/user/devices."""

    async def test_the_list_has_exactly_the_summary_fields(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)

        [device] = await devices(world, laptop)

        assert device == {
            "id": str(device_of(world, laptop)),
            "name": "Firefox on Linux",
            "device_type": "browser",
            "browser": "Firefox",
            "os": "Linux",
            "last_used_at": "2026-02-03T04:05:06Z",
            "last_ip": "10.0.0.1",
            "is_current": True,
            "trusted": False,
            "created_at": "2026-02-03T04:05:06Z",
        }

    async def test_the_device_used_last_comes_first_and_the_callers_is_current(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        world.clock.advance(timedelta(minutes=1))
        await world.sign_in(headers=PHONE)

        listed = [(device["name"], device["is_current"]) for device in await devices(world, laptop)]

        assert listed == [("Safari on iOS", False), ("Firefox on Linux", True)]

    async def test_a_refreshed_session_is_a_use_of_its_device(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        world.clock.advance(timedelta(minutes=1))
        phone = await world.sign_in(headers=PHONE)
        world.clock.advance(timedelta(minutes=1))
        await world.refresh(laptop.refresh_token)

        used = [(device["name"], device["last_used_at"]) for device in await devices(world, phone)]

        assert used == [("Firefox on Linux", "2026-02-03T04:07:06Z"), ("Safari on iOS", "2026-02-03T04:06:06Z")]

    async def test_unknown_properties_of_a_device_are_empty_strings(self, world: World) -> None:
        world.user()
        tokens = await world.sign_in(headers={"User-Agent": "a program of ours"})

        [device] = await devices(world, tokens)

        assert (device["name"], device["device_type"]) == ("Unknown device", "cli")
        assert (device["browser"], device["os"]) == ("", "")

    async def test_the_list_has_only_the_callers_devices(self, world: World) -> None:
        world.user()
        world.user(EVE)
        await world.sign_in(headers=LAPTOP)
        eve = await world.sign_in(EVE, headers=PHONE)

        assert [device["name"] for device in await devices(world, eve)] == ["Safari on iOS"]

    async def test_a_user_without_devices_gets_an_empty_list(self, world: World) -> None:
        world.user()
        tokens = await world.sign_in()
        world.connection.execute("DELETE FROM devices")

        assert await devices(world, tokens) == []

    async def test_a_long_list_is_cut_to_the_devices_used_last_and_all_are_counted(self, world: World) -> None:
        user_id = world.user()
        tokens = await world.sign_in(headers=LAPTOP)
        world.connection.execute(
            """
            INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)
            SELECT gen_random_uuid(), %s, 'number ' || n, 'cli', %s::timestamptz - n * interval '1 minute', now(), now()
            FROM   generate_series(1, %s) AS n
            """,
            (user_id, world.clock(), LISTED_MAX + 7),
        )

        answer = await world.client.get("/api/user/devices", token=tokens.access_token)

        assert answer.json["total"] == LISTED_MAX + 8
        names = [device["name"] for device in answer.json["devices"]]
        assert names == ["Firefox on Linux", *(f"number {n}" for n in range(1, LISTED_MAX))]

    async def test_the_list_requires_an_access_token(self, world: World) -> None:
        assert_refused(await world.client.get("/api/user/devices"), 401, "UNAUTHORIZED")


class TestDetail:
    """GET /api/user/devices/:id."""

    async def test_the_detail_adds_versions_location_and_risk(self, world: World) -> None:
        world.user()
        phone = await world.sign_in(headers=PHONE)

        answer = await call(world, phone, "GET", device_of(world, phone))

        assert answer.status == 200
        assert set(answer.json) == DETAIL
        assert answer.json["browser_version"] == "17.5"
        assert answer.json["os_version"] == "17.5.1"
        assert answer.json["last_location"] == {"city": "", "country": ""}
        assert answer.json["risk_score"] == 0.3

    async def test_the_detail_agrees_with_the_list(self, world: World) -> None:
        world.user()
        phone = await world.sign_in(headers=PHONE)

        answer = await call(world, phone, "GET", device_of(world, phone))

        [item] = await devices(world, phone)
        assert {name: answer.json[name] for name in SUMMARY} == item

    async def test_the_detail_shows_the_location_of_the_last_sign_in(self, world: World) -> None:
        world.user()
        phone = await world.sign_in(headers=PHONE)
        world.connection.execute("UPDATE devices SET last_city = 'Delft', last_country = 'NL'")

        answer = await call(world, phone, "GET", device_of(world, phone))

        assert answer.json["last_location"] == {"city": "Delft", "country": "NL"}

    async def test_an_updated_browser_shows_its_new_version_and_keeps_its_name(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        await call(world, laptop, "PATCH", device_of(world, laptop), {"name": "The old one"})
        newer = {"User-Agent": LAPTOP["User-Agent"].replace("127", "128"), "X-Device-Token": laptop.device_token}

        laptop = await world.sign_in(headers=newer)

        answer = await call(world, laptop, "GET", device_of(world, laptop))
        assert (answer.json["name"], answer.json["browser_version"]) == ("The old one", "128.0")


class TestName:
    """PATCH /api/user/devices/:id."""

    async def test_the_answer_has_the_new_name_and_the_time_of_the_change(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        device_id = device_of(world, laptop)
        world.clock.advance(timedelta(minutes=5))

        answer = await call(world, laptop, "PATCH", device_id, {"name": "  Work 👩‍💻 laptop\n"})

        assert answer.status == 200
        assert answer.json == {
            "id": str(device_id),
            "name": "Work 👩‍💻 laptop",
            "device_type": "browser",
            "updated_at": "2026-02-03T04:10:06Z",
        }
        assert (await call(world, laptop, "GET", device_id)).json["name"] == "Work 👩‍💻 laptop"

    async def test_a_name_has_1_to_100_characters(self, world: World, subtests: pytest.Subtests) -> None:
        world.user()
        laptop = await world.sign_in()

        for name in ("x", "é" * 100, f"  {'x' * 100}  "):
            with subtests.test(name=name):
                answer = await call(world, laptop, "PATCH", device_of(world, laptop), {"name": name})

                assert (answer.status, answer.json["name"]) == (200, name.strip())

    async def test_an_invalid_name_is_refused_with_the_name_of_the_field(
        self, world: World, subtests: pytest.Subtests
    ) -> None:
        world.user()
        laptop = await world.sign_in()

        for body in ({"name": ""}, {"name": " \t\n"}, {"name": "a\nb"}, {"name": "x" * 101}, {"name": 7}, {}):
            with subtests.test(body=body):
                answer = await call(world, laptop, "PATCH", device_of(world, laptop), body)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert [problem["field"] for problem in answer.json["details"]] == ["name"]

    async def test_a_device_keeps_its_name_at_the_next_sign_in(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        await call(world, laptop, "PATCH", device_of(world, laptop), {"name": "Mine"})

        again = await world.sign_in(headers=LAPTOP | {"X-Device-Token": laptop.device_token})

        assert [device["name"] for device in await devices(world, again)] == ["Mine"]


class TestRemoval:
    """DELETE /api/user/devices/:id."""

    async def test_a_removal_ends_the_sessions_and_refresh_tokens_of_the_device(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        phone = await world.sign_in(headers=PHONE)
        again = await world.sign_in(headers={"X-Device-Token": phone.device_token})

        answer = await call(world, laptop, "DELETE", device_of(world, phone))

        assert (answer.status, set(answer.json)) == (200, {"message"})
        for ended in (phone, again):
            assert_refused(await world.list_sessions(ended), 401, "UNAUTHORIZED")
            assert_refused(await world.refresh(ended.refresh_token), 401, "UNAUTHORIZED")
        assert (await world.list_sessions(laptop)).status == 200

    async def test_a_removal_invalidates_the_device_token_and_the_next_sign_in_adds_another_device(
        self, world: World
    ) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        phone = await world.sign_in(headers=PHONE)
        removed = device_of(world, phone)
        await call(world, laptop, "DELETE", removed)
        assert world.value("SELECT count(*) FROM device_tokens WHERE device_id = %s", removed) == 0

        again = await world.sign_in(headers=PHONE | {"X-Device-Token": phone.device_token})

        assert again.device_token != phone.device_token
        assert device_of(world, again) != removed
        assert world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1") == ["new_device"]

    async def test_a_removal_publishes_to_each_organization_how_many_sessions_ended(self, world: World) -> None:
        user_id = world.user()
        acme, bolt = world.organization("acme"), world.organization("bolt")
        for organization_id in (acme, bolt):
            world.member(organization_id, user_id)
        laptop = await world.sign_in(headers=LAPTOP)
        phone = await world.sign_in(headers=PHONE, org_slug="acme")
        await world.sign_in(headers=PHONE, org_slug="acme")

        await call(world, laptop, "DELETE", device_of(world, phone))

        assert world.events("session.revoked") == [(acme, EMAIL, {"sessions": 2, "reason": "device_removed"})]

    async def test_a_removal_without_active_sessions_publishes_no_event(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        phone = await world.sign_in(headers=PHONE)
        await world.client.post("/api/auth/logout", token=phone.access_token)

        answer = await call(world, laptop, "DELETE", device_of(world, phone))

        assert answer.status == 200
        assert world.events("session.revoked") == []

    async def test_a_removed_device_is_not_listed_and_not_found(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        removed = device_of(world, await world.sign_in(headers=PHONE))
        await call(world, laptop, "DELETE", removed)

        assert [device["name"] for device in await devices(world, laptop)] == ["Firefox on Linux"]
        assert_refused(await call(world, laptop, "GET", removed), 404, "NOT_FOUND")
        assert_refused(await call(world, laptop, "PATCH", removed, {"name": "back?"}), 404, "NOT_FOUND")

    async def test_a_repeated_removal_answers_the_same_and_changes_nothing(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        phone = await world.sign_in(headers=PHONE)
        removed = device_of(world, phone)
        first = await call(world, laptop, "DELETE", removed)
        world.clock.advance(timedelta(days=1))
        laptop = await world.sign_in(headers=LAPTOP | {"X-Device-Token": laptop.device_token})
        before = world.rows("SELECT * FROM devices ORDER BY id")

        second = await call(world, laptop, "DELETE", removed)

        assert (second.status, second.json) == (first.status, first.json)
        assert len(world.events("session.revoked")) == 1
        assert world.rows("SELECT * FROM devices ORDER BY id") == before

    async def test_the_current_device_cannot_be_removed(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)

        answer = await call(world, laptop, "DELETE", device_of(world, laptop))

        assert_refused(answer, 400, "BAD_REQUEST")
        assert (await world.list_sessions(laptop)).status == 200

    async def test_another_session_on_the_same_device_cannot_remove_it(self, world: World) -> None:
        world.user()
        laptop = await world.sign_in(headers=LAPTOP)
        again = await world.sign_in(headers={"X-Device-Token": laptop.device_token})

        assert_refused(await call(world, again, "DELETE", device_of(world, laptop)), 400, "BAD_REQUEST")

    async def test_a_removal_ends_no_sessions_of_other_users(self, world: World) -> None:
        world.user()
        world.user(EVE)
        laptop, phone = await world.sign_in(headers=LAPTOP), await world.sign_in(headers=PHONE)
        eve = await world.sign_in(EVE, headers=PHONE)

        await call(world, laptop, "DELETE", device_of(world, phone))

        assert (await world.list_sessions(eve)).status == 200


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
class TestAccess:
    """Refusals for unknown devices, devices of other users, and unauthenticated callers."""

    async def test_an_unknown_device_is_not_found(self, world: World, method: str) -> None:
        world.user()
        laptop = await world.sign_in()

        for unknown in (uuid4(), "not-an-id"):
            assert_refused(await call(world, laptop, method, unknown, {"name": "x"}), 404, "NOT_FOUND")

    async def test_a_device_of_another_user_is_forbidden_even_if_removed(self, world: World, method: str) -> None:
        world.user()
        world.user(EVE)
        laptop, phone = await world.sign_in(headers=LAPTOP), await world.sign_in(headers=PHONE)
        eve = await world.sign_in(EVE)
        of_another = device_of(world, phone)

        assert_refused(await call(world, eve, method, of_another, {"name": "x"}), 403, "FORBIDDEN")
        assert (await world.list_sessions(phone)).status == 200
        await call(world, laptop, "DELETE", of_another)
        assert_refused(await call(world, eve, method, of_another, {"name": "x"}), 403, "FORBIDDEN")

    async def test_a_request_without_an_access_token_is_refused(self, world: World, method: str) -> None:
        answer = await world.client.request(method, f"/api/user/devices/{uuid4()}", body={"name": "x"})

        assert_refused(answer, 401, "UNAUTHORIZED")
