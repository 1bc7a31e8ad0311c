"""Turning multi-factor authentication off, and regenerating the backup codes."""

from __future__ import annotations

import pytest

from adapters.postgres.driver.connection import Connection
from core.mail import mail
from entrypoints.installation import Installation
from tests.world.second_factors import Person, insert_person
from tests.world.world import World


@pytest.fixture
async def ada(world: World) -> Person:
    """A user who is signed in and has no second factor."""
    person = insert_person(world)
    await person.sign_in()
    return person


def mail_templates(connection: Connection) -> list[str]:
    return [template for (template,) in connection.execute("SELECT template FROM mails ORDER BY id")]


async def test_turning_mfa_off_deletes_the_secret_and_all_backup_codes(ada: Person, connection: Connection) -> None:
    await ada.turn_mfa_on()

    answer = await ada.mfa("DELETE", "")

    assert answer.status == 200
    assert answer.json["success"] is True
    assert set(answer.json) == {"success", "message"}
    assert connection.execute("SELECT count(*) FROM totp_secrets").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM backup_codes").fetchone() == (0,)
    assert (await ada.mfa("GET", "/status")).json == {"enabled": False, "has_backup_codes": False}
    assert "mfa_required" not in (await ada.log_in()).json


async def test_turning_mfa_off_is_audited_published_and_mailed(ada: Person, connection: Connection) -> None:
    engines = ada.join_organization()
    await ada.turn_mfa_on()

    await ada.mfa("DELETE", "")

    assert ada.world.mfa_log(ada.id)[-1] == "mfa_disabled"
    assert ada.world.mfa_notifications()[-2:] == [("user.mfa.disabled", engines), ("security.mfa.disabled", engines)]
    assert ada.world.audit_entries(None, "organization_id", "action")[-1] == (engines, "security.mfa.disabled")
    assert mail_templates(connection) == ["mfa_enabled", "mfa_disabled"]


async def test_the_mails_name_the_origin_of_the_change_and_what_to_do_about_it(
    ada: Person, installation: Installation
) -> None:
    await ada.turn_mfa_on()
    await ada.mfa("DELETE", "")

    sent = await installation.database.transact(mail.claim, 10)

    rendered = [installation.mail_renderer.render(one.message) for one in sent]
    assert [one.message.to for one in sent] == [ada.email, ada.email]
    assert {message.subject for message in rendered} == {
        "Multi-factor authentication is on",
        "Multi-factor authentication is off",
    }
    for message in rendered:
        for text in (message.text, message.html):
            assert "127.0.0.1" in text
            assert "3 February 2026, 04:05 UTC" in text
            assert "If it was not you" in text


async def test_turning_mfa_off_while_it_is_off_succeeds_and_records_nothing(
    ada: Person, connection: Connection
) -> None:
    answer = await ada.mfa("DELETE", "")

    assert (answer.status, answer.json["success"]) == (200, True)
    assert ada.world.mfa_log(ada.id) == []
    assert mail_templates(connection) == []


async def test_turning_mfa_off_deletes_a_pending_setup(ada: Person) -> None:
    await ada.set_up()

    await ada.mfa("DELETE", "")

    assert "not set up" in (await ada.mfa("POST", "/verify", {"code": ada.code()})).json["error"]


async def test_new_backup_codes_replace_all_earlier_ones(ada: Person, connection: Connection) -> None:
    await ada.turn_mfa_on()
    assert (await ada.verify(await ada.preauth_token(), ada.backup_codes[0])).status == 200

    answer = await ada.mfa("POST", "/backup-codes/regenerate")

    assert answer.status == 200
    assert set(answer.json) == {"backup_codes"}
    assert len(set(answer.json["backup_codes"])) == 10
    assert not set(answer.json["backup_codes"]) & set(ada.backup_codes)
    assert (await ada.verify(await ada.preauth_token(), ada.backup_codes[0])).status == 401
    assert (await ada.verify(await ada.preauth_token(), ada.backup_codes[1])).status == 401
    assert (await ada.verify(await ada.preauth_token(), answer.json["backup_codes"][0])).status == 200
    assert ada.world.mfa_log(ada.id).count("backup_codes_generated") == 2


async def test_the_status_shows_that_all_backup_codes_are_used(ada: Person) -> None:
    await ada.turn_mfa_on()
    for code in ada.backup_codes:
        assert (await ada.verify(await ada.preauth_token(), code)).status == 200

    assert (await ada.mfa("GET", "/status")).json == {"enabled": True, "has_backup_codes": False}


@pytest.mark.parametrize("is_set_up", [False, True])
async def test_backup_codes_cannot_be_regenerated_while_mfa_is_off(ada: Person, is_set_up: bool) -> None:
    if is_set_up:
        await ada.set_up()

    answer = await ada.mfa("POST", "/backup-codes/regenerate")

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
