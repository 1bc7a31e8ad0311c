"""Having what is kept of a person (identity 2.8 and 4.7)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.passkeys import Keyring, keyring
from tests.platform import Platform, platform
from tests.sign_ins import EMAIL, PASSWORD, Door, assert_refused, door

if TYPE_CHECKING:
    from uuid import UUID

    from tests.clock import SettableClock

__all__ = ["door", "keyring", "platform"]

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
SECOND = timedelta(seconds=1)


def path(user_id: UUID | str) -> str:
    return f"/api/privacy/export/{user_id}"


async def test_the_package_has_what_the_document_names_and_nothing_else(
    door: Door, keyring: Keyring, clock: SettableClock
) -> None:
    await keyring.arrive()
    await keyring.registered()
    user_id = door.value("SELECT id FROM users")
    acme = door.organization()
    door.member(acme, user_id, "admin")
    clock.advance(SECOND)
    entered = await door.enter(headers={"User-Agent": "curl/8.5.0"})

    answer = await door.client.get(path(user_id), token=entered.access_token)

    assert answer.status == 200, answer.text
    package = answer.json
    login, passkey = package["login_events"][0], package["passkeys"][0]
    assert package == {
        "user_id": str(user_id),
        "email": EMAIL,
        "created_at": "2026-02-03T04:05:06Z",
        "memberships": [
            {
                "organization_id": str(acme),
                "organization_slug": "acme",
                "role": "admin",
                "joined_at": "2026-02-03T04:05:06Z",
            }
        ],
        "login_events_count": 2,
        "login_events": [login, package["login_events"][1]],
        "oauth_identities": [],
        "mfa_events": [{"event_type": "passkey_registered", "timestamp": "2026-02-03T04:05:06Z", "success": True}],
        "passkeys": [passkey],
    }
    assert login == {
        "id": login["id"],
        "timestamp": "2026-02-03T04:05:07Z",
        "ip_address": door.value("SELECT ip_address FROM login_events ORDER BY id DESC LIMIT 1"),
        "user_agent": "curl/8.5.0",
        "provider": "password",
        "success": True,
        "risk_score": 30,
        "risk_factors": '["new_device"]',
        "geo_country": None,
        "geo_city": None,
    }
    assert json.loads(login["risk_factors"]) == ["new_device"]
    assert set(passkey) == {"id", "name", "aaguid", "backup_eligible", "created_at", "last_used_at"}


async def test_of_many_login_events_it_has_the_newest_and_counts_them_all(
    door: Door, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.privacy.export.LOGIN_EVENTS_MAX", 3)
    user_id = door.account()
    entered = await door.enter()
    for password in ("a wrong password", PASSWORD, "a wrong password"):
        clock.advance(SECOND)
        await door.knock(password=password)

    package = (await door.client.get(path(user_id), token=entered.access_token)).json

    assert package["login_events_count"] == 4
    assert [event["success"] for event in package["login_events"]] == [False, True, False]


async def test_nothing_secret_is_in_it(door: Door, keyring: Keyring) -> None:
    await keyring.arrive(has_mfa=False)
    await keyring.registered()

    answer = await door.client.get(path(door.value("SELECT id FROM users")), token=keyring.token)

    for word in ("hash", "argon2", "secret", "token", "public_key", "credential"):
        assert word not in answer.text


async def test_an_owner_of_an_organization_of_the_person_may_have_it(door: Door) -> None:
    ada, bob = door.account(), door.account("bob@example.com")
    acme, bolt = door.organization("acme"), door.organization("bolt")
    door.member(acme, ada)
    door.member(bolt, ada)
    door.member(bolt, bob, "owner")

    answer = await door.client.get(path(ada), token=(await door.enter("bob@example.com")).access_token)

    assert (answer.status, answer.json["user_id"]) == (200, str(ada))


async def test_an_owner_gets_nothing_that_concerns_the_organizations_of_others(
    platform: Platform, door: Door, clock: SettableClock
) -> None:
    ada, bob = door.account(), door.account("bob@example.com")
    acme, bolt = door.organization("acme"), door.organization("bolt")
    for organization_id in (acme, bolt):
        door.member(organization_id, ada)
    door.member(bolt, bob, "owner")
    for headers, where in (
        ({"User-Agent": "anywhere"}, {}),
        ({"User-Agent": "acme's"}, {"org_slug": "acme"}),
        ({"User-Agent": "bolt's"}, {"org_slug": "bolt"}),
    ):
        clock.advance(SECOND)
        entered = await door.enter(headers=headers, **where)

    of_bob = (await door.client.get(path(ada), token=(await door.enter("bob@example.com")).access_token)).json
    others = [(await platform.ask("GET", path(ada), by=by)).json for by in (platform.owner, entered)]

    assert [one["organization_slug"] for one in of_bob["memberships"]] == ["bolt"]
    assert [one["user_agent"] for one in of_bob["login_events"]] == ["bolt's", "anywhere"]
    assert of_bob["login_events_count"] == 2
    for package in others:
        assert [one["organization_slug"] for one in package["memberships"]] == ["acme", "bolt"]
        assert [one["user_agent"] for one in package["login_events"]] == ["bolt's", "acme's", "anywhere"]


@pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
async def test_an_organization_that_is_not_active_gives_its_owner_nothing(door: Door, status: str) -> None:
    ada, bob = door.account(), door.account("bob@example.com")
    bolt = door.organization("bolt")
    door.member(bolt, ada)
    door.member(bolt, bob, "owner")
    entered = await door.enter("bob@example.com")
    door.connection.execute("UPDATE organizations SET status = %s", (status,))

    assert_refused(await door.client.get(path(ada), token=entered.access_token), 403, "ORGANIZATION_NOT_ACTIVE")
    assert (await door.client.get(path(bob), token=entered.access_token)).status == 200


async def test_an_organization_that_asks_for_two_factors_gives_its_owner_nothing_for_one(door: Door) -> None:
    ada, bob = door.account(), door.account("bob@example.com")
    bolt = door.organization("bolt", mfa_required=True)
    door.member(bolt, ada)
    door.member(bolt, bob, "owner")
    token = (await door.enter("bob@example.com")).access_token

    refused = await door.client.get(path(ada), token=token)

    assert_refused(refused, 403, "FORBIDDEN")
    assert "multi-factor" in refused.json["error"]
    door.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")
    assert (await door.client.get(path(ada), token=token)).status == 200


@pytest.mark.parametrize("is_platform_owner", [True, False])
async def test_a_service_gets_nothing_of_others_with_the_tokens_of_its_users(
    door: Door,
    is_platform_owner: bool,
) -> None:
    ada, bob = door.account(), door.account("bob@example.com", is_platform_owner=is_platform_owner)
    bolt = door.organization("bolt")
    door.member(bolt, ada)
    door.member(bolt, bob, "owner")
    door.service(door.organization("market"))
    token = (await door.enter("bob@example.com", org_slug="market", service_slug="shop")).access_token

    assert_refused(await door.client.get(path(ada), token=token), 403, "FORBIDDEN")
    assert_refused(await door.client.delete(f"/api/privacy/forget/{ada}", token=token), 403, "FORBIDDEN")
    assert (await door.client.get(path(bob), token=token)).status == 200


async def test_a_platform_owner_may_have_it(platform: Platform, door: Door) -> None:
    ada = door.account()

    assert (await platform.ask("GET", path(ada))).json["email"] == EMAIL


@pytest.mark.parametrize("role", ["admin", "member"])
async def test_nobody_else_may_have_it(door: Door, role: str) -> None:
    ada, bob = door.account(), door.account("bob@example.com")
    acme, bolt = door.organization("acme"), door.organization("bolt")
    door.member(acme, ada)
    door.member(acme, bob, role)
    door.member(bolt, bob, "owner")

    answer = await door.client.get(path(ada), token=(await door.enter("bob@example.com")).access_token)

    assert_refused(answer, 403, "FORBIDDEN")


async def test_who_is_not_there_is_not_found_by_who_may_ask_about_anybody(platform: Platform, door: Door) -> None:
    door.account()
    ada = await door.enter()

    assert_refused(await platform.ask("GET", path(UNKNOWN)), 404, "NOT_FOUND")
    # To others somebody who is not there is like somebody who is no business of theirs.
    assert_refused(await platform.ask("GET", path(UNKNOWN), by=ada), 403, "FORBIDDEN")
    assert_refused(await platform.ask("GET", path("ada")), 404, "NOT_FOUND")


async def test_without_a_session_nobody_has_anything(door: Door) -> None:
    assert_refused(await door.client.get(path(door.account())), 401, "UNAUTHORIZED")
