"""The log entries and events of a sign-in with a second factor."""

from __future__ import annotations

import pytest

from adapters.postgres.driver.connection import Connection
from tests.world.second_factors import Person, insert_person
from tests.world.world import World


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a second factor."""
    person = insert_person(world)
    await person.turn_mfa_on()
    return person


async def test_each_step_is_written_to_the_mfa_log(ada: Person, connection: Connection) -> None:
    token = await ada.preauth_token()
    await ada.verify(token, ada.wrong_code())
    await ada.verify(token, ada.code())
    await ada.verify(await ada.preauth_token(), ada.backup_codes[0])

    assert ada.world.mfa_log(ada.id)[4:] == [
        "mfa_verify_attempt",
        "mfa_verify_failed",
        "mfa_verify_attempt",
        "mfa_verify_success",
        "mfa_verify_attempt",
        "backup_code_used",
        "mfa_verify_success",
    ]


async def test_the_mfa_log_has_the_method_and_the_result(ada: Person, connection: Connection) -> None:
    token = await ada.preauth_token()
    await ada.verify(token, ada.wrong_code())
    await ada.verify(token, ada.backup_codes[0])

    rows = connection.execute(
        "SELECT event_type, success, details, ip_address FROM mfa_events WHERE user_id = %s ORDER BY id OFFSET 5",
        (ada.id,),
    ).fetchall()
    assert rows == [
        ("mfa_verify_failed", False, {"method": "totp", "attempts": 1, "reason": "wrong_code"}, "127.0.0.1"),
        ("mfa_verify_attempt", True, {"method": "backup_code"}, "127.0.0.1"),
        ("backup_code_used", True, {"remaining": 9, "is_new_device": True}, "127.0.0.1"),
        ("mfa_verify_success", True, {"method": "backup_code"}, "127.0.0.1"),
    ]


async def test_a_backup_code_is_logged_with_whether_the_device_is_new(ada: Person, connection: Connection) -> None:
    first = await ada.verify(await ada.preauth_token(), ada.code())
    await ada.world.client.post(
        "/api/auth/mfa/verify",
        token=await ada.preauth_token(),
        body={"code": ada.backup_codes[0]},
        headers={"X-Device-Token": first.json["device_token"]},
    )

    row = connection.execute("SELECT details ->> 'is_new_device' FROM mfa_events WHERE event_type = 'backup_code_used'")
    assert row.fetchone() == ("false",)


async def test_all_organizations_of_the_user_receive_the_events(ada: Person, connection: Connection) -> None:
    engines = ada.join_organization()
    looms = ada.join_organization(slug="looms")
    before = len(ada.world.mfa_notifications())

    token = await ada.preauth_token()
    await ada.verify(token, ada.wrong_code())
    await ada.verify(token, ada.code())

    assert sorted(ada.world.mfa_notifications()[before:]) == sorted(
        (event, organization)
        for event in ("user.mfa.verify.failed", "user.mfa.verify.success")
        for organization in (engines, looms)
    )


async def test_only_the_organization_of_the_sign_in_receives_its_events(ada: Person, connection: Connection) -> None:
    engines = ada.join_organization()
    ada.join_organization(slug="looms")
    before = len(ada.world.mfa_notifications())

    token = await ada.preauth_token(org_slug="engines")
    await ada.verify(token, ada.wrong_code())
    await ada.verify(token, ada.code())

    assert ada.world.mfa_notifications()[before:] == [
        ("user.mfa.verify.failed", engines),
        ("user.mfa.verify.success", engines),
    ]


async def test_too_many_wrong_codes_are_recorded_as_a_failed_sign_in(ada: Person, connection: Connection) -> None:
    token = await ada.preauth_token()
    for _ in range(5):
        await ada.verify(token, ada.wrong_code())

    failed = connection.execute("SELECT provider FROM login_events WHERE user_id = %s AND NOT success", (ada.id,))
    assert failed.fetchall() == [("password",)]
    published = connection.execute("SELECT data ->> 'reason' FROM events WHERE type = 'user.login.failed'")
    assert published.fetchall() == [("wrong_code",)]


async def test_a_sign_in_with_a_second_factor_is_one_login_event(ada: Person, connection: Connection) -> None:
    before = connection.execute("SELECT count(*) FROM login_events WHERE success").fetchone()
    assert before is not None

    await ada.verify(await ada.preauth_token(), ada.code())

    after = connection.execute("SELECT count(*) FROM login_events WHERE success").fetchone()
    assert after == (before[0] + 1,)
