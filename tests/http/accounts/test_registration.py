"""Registering an account."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from adapters.postgres.driver.connection import Connection
from entrypoints.settings import Settings
from tests.application import serving
from tests.concurrency import at_once, statuses_of
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

ROUNDS = 50


async def test_a_registration_creates_an_account_and_mails_a_link(world: World) -> None:
    answer = await world.register(" Ada@Example.com ")

    assert answer.status == 200
    assert EMAIL in answer.json["message"]
    message = await world.mail()
    assert (message.to, message.template) == (EMAIL, "verify_email")


async def test_signing_in_requires_a_verified_address(world: World) -> None:
    await world.register()

    answer = await world.log_in()

    assert answer.status == 401
    assert "Verify your email address" in answer.json["error"]


async def test_an_address_that_is_registered_is_a_conflict(world: World) -> None:
    await world.register_and_verify()
    await world.mails()

    answer = await world.register("ADA@example.com", "another password")

    assert (answer.status, answer.json["error_code"]) == (409, "CONFLICT")
    assert await world.mails() == []


async def test_the_first_password_stays_when_an_address_is_registered_again(world: World) -> None:
    await world.register_and_verify()

    await world.register(EMAIL, "another password")

    assert (await world.log_in()).status == 200


async def test_of_two_concurrent_registrations_of_an_address_one_succeeds(world: World) -> None:
    for round_number in range(ROUNDS):
        answers = await at_once(*[partial(world.register, f"racer{round_number}@example.com") for _ in range(2)])

        assert statuses_of(answers) == [200, 409]
    # Each of the two has a password and a link of its own.
    assert len(await world.mails()) == 2 * ROUNDS


@pytest.mark.parametrize("password", ["8 chars!", "x" * 128, "пароль-🔑", "🔑" * 128, " spaces ", "e\u0301" * 4])
async def test_passwords_of_8_to_128_characters_of_any_script_work(world: World, password: str) -> None:
    await world.register_and_verify(EMAIL, password)

    assert (await world.log_in(EMAIL, password)).status == 200


async def test_an_invalid_password_is_refused_with_the_name_of_the_field(
    world: World, subtests: pytest.Subtests
) -> None:
    for password in ("7 chars", "x" * 129, "🔑" * 129, "", "nul\x00 inside"):
        with subtests.test(password=password):
            answer = await world.register(EMAIL, password)

            assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
            assert [detail["field"] for detail in answer.json["details"]] == ["password"]
            assert not world.has_user(EMAIL)


async def test_an_invalid_address_is_refused_with_the_name_of_the_field(
    world: World, subtests: pytest.Subtests
) -> None:
    for email in ("", "ada", "ada@", "@example.com", "ada@example", "a b@example.com", "x" * 250 + "@a.io"):
        with subtests.test(email=email):
            answer = await world.register(email)

            assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")


async def test_a_registration_is_an_event_without_an_organization(world: World) -> None:
    await world.register()

    assert world.events("user.signup.success") == [(None, EMAIL, {"provider": "password", "service_id": None})]


async def test_a_registration_for_a_service_is_an_event_of_its_organization_and_creates_no_membership(
    world: World, acme_shop: AcmeShop, connection: Connection
) -> None:
    answer = await world.register(**acme_shop.return_request)

    assert answer.status == 200
    [(organization_id, _, data)] = world.events("user.signup.success")
    assert organization_id == acme_shop.organization_id
    assert data["service_id"] == str(acme_shop.service_id)
    for table in ("memberships", "service_users"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_the_mail_names_the_service(world: World, acme_shop: AcmeShop) -> None:
    await world.register(**acme_shop.return_request)

    message = world.installation.mail_renderer.render(await world.mail())

    assert message.subject == "Verify your email address for “Acme Shop”"
    assert "at “Acme Shop”" in message.text


async def test_the_mail_names_the_organization_if_the_request_names_no_service(
    world: World, acme_shop: AcmeShop
) -> None:
    await world.register(org_slug=acme_shop.org_slug)

    message = world.installation.mail_renderer.render(await world.mail())

    assert message.subject == "Verify your email address for “Acme Ltd”"


async def test_an_unknown_organization_or_service_is_not_found(world: World, acme_shop: AcmeShop) -> None:
    for return_request in ({"org_slug": "nobody"}, {"org_slug": acme_shop.org_slug, "service_slug": "nothing"}):
        answer = await world.register(**return_request)

        assert (answer.status, answer.json["error_code"]) == (404, "NOT_FOUND")
    assert not world.has_user(EMAIL)


async def test_a_redirect_uri_that_is_not_exactly_registered_is_refused(
    world: World, acme_shop: AcmeShop, subtests: pytest.Subtests
) -> None:
    for redirect_uri in ("https://shop.example/welcome/", "https://evil.example/", "", "HTTPS://SHOP.example/welcome"):
        with subtests.test(redirect_uri=redirect_uri):
            answer = await world.register(**{**acme_shop.return_request, "redirect_uri": redirect_uri})

            assert answer.status == 400
            assert not world.has_user(EMAIL)


async def test_a_redirect_uri_requires_its_service_and_a_service_its_organization(
    world: World, acme_shop: AcmeShop
) -> None:
    uri_alone = await world.register(redirect_uri=acme_shop.redirect_uri)
    service_alone = await world.register(service_slug=acme_shop.service_slug)
    without_service = await world.register(org_slug=acme_shop.org_slug, redirect_uri=acme_shop.redirect_uri)

    assert [answer.status for answer in (uri_alone, service_alone, without_service)] == [400, 400, 400]
    assert [answer.invalid_fields for answer in (uri_alone, service_alone, without_service)] == [
        ["redirect_uri"],
        ["org_slug"],
        ["redirect_uri"],
    ]


async def test_an_unregistered_redirect_uri_is_the_invalid_field(world: World, acme_shop: AcmeShop) -> None:
    answer = await world.register(**{**acme_shop.return_request, "redirect_uri": "https://evil.example/"})

    assert answer.invalid_fields == ["redirect_uri"]


async def test_an_invalid_address_and_an_invalid_password_are_both_named(world: World) -> None:
    answer = await world.register(email="nobody", password="short")

    assert answer.invalid_fields == ["email", "password"]


async def test_an_inactive_organization_appears_neither_in_the_mail_nor_in_the_event(
    world: World, acme_shop: AcmeShop, connection: Connection
) -> None:
    connection.execute("UPDATE organizations SET status = 'suspended'")

    assert (await world.register(**acme_shop.return_request)).status == 200

    message = await world.mail()
    assert message.values["place"] == ""
    assert world.events("user.signup.success")[0][0] is None


async def test_the_eleventh_registration_in_a_row_from_an_address_is_rate_limited(world: World) -> None:
    limited = serving(replace(world.installation, settings=Settings(dev=True)))

    answers = [
        await limited.post("/api/auth/register", body={"email": f"a{number}@example.com", "password": PASSWORD})
        for number in range(11)
    ]

    assert [answer.status for answer in answers] == [200] * 10 + [429]
