"""Exporting the data of a user."""

from __future__ import annotations

import json
from datetime import timedelta
from uuid import UUID

import pytest

from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world import internal
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.platform import Platform
from tests.world.trade import insert_trade
from tests.world.world import World, assert_refused

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
SECOND = timedelta(seconds=1)


def path(user_id: UUID | str) -> str:
    return f"/api/privacy/export/{user_id}"


async def test_the_package_has_exactly_the_documented_fields(
    world: World, keyring: Keyring, clock: SettableClock
) -> None:
    await keyring.sign_up()
    await keyring.registered()
    user_id = world.value("SELECT id FROM users")
    acme = world.organization()
    world.member(acme, user_id, "admin")
    clock.advance(SECOND)
    tokens = await world.sign_in(headers={"User-Agent": "curl/8.5.0"})

    answer = await world.client.get(path(user_id), token=tokens.access_token)

    assert answer.status == 200, answer.text
    package = answer.json
    login, passkey = package["login_events"][0], package["passkeys"][0]
    assert package == {
        "user_id": str(user_id),
        "email": EMAIL,
        "name": None,
        "language": None,
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
        "groups": [],
        "customers": [],
        "admissions": [],
        "assignments": [],
        "service_metadata": [],
        "messages": [],
        "oauth_identities": [],
        "mfa_events": [{"event_type": "passkey_registered", "timestamp": "2026-02-03T04:05:06Z", "success": True}],
        "passkeys": [passkey],
    }
    assert login == {
        "id": login["id"],
        "timestamp": "2026-02-03T04:05:07Z",
        "ip_address": world.value("SELECT ip_address FROM login_events ORDER BY id DESC LIMIT 1"),
        "user_agent": "curl/8.5.0",
        "provider": "password",
        "success": True,
        "reason": None,
        "risk_score": 30,
        "risk_factors": '["new_device"]',
        "geo_country": None,
        "geo_city": None,
    }
    assert json.loads(login["risk_factors"]) == ["new_device"]
    assert set(passkey) == {"id", "name", "aaguid", "backup_eligible", "created_at", "last_used_at", "second_factor"}


async def test_the_package_has_the_newest_login_events_and_counts_all(
    world: World, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.privacy.export.LOGIN_EVENTS_MAX", 3)
    user_id = world.user()
    tokens = await world.sign_in()
    for password in ("a wrong password", PASSWORD, "a wrong password"):
        clock.advance(SECOND)
        await world.log_in(password=password)

    package = (await world.client.get(path(user_id), token=tokens.access_token)).json

    assert package["login_events_count"] == 4
    assert [event["success"] for event in package["login_events"]] == [False, True, False]


async def test_the_package_contains_no_secrets(world: World, keyring: Keyring) -> None:
    await keyring.sign_up(has_mfa=False)
    await keyring.registered()

    answer = await world.client.get(path(world.value("SELECT id FROM users")), token=keyring.token)

    for word in ("hash", "argon2", "secret", "token", "public_key", "credential"):
        assert not shows(answer.text, word)


async def test_an_owner_of_an_organization_of_the_user_can_export_them(world: World) -> None:
    ada, bob = world.user(), world.user("bob@example.com")
    acme, bolt = world.organization("acme"), world.organization("bolt")
    world.member(acme, ada)
    world.member(bolt, ada)
    world.member(bolt, bob, "owner")

    answer = await world.client.get(path(ada), token=(await world.sign_in("bob@example.com")).access_token)

    assert (answer.status, answer.json["user_id"]) == (200, str(ada))


async def test_an_owner_gets_no_data_of_organizations_that_they_do_not_own(
    platform: Platform, world: World, clock: SettableClock
) -> None:
    ada, bob = world.user(), world.user("bob@example.com")
    acme, bolt = world.organization("acme"), world.organization("bolt")
    for organization_id in (acme, bolt):
        world.member(organization_id, ada)
    world.member(bolt, bob, "owner")
    for headers, where in (
        ({"User-Agent": "anywhere"}, {}),
        ({"User-Agent": "acme's"}, {"org_slug": "acme"}),
        ({"User-Agent": "bolt's"}, {"org_slug": "bolt"}),
    ):
        clock.advance(SECOND)
        tokens = await world.sign_in(headers=headers, **where)

    bobs_package = (await world.client.get(path(ada), token=(await world.sign_in("bob@example.com")).access_token)).json
    others = [(await platform.request("GET", path(ada), by=by)).json for by in (platform.owner, tokens)]

    assert [row["organization_slug"] for row in bobs_package["memberships"]] == ["bolt"]
    assert [row["user_agent"] for row in bobs_package["login_events"]] == ["bolt's"]
    assert bobs_package["login_events_count"] == 1
    for package in others:
        assert [row["organization_slug"] for row in package["memberships"]] == ["acme", "bolt"]
        assert [row["user_agent"] for row in package["login_events"]] == ["bolt's", "acme's", "anywhere"]


async def test_the_owner_of_an_inactive_organization_cannot_export_its_members(
    world: World, subtests: pytest.Subtests
) -> None:
    ada, bob = world.user(), world.user("bob@example.com")
    bolt = world.organization("bolt")
    world.member(bolt, ada)
    world.member(bolt, bob, "owner")
    tokens = await world.sign_in("bob@example.com")

    for status in ("pending", "suspended", "rejected"):
        with subtests.test(status=status):
            world.connection.execute("UPDATE organizations SET status = %s", (status,))

            assert_refused(await world.client.get(path(ada), token=tokens.access_token), 403, "ORGANIZATION_NOT_ACTIVE")
            assert (await world.client.get(path(bob), token=tokens.access_token)).status == 200


async def test_an_owner_with_one_factor_is_refused_if_the_organization_requires_two(world: World) -> None:
    ada, bob = world.user(), world.user("bob@example.com")
    bolt = world.organization("bolt", mfa_required=True)
    world.member(bolt, ada)
    world.member(bolt, bob, "owner")
    token = (await world.sign_in("bob@example.com")).access_token

    refused = await world.client.get(path(ada), token=token)

    assert_refused(refused, 403, "FORBIDDEN")
    assert "multi-factor" in refused.json["error"]
    world.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")
    assert (await world.client.get(path(ada), token=token)).status == 200


@pytest.mark.parametrize("is_platform_owner", [True, False])
async def test_a_token_of_a_service_gives_access_neither_to_other_users_nor_to_an_account_that_it_shares(
    world: World,
    is_platform_owner: bool,
) -> None:
    ada, bob = world.user(), world.user("bob@example.com", is_platform_owner=is_platform_owner)
    bolt = world.organization("bolt")
    world.member(bolt, ada)
    world.member(bolt, bob, "owner")
    world.service(world.organization("market"))
    token = (await world.sign_in("bob@example.com", org_slug="market", service_slug="shop")).access_token

    assert_refused(await world.client.get(path(ada), token=token), 403, "FORBIDDEN")
    assert_refused(await world.client.delete(f"/api/privacy/forget/{ada}", token=token), 403, "FORBIDDEN")
    assert_refused(await world.client.get(path(bob), token=token), 403, "FORBIDDEN")


async def test_a_platform_owner_can_export_any_user(platform: Platform, world: World) -> None:
    ada = world.user()

    assert (await platform.request("GET", path(ada))).json["email"] == EMAIL


@pytest.mark.parametrize("role", ["admin", "member"])
async def test_an_admin_or_member_is_refused(world: World, role: str) -> None:
    ada, bob = world.user(), world.user("bob@example.com")
    acme, bolt = world.organization("acme"), world.organization("bolt")
    world.member(acme, ada)
    world.member(acme, bob, role)
    world.member(bolt, bob, "owner")

    answer = await world.client.get(path(ada), token=(await world.sign_in("bob@example.com")).access_token)

    assert_refused(answer, 403, "FORBIDDEN")


async def test_an_unknown_user_is_not_found_for_a_platform_owner_and_forbidden_for_others(
    platform: Platform, world: World
) -> None:
    world.user()
    ada = await world.sign_in()

    assert_refused(await platform.request("GET", path(UNKNOWN)), 404, "NOT_FOUND")
    # Other callers cannot tell an unknown user from one that they may not export.
    assert_refused(await platform.request("GET", path(UNKNOWN), by=ada), 403, "FORBIDDEN")
    assert_refused(await platform.request("GET", path("ada")), 404, "NOT_FOUND")


async def test_an_export_requires_a_session(world: World) -> None:
    assert_refused(await world.client.get(path(world.user())), 401, "UNAUTHORIZED")


class TestOfAnOwner:
    """An owner exports what belongs to the context of their organization, and nothing of the account itself."""

    async def test_an_owner_exports_an_end_user_in_the_context_of_the_organization(
        self, world: World, keyring: Keyring
    ) -> None:
        await keyring.sign_up()
        await keyring.registered()
        acme, bob = world.organization(), world.user("bob@example.com")
        world.member(acme, bob, "owner")
        world.member(world.organization("bolt"), world.user_id(EMAIL))
        world.service(acme)
        await world.sign_in(org_slug="acme", service_slug="shop", headers={"User-Agent": "shop"})
        await world.log_in(password="a wrong password")

        token = (await world.sign_in("bob@example.com")).access_token
        package = (await world.client.get(path(world.user_id(EMAIL)), token=token)).json

        assert [login["user_agent"] for login in package["login_events"]] == ["shop"]
        assert package["login_events_count"] == 1
        assert (package["memberships"], package["passkeys"], package["mfa_events"]) == ([], [], [])

    async def test_an_owner_exports_no_one_who_never_signed_in_to_their_services(self, world: World) -> None:
        ada, bob = world.user(), world.user("bob@example.com")
        acme = world.organization()
        world.member(acme, bob, "owner")
        world.link(acme, world.service(acme).id, ada)
        token = (await world.sign_in("bob@example.com")).access_token

        linked = await world.client.get(path(ada), token=token)
        await world.sign_in(org_slug="acme", service_slug="shop")
        consented = await world.client.get(path(ada), token=token)

        assert_refused(linked, 403, "FORBIDDEN")
        assert consented.status == 200, consented.text

    async def test_an_owner_cannot_export_a_platform_owner(self, world: World) -> None:
        ada, bob = world.user(is_platform_owner=True), world.user("bob@example.com")
        acme = world.organization()
        world.member(acme, ada)
        world.member(acme, bob, "owner")
        token = (await world.sign_in("bob@example.com")).access_token

        refused = [await world.client.get(path(user_id), token=token) for user_id in (ada, UNKNOWN)]

        for answer in refused:
            assert_refused(answer, 403, "FORBIDDEN")
        assert refused[0].json["error"] == refused[1].json["error"]
        assert world.audit_entries("user.exported") == []


class TestRecords:
    """Every export is recorded as `user.exported`."""

    async def test_an_export_by_an_owner_is_recorded_in_their_organization(self, world: World) -> None:
        ada, bob = world.user(), world.user("bob@example.com")
        acme, bolt = world.organization("acme"), world.organization("bolt")
        world.member(acme, ada)
        world.member(bolt, ada)
        world.member(bolt, bob, "owner")

        await world.client.get(path(ada), token=(await world.sign_in("bob@example.com")).access_token)

        assert world.audit_entries("user.exported") == [(bolt, bob, str(ada), {})]
        assert world.events("user.exported") == [(bolt, "bob@example.com", {"user_id": str(ada)})]
        assert world.platform_audit_entries("user.exported") == []

    async def test_an_export_by_a_platform_owner_is_recorded_on_the_platform_too(
        self, platform: Platform, world: World
    ) -> None:
        ada, acme = world.user(), world.organization()
        world.member(acme, ada)
        world.member(world.organization("bolt"), ada, is_confirmed=False)

        await platform.request("GET", path(ada))

        assert world.audit_entries("user.exported") == [(acme, platform.owner_id, str(ada), {})]
        assert world.platform_audit_entries("user.exported") == [(platform.owner_id, str(ada), {})]

    async def test_an_export_of_a_user_without_organizations_is_an_event_of_none(self, world: World) -> None:
        ada = world.user()

        await world.client.get(path(ada), token=(await world.sign_in()).access_token)

        assert world.audit_entries("user.exported") == []
        assert world.events("user.exported") == [(None, EMAIL, {"user_id": str(ada)})]

    async def test_an_export_by_an_impersonator_names_the_impersonator(self, platform: Platform, world: World) -> None:
        ada, acme = world.user(), world.organization()
        world.member(acme, ada)
        impersonation = await platform.impersonate(ada)

        assert (await platform.request("GET", path(ada), by=impersonation)).status == 200

        [(_, actor, _, details)] = world.audit_entries("user.exported")
        assert (actor, details["impersonator_id"]) == (ada, str(platform.owner_id))
        [(actor, target, details)] = world.platform_audit_entries("impersonation.acted")
        assert (actor, target, details["deed"]) == (platform.owner_id, str(ada), "user.exported")


async def test_it_has_the_customers_that_the_person_came_for(world: World) -> None:
    trade = insert_trade(world)
    customer_id = await trade.begin()
    worker = trade.customer.ids["worker"]
    world.member(trade.vendor.organization_id, worker)
    came = await world.log_in("worker@example.com", org_slug="acme", service_slug="shop", customer="beta")
    assert came.status == 200, came.text
    tokens = await world.sign_in("worker@example.com")

    own = await world.client.get(path(worker), token=tokens.access_token)
    of_customer = await world.client.get(path(worker), token=await trade.customer.token("head"))
    of_vendor = await world.client.get(path(worker), token=await trade.vendor.token("owner"))

    assert own.json["customers"] == [
        {
            "customer_id": customer_id,
            "organization_id": str(trade.customer.organization_id),
            "organization_slug": "beta",
            "vendor_slug": "acme",
            "service_slug": "shop",
            "first_sign_in_at": "2026-02-03T04:05:06Z",
            "last_sign_in_at": "2026-02-03T04:05:06Z",
        }
    ]
    assert of_customer.json["customers"] == own.json["customers"]
    assert of_vendor.json["customers"] == []


async def test_it_has_the_services_that_organizations_have_assigned_to_the_person(world: World) -> None:
    trade = insert_trade(world)
    await trade.begin()
    worker = trade.customer.ids["worker"]
    world.member(trade.vendor.organization_id, worker)
    for_worker, for_all = (
        {"subject": f"user:{worker}", "roles": ["viewer", "editor"]},
        {"subject": "everyone", "roles": []},
    )
    assigned = {"assignments": [for_worker, for_all]}
    at_customer = await trade.at_customer("PATCH", body=assigned)
    at_vendor = await trade.vendor.request("owner", "PATCH", "/services/shop", body=assigned)
    tokens = await world.sign_in("worker@example.com")

    own = await world.client.get(path(worker), token=tokens.access_token)
    of_customer = await world.client.get(path(worker), token=await trade.customer.token("head"))

    assert (at_customer.status, at_vendor.status) == (200, 200), (at_customer.text, at_vendor.text)
    there = {"vendor_slug": "acme", "service_slug": "shop", "roles": ["editor", "viewer"]}
    by_vendor = {"organization_id": str(trade.vendor.organization_id), "organization_slug": "acme", **there}
    by_customer = {"organization_id": str(trade.customer.organization_id), "organization_slug": "beta", **there}
    assert own.json["assignments"] == [by_vendor, by_customer]
    assert of_customer.json["assignments"] == [by_customer]


async def test_it_has_the_messages_that_the_person_has_sent_and_got(world: World) -> None:
    team = world.team()
    for name in ("owner", "admin"):
        team.add(name, name)
    invitations = [("admin", "guest@example.com", "Hi guest"), ("owner", "other@example.com", "Hi other")]
    for by, email, message in invitations:
        body = {"email": email, "role": "member", "message": message}
        sent = await team.request(by, "POST", "/invitations", body=body)
        assert sent.status == 200
        if email == "guest@example.com":
            accepted = await world.client.post("/api/invitations/accept", body={"token": sent.json["token"]})
            assert accepted.status == 200
    guest_id = world.user_id("guest@example.com")

    async def messages(user_id: UUID, token: str) -> list[tuple[str, bool]]:
        answer = await world.client.get(path(user_id), token=token)
        return [(one["message"], one["is_sent"]) for one in answer.json["messages"]]

    assert await messages(team.ids["admin"], await team.token("admin")) == [("Hi guest", True)]
    assert await messages(team.ids["owner"], await team.token("owner")) == [("Hi other", True)]
    # Before the address is proved, the account may belong to another person.
    world.connection.execute("UPDATE memberships SET confirmed_at = created_at")
    owner = await team.token("owner")
    assert await messages(guest_id, owner) == []
    world.connection.execute("UPDATE users SET email_verified_at = created_at")
    assert await messages(guest_id, owner) == [("Hi guest", False)]


async def test_it_has_the_customers_for_which_a_vendor_has_let_the_person_in(world: World) -> None:
    trade = insert_trade(world)
    customer_id = await trade.begin()
    guest = world.user("guest@example.com")
    internal.admit(world, await internal.internal_of(world, UUID(customer_id)), guest)
    came = await world.log_in("guest@example.com", org_slug="acme", service_slug="shop", customer="beta")
    assert came.status == 200, came.text
    root = await world.signed_in_platform_owner()

    exports = [
        (await world.client.get(path(guest), token=(await world.sign_in("guest@example.com")).access_token)).json,
        (await root.get(path(guest))).json,
    ]

    for one in exports:
        assert one["memberships"] == []
        assert one["admissions"] == [
            {
                "customer_id": customer_id,
                "organization_slug": "beta",
                "vendor_slug": "acme",
                "service_slug": "shop",
                "admitted_at": "2026-02-03T04:05:06Z",
                "suspended_at": None,
            }
        ]
        [visit] = one["customers"]
        assert (visit["customer_id"], visit["organization_id"]) == (customer_id, str(trade.customer.organization_id))
    for team, role in ((trade.vendor, "owner"), (trade.customer, "head")):
        assert (await world.client.get(path(guest), token=await team.token(role))).status == 403
