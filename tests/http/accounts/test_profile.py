"""The profile of the user, in each context of a session."""

from __future__ import annotations

import pytest

from adapters.postgres.driver.connection import Connection
from core.organizations.access import Capability
from tests.statements import recorded_statements
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.world import World


async def test_the_profile_outside_an_organization(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token

    answer = await world.client.get("/api/user", token=token)

    assert answer.status == 200
    assert answer.json == {
        "id": str(world.user_id(EMAIL)),
        "email": EMAIL,
        "name": None,
        "org": "",
        "service": "",
        "email_verified": True,
        "is_platform_owner": False,
        "is_platform_support": False,
        "created_at": "2026-02-03T04:05:06Z",
        "role": None,
        "permissions": [],
        "plan": None,
        "features": [],
    }


@pytest.mark.parametrize(
    ("role", "permissions"),
    [
        ("owner", sorted(Capability)),
        ("admin", sorted(Capability)),
        ("member", ["analytics.view", "end_users.view", "org.members.view", "services.view"]),
    ],
)
async def test_the_profile_in_an_organization_shows_the_role_and_what_it_allows(
    world: World, acme_shop: AcmeShop, role: str, permissions: list[str]
) -> None:
    await world.register_and_verify()
    world.member(acme_shop.organization_id, world.user_id(EMAIL), role)
    token = (await world.sign_in(org_slug=acme_shop.org_slug)).access_token

    profile = (await world.client.get("/api/user", token=token)).json

    assert (profile["org"], profile["service"], profile["role"]) == (acme_shop.org_slug, "", role)
    assert profile["permissions"] == permissions


async def test_the_profile_shows_what_a_custom_role_allows(world: World, acme_shop: AcmeShop) -> None:
    await world.register_and_verify()
    world.custom_role(acme_shop.organization_id, "auditor", "audit_logs.view")
    world.member(acme_shop.organization_id, world.user_id(EMAIL), "auditor")
    token = (await world.sign_in(org_slug=acme_shop.org_slug)).access_token

    profile = (await world.client.get("/api/user", token=token)).json

    assert (profile["role"], profile["permissions"]) == ("auditor", ["audit_logs.view"])


async def test_the_profile_of_an_end_user_shows_the_service(world: World, acme_shop: AcmeShop) -> None:
    await world.register_and_verify()
    token = (await world.sign_in(org_slug=acme_shop.org_slug, service_slug=acme_shop.service_slug)).access_token

    profile = (await world.client.get("/api/user", token=token)).json

    assert (profile["org"], profile["service"]) == (acme_shop.org_slug, acme_shop.service_slug)
    assert (profile["role"], profile["permissions"]) == (None, [])


async def test_reading_the_profile_takes_one_statement(world: World, acme_shop: AcmeShop) -> None:
    await world.register_and_verify()
    world.member(acme_shop.organization_id, world.user_id(EMAIL))
    token = (await world.sign_in(org_slug=acme_shop.org_slug)).access_token

    with recorded_statements() as statements:
        await world.client.get("/api/user", token=token)

    assert [statement.split()[0] for statement in statements] == ["SELECT"]


async def test_a_former_member_is_refused(world: World, acme_shop: AcmeShop, connection: Connection) -> None:
    await world.register_and_verify()
    world.member(acme_shop.organization_id, world.user_id(EMAIL))
    token = (await world.sign_in(org_slug=acme_shop.org_slug)).access_token
    connection.execute("DELETE FROM memberships")

    read = await world.client.get("/api/user", token=token)
    changed = await world.client.patch("/api/user", token=token, body={"email": "new@example.com"})

    for answer in (read, changed):
        assert (answer.status, answer.json["error_code"]) == (403, "FORBIDDEN")
    assert world.has_user(EMAIL)


async def test_the_profile_is_readable_while_the_organization_is_suspended(
    world: World, acme_shop: AcmeShop, connection: Connection
) -> None:
    await world.register_and_verify()
    world.member(acme_shop.organization_id, world.user_id(EMAIL))
    token = (await world.sign_in(org_slug=acme_shop.org_slug)).access_token
    connection.execute("UPDATE organizations SET status = 'suspended'")

    assert (await world.client.get("/api/user", token=token)).status == 200


async def test_a_promotion_to_platform_owner_shows_in_the_next_request(world: World, connection: Connection) -> None:
    token = (await world.register_and_sign_in()).access_token
    connection.execute("UPDATE users SET is_platform_owner = true")

    assert (await world.client.get("/api/user", token=token)).json["is_platform_owner"] is True


async def test_a_change_without_a_new_value_changes_nothing(world: World, subtests: pytest.Subtests) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.mails()

    for body in ({}, {"email": None}, {"unknown": "field"}, {"email": " ADA@example.com"}):
        with subtests.test(body=body):
            answer = await world.client.patch("/api/user", token=token, body=body)

            assert answer.status == 200
            assert answer.json == (await world.client.get("/api/user", token=token)).json
            assert await world.mails() == []


async def test_the_profile_requires_a_current_session(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.client.post("/api/auth/logout", token=token)

    for given in (None, "nonsense", token):
        assert (await world.client.get("/api/user", token=given)).status == 401
        assert (await world.client.patch("/api/user", token=given, body={})).status == 401
