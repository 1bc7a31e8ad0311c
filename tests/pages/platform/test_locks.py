"""The pages that lock and unlock the account of a user: also one that was imported as blocked, for platform owners."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.pages.platform.test_users import USERS, member
from tests.world.builder import PASSWORD
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor, forms_of

OF_ORGANIZATIONS = """
    UPDATE users SET deactivated_by_organization_id = (SELECT id FROM organizations LIMIT 1) WHERE id = %s
"""
OPENED = "The account is open, with the password that it came with."


@pytest.fixture
def blocked(callers: Callers) -> UUID:
    """A member whose account was imported as blocked."""
    user_id = member(callers)
    callers.world.connection.execute(
        "UPDATE users SET deactivated_at = %s WHERE id = %s", (callers.world.clock(), user_id)
    )
    return user_id


async def test_a_platform_owner_opens_an_account_that_was_imported_as_blocked_and_its_password_holds(
    callers: Callers, platform_owner: Visitor, blocked: UUID
) -> None:
    world = callers.world
    email = world.value("SELECT email FROM users WHERE id = %s", blocked)
    record = await platform_owner.open(f"{USERS}/{blocked}")
    asked = await platform_owner.open(f"{USERS}/{blocked}/lock")
    before = await world.log_in(email, PASSWORD)

    done = await platform_owner.submit(asked, f"{USERS}/{blocked}/unlock")

    assert "Imported as blocked" in record.text
    assert f'href="{USERS}/{blocked}/lock"' in record.text
    assert "The account was imported as blocked, on " in asked.text
    assert f"/api/platform/users/{blocked}/unlock" in asked.text
    assert before.status == 401
    assert OPENED in done.text
    assert "Imported as blocked" not in done.text
    assert (await world.log_in(email, PASSWORD)).status == 200
    assert world.platform_audit_entries("user.unlocked") == [(callers.people[Caller.PLATFORM_OWNER], str(blocked), {})]


async def test_support_sees_that_only_owners_open_it_and_opens_nothing(
    callers: Callers, support: Visitor, blocked: UUID
) -> None:
    record = await support.open(f"{USERS}/{blocked}")
    locking = await support.open(f"{USERS}/{blocked}/lock")
    form = next(form for form in forms_of(locking) if form.action == f"{USERS}/{blocked}/lock")
    await support.post(f"{USERS}/{blocked}/unlock", form.fields)

    assert "Only platform owners open an account that was imported as blocked." in record.text
    assert f'href="{USERS}/{blocked}/lock"' not in record.text
    assert "Unlock the account of" not in locking.text
    assert callers.world.value("SELECT deactivated_at FROM users WHERE id = %s", blocked) is not None


async def test_what_an_organization_has_deactivated_is_not_opened_here(
    callers: Callers, platform_owner: Visitor, blocked: UUID
) -> None:
    callers.world.connection.execute(OF_ORGANIZATIONS, (blocked,))

    record = await platform_owner.open(f"{USERS}/{blocked}")
    locking = await platform_owner.open(f"{USERS}/{blocked}/lock")

    assert "Imported as blocked" not in record.text
    assert "Lock the account of" in locking.text


async def test_an_account_that_was_locked_is_opened_and_asks_for_a_new_password(
    callers: Callers, platform_owner: Visitor
) -> None:
    user_id = member(callers)
    path = f"{USERS}/{user_id}"
    await platform_owner.submit(await platform_owner.open(f"{path}/lock"), f"{path}/lock")

    done = await platform_owner.submit(await platform_owner.open(f"{path}/lock"), f"{path}/unlock")

    assert "Its person chooses a new password by a mail." in done.text
    assert callers.world.value("SELECT locked_at FROM users WHERE id = %s", user_id) is None


async def test_the_texts_are_german_for_a_german_reader(
    callers: Callers, platform_owner: Visitor, blocked: UUID
) -> None:
    record = await platform_owner.switch(await platform_owner.open(f"{USERS}/{blocked}"), "de")

    assert "Gesperrt importiert" in record.text
    assert "als gesperrt importiert." in (await platform_owner.open(f"{USERS}/{blocked}/lock")).text
