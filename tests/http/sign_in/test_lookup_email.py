"""Looking up how an email address signs in (decisions 3.7)."""

from __future__ import annotations

import pytest

from tests.application import Client
from tests.world.builder import EMAIL
from tests.world.world import World


async def test_a_domain_without_a_provider_signs_in_by_password(client: Client) -> None:
    answer = await client.post("/api/auth/lookup-email", body={"email": " Ada@Example.com"})

    assert answer.status == 200
    assert answer.json == {
        "domain": "example.com",
        "auth_method": "password",
        "connection_id": None,
        "provider_name": None,
        "organization": None,
        "sso_required": False,
        "login_url": None,
    }


async def test_the_lookup_does_not_reveal_whether_an_account_exists(world: World) -> None:
    await world.register_and_verify()

    answers = [
        await world.client.post("/api/auth/lookup-email", body={"email": email})
        for email in (EMAIL, "nobody@example.com")
    ]

    assert answers[0].content == answers[1].content


async def test_an_invalid_address_is_refused(client: Client, subtests: pytest.Subtests) -> None:
    for email in ("", "ada", "@example.com", "ada@"):
        with subtests.test(email=email):
            answer = await client.post("/api/auth/lookup-email", body={"email": email})

            assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")
