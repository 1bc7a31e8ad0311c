"""Addresses with internationalized domains: one form everywhere, and no form that becomes another company's domain."""

from __future__ import annotations

import pytest

from core.platform import owners
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

TYPED, STORED = "Boss@Straße.example", "boss@xn--strae-oqa.example"
FULL_WIDTH = "boss@\uff45xample.com"


async def test_an_address_is_stored_and_mailed_to_in_its_ascii_form(world: World) -> None:
    await world.register(TYPED)

    assert (await world.mail()).to == STORED
    assert world.has_user(STORED)


async def test_both_forms_are_one_account_and_the_domain_without_the_letter_is_another(world: World) -> None:
    await world.register_and_verify(STORED)

    assert [(await world.log_in(email)).status for email in (TYPED, STORED)] == [200, 200]
    assert (await world.register(TYPED)).status == 409
    assert (await world.log_in("boss@strasse.example")).status == 401


@pytest.mark.parametrize("path", ["/api/auth/forgot-password", "/api/auth/magic-link/request"])
async def test_mail_is_requested_by_either_form(world: World, path: str) -> None:
    world.user(STORED)

    for email in (TYPED, STORED):
        await world.client.post(path, body={"email": email})

    assert [message.to for message in await world.mails()] == [STORED, STORED]


async def test_verification_is_requested_by_either_form(world: World) -> None:
    world.user(STORED, is_verified=False)

    await world.client.post("/api/auth/resend-verification", body={"email": TYPED})

    assert (await world.mail()).to == STORED


async def test_a_changed_address_and_an_invitation_are_stored_in_the_ascii_form(world: World) -> None:
    owner = await world.signed_in_member(world.organization())
    body = {"email": TYPED, "role": "member"}

    invited = await world.client.post("/api/organizations/acme/invitations", token=owner.token, body=body)
    asked = await world.client.patch("/api/user", token=owner.token, body={"email": "Ada@Bücher.example"})

    assert invited.status == 200, invited.text
    assert world.value("SELECT email FROM invitations") == STORED
    assert asked.json["email"] == "ada@xn--bcher-kva.example"


async def test_the_lookup_answers_the_ascii_form_of_the_domain(world: World) -> None:
    answer = await world.client.post("/api/auth/lookup-email", body={"email": TYPED})

    assert answer.json["domain"] == "xn--strae-oqa.example"


async def test_a_platform_owner_is_appointed_under_the_ascii_form(world: World) -> None:
    await world.installation.database.transact(owners.appoint, TYPED, "hash")

    assert world.value("SELECT email FROM users") == STORED


async def test_an_address_without_a_canonical_form_is_refused_everywhere(
    world: World, subtests: pytest.Subtests
) -> None:
    owner = await world.signed_in_member(world.organization())

    for email in (FULL_WIDTH, "boss@xn--a.example", "boss@bücher.example.", "boss@☃.example"):
        with subtests.test(email=email):
            invitation = {"email": email, "role": "member"}

            answers = [
                await world.client.post("/api/auth/register", body={"email": email, "password": PASSWORD}),
                await world.client.patch("/api/user", token=owner.token, body={"email": email}),
                await world.client.post("/api/organizations/acme/invitations", token=owner.token, body=invitation),
                await world.client.post("/api/auth/lookup-email", body={"email": email}),
            ]

            assert [answer.status for answer in answers] == [400] * 4
            assert {answer.json["details"][0]["field"] for answer in answers} == {"email"}
            assert world.rows("SELECT email FROM users") == [(EMAIL,)]


async def test_a_full_width_address_signs_in_to_no_other_account(world: World) -> None:
    world.user("boss@example.com")

    assert (await world.log_in(FULL_WIDTH)).status == 401


async def test_an_account_is_found_by_a_domain_in_its_own_letters(world: World) -> None:
    root = await world.signed_in_platform_owner()
    boss = world.user(STORED)

    found = (await root.get("/api/platform/users/search?email=boss@stra%C3%9Fe.example")).json

    assert [user["id"] for user in found["users"]] == [str(boss)]
