"""Turning multi-factor authentication on and off."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

import pytest
from lxml import etree

from adapters.postgres.driver.connection import Connection
from entrypoints.settings import Settings
from tests.application import Answer, Client
from tests.concurrency import at_once, statuses_of
from tests.world.second_factors import Person, insert_person
from tests.world.world import World

RACES = 50


CODE_SHAPE = re.compile(r"[2-9A-HJKMNP-TV-Z]{4}-[2-9A-HJKMNP-TV-Z]{4}")


@pytest.fixture
async def ada(world: World) -> Person:
    """A user who is signed in and has no second factor."""
    person = insert_person(world)
    await person.sign_in()
    return person


def mail_templates(connection: Connection) -> list[str]:
    return [template for (template,) in connection.execute("SELECT template FROM mails ORDER BY id")]


def impersonate(connection: Connection, person: Person) -> None:
    """Turn the user's sessions into impersonations by a platform owner."""
    owner = uuid4()
    connection.execute(
        """
        INSERT INTO users (id, email, is_platform_owner, created_at, updated_at)
        VALUES (%s, 'owner@example.com', true, now(), now())
        """,
        (owner,),
    )
    connection.execute("UPDATE sessions SET impersonator_id = %s WHERE user_id = %s", (owner, person.id))


async def test_mfa_is_off_by_default_and_there_are_no_backup_codes(ada: Person) -> None:
    answer = await ada.mfa("GET", "/status")

    assert (answer.status, answer.json) == (200, {"enabled": False, "has_backup_codes": False})


async def test_setup_returns_the_secret_its_uri_and_a_qr_code(ada: Person) -> None:
    answer = await ada.mfa("POST", "/setup")

    assert answer.status == 200
    assert set(answer.json) == {"secret", "qr_code_svg", "qr_code_uri"}
    assert re.fullmatch(r"[A-Z2-7]{32}", answer.json["secret"])
    assert etree.fromstring(answer.json["qr_code_svg"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_the_uri_names_the_product_and_the_account(ada: Person) -> None:
    answer = await ada.mfa("POST", "/setup")

    uri = urlsplit(answer.json["qr_code_uri"])
    assert (uri.scheme, uri.netloc, unquote(uri.path)) == ("otpauth", "totp", "/Gatehouse:ada@example.com")
    assert parse_qs(uri.query) == {"secret": [answer.json["secret"]], "issuer": ["Gatehouse"]}


async def test_a_pending_setup_requires_no_code_at_sign_in(ada: Person) -> None:
    await ada.set_up()

    assert (await ada.mfa("GET", "/status")).json == {"enabled": False, "has_backup_codes": False}
    assert "mfa_required" not in (await ada.log_in()).json


async def test_a_repeated_setup_replaces_the_pending_secret(ada: Person) -> None:
    await ada.set_up()
    first_code = ada.code()
    await ada.set_up()

    assert first_code != ada.code()
    assert (await ada.mfa("POST", "/verify", {"code": first_code})).status == 400
    assert (await ada.mfa("POST", "/verify", {"code": ada.code()})).status == 200


async def test_a_correct_code_turns_mfa_on_and_returns_ten_backup_codes(ada: Person) -> None:
    await ada.set_up()
    answer = await ada.mfa("POST", "/verify", {"code": ada.code()})

    assert answer.status == 200
    assert set(answer.json) == {"enabled", "backup_codes"}
    assert answer.json["enabled"] is True
    assert len(set(answer.json["backup_codes"])) == 10
    assert all(CODE_SHAPE.fullmatch(code) for code in answer.json["backup_codes"])
    assert (await ada.mfa("GET", "/status")).json == {"enabled": True, "has_backup_codes": True}
    assert (await ada.log_in()).json["mfa_required"] is True


@pytest.mark.parametrize("steps", [-1, 0, 1])
async def test_a_code_one_step_off_is_accepted(ada: Person, steps: int) -> None:
    await ada.set_up()

    assert (await ada.mfa("POST", "/verify", {"code": ada.code(steps)})).status == 200


@pytest.mark.parametrize("steps", [-2, 2])
async def test_a_code_two_steps_off_is_refused(ada: Person, steps: int) -> None:
    await ada.set_up()

    answer = await ada.mfa("POST", "/verify", {"code": ada.code(steps)})

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")


async def test_a_code_may_contain_spaces(ada: Person) -> None:
    await ada.set_up()
    code = ada.code()

    assert (await ada.mfa("POST", "/verify", {"code": f" {code[:3]} {code[3:]} "})).status == 200


async def test_an_invalid_code_is_refused_and_recorded_in_the_security_log(ada: Person, connection: Connection) -> None:
    await ada.set_up()

    answer = await ada.mfa("POST", "/verify", {"code": ada.wrong_code()})

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert (await ada.mfa("GET", "/status")).json["enabled"] is False
    assert ada.world.mfa_log(ada.id) == ["mfa_setup_initiated", "mfa_setup_failed"]


async def test_a_code_that_is_not_six_ascii_digits_is_refused_with_the_name_of_the_field(
    ada: Person, subtests: pytest.Subtests
) -> None:
    await ada.set_up()

    for code in ("", "12345", "1234567", "12345a", "ABCD-2345", "\uff11\uff12\uff13\uff14\uff15\uff16", "٠١٢٣٤٥"):
        with subtests.test(code=code):
            answer = await ada.mfa("POST", "/verify", {"code": code})

            assert answer.status == 400
            assert [problem["field"] for problem in answer.json["details"]] == ["code"]


async def test_a_code_must_be_a_string(ada: Person, subtests: pytest.Subtests) -> None:
    for body in ({}, {"code": None}, {"code": 123456}):
        with subtests.test(body=body):
            answer = await ada.mfa("POST", "/verify", body)

            assert answer.status == 400
            assert [problem["field"] for problem in answer.json["details"]] == ["code"]


async def test_verification_without_a_setup_is_refused(ada: Person) -> None:
    answer = await ada.mfa("POST", "/verify", {"code": "123456"})

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert "not set up" in answer.json["error"]


async def test_mfa_that_is_on_cannot_be_verified_or_set_up_again(ada: Person) -> None:
    await ada.turn_mfa_on()

    again = await ada.mfa("POST", "/verify", {"code": ada.code()})
    second_setup = await ada.mfa("POST", "/setup")

    assert (again.status, again.json["error_code"]) == (400, "BAD_REQUEST")
    assert (second_setup.status, second_setup.json["error_code"]) == (400, "BAD_REQUEST")
    ada.next_step()
    assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200


async def test_turning_mfa_on_is_recorded_in_every_organization_and_mailed(ada: Person, connection: Connection) -> None:
    engines = ada.join_organization()
    looms = ada.join_organization(slug="looms")

    await ada.turn_mfa_on()

    assert ada.world.mfa_log(ada.id) == [
        "mfa_setup_initiated",
        "mfa_setup_completed",
        "mfa_enabled",
        "backup_codes_generated",
    ]
    assert Counter(ada.world.mfa_notifications()) == Counter(
        (event, organization)
        for event in ("user.mfa.enabled", "security.mfa.enabled")
        for organization in (engines, looms)
    )
    entries = ada.world.audit_entries(None, "organization_id", "action", "target_id", "actor_user_id")
    assert sorted(entries) == sorted(
        (organization, "security.mfa.enabled", str(ada.id), ada.id) for organization in (engines, looms)
    )
    assert mail_templates(connection) == ["mfa_enabled"]


async def test_a_user_without_an_organization_can_turn_mfa_on(ada: Person, connection: Connection) -> None:
    await ada.turn_mfa_on()

    assert ada.world.mfa_notifications() == [("user.mfa.enabled", None), ("security.mfa.enabled", None)]


async def test_every_mfa_endpoint_requires_an_access_token(
    ada: Person, client: Client, subtests: pytest.Subtests
) -> None:
    await ada.turn_mfa_on()

    for method, path in (
        ("GET", "/status"),
        ("POST", "/setup"),
        ("POST", "/verify"),
        ("DELETE", ""),
        ("POST", "/backup-codes/regenerate"),
    ):
        with subtests.test(method=method, path=path):
            without_token = await client.request(method, f"/api/user/mfa{path}", body={"code": "123456"})
            with_preauth_token = await client.request(
                method, f"/api/user/mfa{path}", body={"code": "123456"}, token=await ada.preauth_token()
            )

            assert (without_token.status, without_token.json["error_code"]) == (401, "UNAUTHORIZED")
            assert (with_preauth_token.status, with_preauth_token.json["error_code"]) == (401, "JWT_ERROR")


async def test_an_impersonator_cannot_change_mfa(
    ada: Person, connection: Connection, subtests: pytest.Subtests
) -> None:
    await ada.turn_mfa_on()
    impersonate(connection, ada)

    for method, path in (("POST", "/setup"), ("POST", "/verify"), ("DELETE", ""), ("POST", "/backup-codes/regenerate")):
        with subtests.test(method=method, path=path):
            answer = await ada.mfa(method, path, {"code": ada.code()})

            assert (answer.status, answer.json["error_code"]) == (403, "FORBIDDEN")
            assert (await ada.mfa("GET", "/status")).json == {"enabled": True, "has_backup_codes": True}


@pytest.mark.long
async def test_of_two_concurrent_verifications_one_gets_the_backup_codes(ada: Person) -> None:
    for _ in range(RACES):
        await ada.set_up()
        body = {"code": ada.code()}

        answers = await at_once(*[partial(ada.mfa, "POST", "/verify", body)] * 2)

        assert statuses_of(answers) == [200, 400]
        await ada.mfa("DELETE", "")


@pytest.mark.long
async def test_concurrent_regenerations_leave_ten_backup_codes(ada: Person, connection: Connection) -> None:
    await ada.turn_mfa_on()
    for _ in range(RACES):
        answers = await at_once(*[partial(ada.mfa, "POST", "/backup-codes/regenerate")] * 2)

        assert statuses_of(answers) == [200, 200]

        assert connection.execute("SELECT count(*) FROM backup_codes").fetchone() == (10,)


@pytest.mark.long
async def test_of_two_concurrent_deactivations_one_is_recorded(ada: Person, connection: Connection) -> None:
    for round_number in range(1, 11):
        await ada.turn_mfa_on()

        answers = await at_once(*[partial(ada.mfa, "DELETE", "")] * 2)

        assert statuses_of(answers) == [200, 200]

        assert ada.world.mfa_log(ada.id).count("mfa_disabled") == round_number


class TestRateLimits:
    """The tightest of the rate limits applies."""

    @pytest.fixture
    def settings(self) -> Settings:
        """Return settings with rate limits on."""
        return Settings(dev=True)

    async def test_an_address_may_make_five_changes_and_then_one_in_five_minutes(
        self, ada: Person, client: Client
    ) -> None:
        answers: list[Answer] = [
            await ada.mfa("POST", "/setup"),
            await ada.mfa("POST", "/verify", {"code": "12345"}),
            await ada.mfa("DELETE", ""),
            await ada.mfa("POST", "/backup-codes/regenerate"),
            await ada.mfa("POST", "/setup"),
        ]
        assert 429 not in [answer.status for answer in answers]

        for method, path in [
            ("POST", "/setup"),
            ("POST", "/verify"),
            ("DELETE", ""),
            ("POST", "/backup-codes/regenerate"),
        ]:
            refused = await ada.mfa(method, path)
            assert (refused.status, refused.json["error_code"]) == (429, "RATE_LIMIT_EXCEEDED")
            assert 295 <= int(refused.headers["Retry-After"]) <= 300
        elsewhere = await client.post("/api/user/mfa/setup", token=ada.token, address="192.0.2.7")
        assert elsewhere.status == 200
        assert (await ada.mfa("GET", "/status")).status == 200

    async def test_setup_and_sign_in_share_a_limit_of_three_codes(self, ada: Person, client: Client) -> None:
        for _ in range(2):
            await ada.mfa("POST", "/verify", {"code": "12345"})
        await client.post("/api/auth/mfa/verify", body={"code": "123456"})

        refused = await client.post("/api/auth/mfa/verify", body={"code": "123456"})

        assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
