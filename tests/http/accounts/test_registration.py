"""Making an account (identity 4.1, decisions 3.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio

from entrypoints.settings import Settings
from tests.accounts import EMAIL, PASSWORD, people, place
from tests.application import serving

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from tests.accounts import People, Place

__all__ = ["people", "place"]

ROUNDS = 50


async def test_an_account_is_made_and_its_address_gets_a_link(people: People) -> None:
    answer = await people.register(" Ada@Example.com ")

    assert answer.status == 200
    assert EMAIL in answer.json["message"]
    message = await people.message()
    assert (message.to, message.template) == (EMAIL, "verify_email")


async def test_until_the_address_is_verified_nobody_signs_in(people: People) -> None:
    await people.register()

    answer = await people.log_in()

    assert answer.status == 401
    assert "Verify your email address" in answer.json["error"]


async def test_an_address_that_is_registered_is_a_conflict(people: People) -> None:
    await people.register()
    await people.messages()

    answer = await people.register("ADA@example.com", "another password")

    assert (answer.status, answer.json["error_code"]) == (409, "CONFLICT")
    assert await people.messages() == []


async def test_the_first_password_stays_when_an_address_is_registered_again(people: People) -> None:
    await people.register_and_verify()

    await people.register(EMAIL, "another password")

    assert (await people.log_in()).status == 200


async def test_of_two_who_register_an_address_at_once_one_gets_it(people: People) -> None:
    for round_number in range(ROUNDS):
        statuses: list[int] = []

        async def register(email: str, statuses: list[int]) -> None:
            statuses.append((await people.register(email)).status)

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(register, f"racer{round_number}@example.com", statuses)

        assert sorted(statuses) == [200, 409]
    assert len(await people.messages()) == ROUNDS


@pytest.mark.parametrize("password", ["8 chars!", "x" * 128, "пароль-🔑", "🔑" * 128, " spaces ", "e\u0301" * 4])
async def test_passwords_of_8_to_128_characters_of_any_script_work(people: People, password: str) -> None:
    await people.register_and_verify(EMAIL, password)

    assert (await people.log_in(EMAIL, password)).status == 200


@pytest.mark.parametrize("password", ["7 chars", "x" * 129, "🔑" * 129, "", "nul\x00 inside"])
async def test_other_passwords_are_refused_by_name(people: People, password: str) -> None:
    answer = await people.register(EMAIL, password)

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert [detail["field"] for detail in answer.json["details"]] == ["password"]
    assert not people.has(EMAIL)


@pytest.mark.parametrize(
    "email", ["", "ada", "ada@", "@example.com", "ada@example", "a b@example.com", "x" * 250 + "@a.io"]
)
async def test_what_is_no_address_is_refused_by_name(people: People, email: str) -> None:
    answer = await people.register(email)

    assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")


async def test_a_registration_is_an_event_without_an_organization(people: People) -> None:
    await people.register()

    assert people.events("user.signup.success") == [(None, EMAIL, {"provider": "password", "service_id": None})]


async def test_a_registration_that_names_a_service_is_an_event_of_its_organization_and_joins_nothing(
    people: People, place: Place, connection: Connection
) -> None:
    answer = await people.register(**place.return_request)

    assert answer.status == 200
    [(organization_id, _, data)] = people.events("user.signup.success")
    assert organization_id == place.organization_id
    assert data["service_id"] == str(place.service_id)
    for table in ("memberships", "service_users"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_the_letter_names_the_service(people: People, place: Place) -> None:
    await people.register(**place.return_request)

    message = people.installation.mail_renderer.render(await people.message())

    assert message.subject == "Verify your email address for Acme Shop"
    assert "at Acme Shop" in message.text


async def test_the_letter_names_the_organization_where_no_service_is_named(people: People, place: Place) -> None:
    await people.register(org_slug=place.org_slug)

    message = people.installation.mail_renderer.render(await people.message())

    assert message.subject == "Verify your email address for Acme Ltd"


async def test_an_unknown_organization_or_service_is_not_found(people: People, place: Place) -> None:
    for return_request in ({"org_slug": "nobody"}, {"org_slug": place.org_slug, "service_slug": "nothing"}):
        answer = await people.register(**return_request)

        assert (answer.status, answer.json["error_code"]) == (404, "NOT_FOUND")
    assert not people.has(EMAIL)


@pytest.mark.parametrize(
    "redirect_uri", ["https://shop.example/welcome/", "https://evil.example/", "", "HTTPS://SHOP.example/welcome"]
)
async def test_an_address_to_go_back_to_that_is_not_exactly_registered_is_refused(
    people: People, place: Place, redirect_uri: str
) -> None:
    answer = await people.register(**{**place.return_request, "redirect_uri": redirect_uri})

    assert answer.status == 400
    assert not people.has(EMAIL)


async def test_an_address_or_a_service_is_named_together_with_what_it_belongs_to(people: People, place: Place) -> None:
    alone = await people.register(redirect_uri=place.redirect_uri)
    service_alone = await people.register(service_slug=place.service_slug)
    without_service = await people.register(org_slug=place.org_slug, redirect_uri=place.redirect_uri)

    assert [answer.status for answer in (alone, service_alone, without_service)] == [400, 400, 400]
    assert alone.json["details"][0]["field"] == "org_slug"
    assert without_service.json["details"][0]["field"] == "service_slug"


async def test_an_organization_that_is_not_active_colours_nothing(
    people: People, place: Place, connection: Connection
) -> None:
    connection.execute("UPDATE organizations SET status = 'suspended'")

    assert (await people.register(**place.return_request)).status == 200

    message = await people.message()
    assert message.values["place"] == ""
    assert people.events("user.signup.success")[0][0] is None


async def test_after_ten_registrations_at_once_an_address_waits(people: People) -> None:
    limited = serving(replace(people.installation, settings=Settings(dev=True)))

    answers = [
        await limited.post("/api/auth/register", body={"email": f"a{number}@example.com", "password": PASSWORD})
        for number in range(11)
    ]

    assert [answer.status for answer in answers] == [200] * 10 + [429]
