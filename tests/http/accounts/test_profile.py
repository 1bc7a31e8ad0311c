"""The profile (identity 2.1 and 4.2, decisions 3.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.organizations.access import Capability
from tests.accounts import EMAIL, people, place
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from tests.accounts import People, Place

__all__ = ["people", "place"]


async def test_the_profile_outside_an_organization(people: People) -> None:
    token = await people.arrive()

    answer = await people.client.get("/api/user", token=token)

    assert answer.status == 200
    assert answer.json == {
        "id": str(people.user_id()),
        "email": EMAIL,
        "org": "",
        "service": "",
        "email_verified": True,
        "is_platform_owner": False,
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
    people: People, place: Place, role: str, permissions: list[str]
) -> None:
    await people.register_and_verify()
    people.join(place.organization_id, EMAIL, role)
    token = await people.sign_in(org_slug=place.org_slug)

    profile = (await people.client.get("/api/user", token=token)).json

    assert (profile["org"], profile["service"], profile["role"]) == (place.org_slug, "", role)
    assert profile["permissions"] == permissions


async def test_the_profile_shows_what_a_custom_role_allows(people: People, place: Place) -> None:
    await people.register_and_verify()
    people.custom_role(place.organization_id, "auditor", ["audit_logs.view"])
    people.join(place.organization_id, EMAIL, "auditor")
    token = await people.sign_in(org_slug=place.org_slug)

    profile = (await people.client.get("/api/user", token=token)).json

    assert (profile["role"], profile["permissions"]) == ("auditor", ["audit_logs.view"])


async def test_the_profile_of_an_end_user_shows_the_service(people: People, place: Place) -> None:
    await people.register_and_verify()
    token = await people.sign_in(org_slug=place.org_slug, service_slug=place.service_slug)

    profile = (await people.client.get("/api/user", token=token)).json

    assert (profile["org"], profile["service"]) == (place.org_slug, place.service_slug)
    assert (profile["role"], profile["permissions"]) == (None, [])


async def test_the_profile_costs_one_statement(people: People, place: Place) -> None:
    await people.register_and_verify()
    people.join(place.organization_id)
    token = await people.sign_in(org_slug=place.org_slug)

    with recorded_statements() as statements:
        await people.client.get("/api/user", token=token)

    assert [statement.split()[0] for statement in statements] == ["SELECT"]


async def test_whom_the_organization_no_longer_has_is_refused(
    people: People, place: Place, connection: Connection
) -> None:
    await people.register_and_verify()
    people.join(place.organization_id)
    token = await people.sign_in(org_slug=place.org_slug)
    connection.execute("DELETE FROM memberships")

    read = await people.client.get("/api/user", token=token)
    changed = await people.client.patch("/api/user", token=token, body={"email": "new@example.com"})

    for answer in (read, changed):
        assert (answer.status, answer.json["error_code"]) == (403, "FORBIDDEN")
    assert people.has(EMAIL)


async def test_the_profile_is_there_while_the_organization_is_suspended(
    people: People, place: Place, connection: Connection
) -> None:
    await people.register_and_verify()
    people.join(place.organization_id)
    token = await people.sign_in(org_slug=place.org_slug)
    connection.execute("UPDATE organizations SET status = 'suspended'")

    assert (await people.client.get("/api/user", token=token)).status == 200


async def test_a_platform_owner_is_one_from_the_next_request_on(people: People, connection: Connection) -> None:
    token = await people.arrive()
    connection.execute("UPDATE users SET is_platform_owner = true")

    assert (await people.client.get("/api/user", token=token)).json["is_platform_owner"] is True


@pytest.mark.parametrize("body", [{}, {"email": None}, {"unknown": "field"}, {"email": " ADA@example.com"}])
async def test_a_change_that_names_nothing_new_changes_nothing(people: People, body: dict[str, str]) -> None:
    token = await people.arrive()
    await people.messages()

    answer = await people.client.patch("/api/user", token=token, body=body)

    assert answer.status == 200
    assert answer.json == (await people.client.get("/api/user", token=token)).json
    assert await people.messages() == []


async def test_nobody_has_a_profile_without_a_session(people: People) -> None:
    token = await people.arrive()
    await people.client.post("/api/auth/logout", token=token)

    for given in (None, "nonsense", token):
        assert (await people.client.get("/api/user", token=given)).status == 401
        assert (await people.client.patch("/api/user", token=given, body={})).status == 401
