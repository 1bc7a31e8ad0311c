"""Locking an account: who may, what ends, that every sign-in is refused, and how it is unlocked."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import trio

from core.accounts import email_change_undo, locks, single_sign_on
from core.accounts.links import LinkUnusable
from core.errors import SsoRequired
from core.organizations import keys
from core.services import workloads
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.clock import SettableClock
from tests.meeting import wait_for
from tests.waiting import eventually
from tests.world.builder import EMAIL, PASSWORD
from tests.world.directory import insert_directory
from tests.world.openid_connection import enforce
from tests.world.organization_keys import NEW_KEY, insert_organization_key
from tests.world.passkeys import Keyring
from tests.world.team import Team
from tests.world.victim import NEW, NEW_PASSWORD, Victim
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

LOCK = "/auth/lock-account"
WORKLOAD = {"name": "Pipeline", "issuer": "https://issuer.example.com", "match": {"sub": "job"}}


async def submit(world: World, token: str, path: str = LOCK) -> Answer:
    """Press the button of a page."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return await world.client.post(path, data=f"token={token}".encode(), headers=headers)


def is_locked(world: World, email: str = EMAIL) -> bool:
    return world.value("SELECT locked_at IS NOT NULL FROM users WHERE email = %s", email)


async def reset(world: World, email: str = EMAIL) -> Answer:
    """Choose a new password by the link that is mailed to an address."""
    await world.mails()
    assert (await world.client.post("/api/auth/forgot-password", body={"email": email})).status == 200
    [mail] = await world.mails()
    body = {"token": mail.values["token"], "new_password": NEW_PASSWORD}
    return await world.client.post("/api/auth/reset-password", body=body)


async def warning(world: World, token: str) -> str:
    """Cause a warning, and return the token of its link."""
    await world.mails()
    body = {"current_password": PASSWORD, "new_password": PASSWORD + "!"}
    assert (await world.client.post("/api/user/change-password", token=token, body=body)).status == 200
    [mail] = [one for one in await world.mails() if one.template == "password_changed"]
    return mail.values["lock_token"]


async def test_a_person_locks_the_account_and_opens_it_with_a_new_password(world: World, keyring: Keyring) -> None:
    await keyring.sign_up()
    acme = world.organization()
    world.member(acme, world.user_id(EMAIL), "owner")
    insert_organization_key(world, acme, world.user_id(EMAIL))
    authenticator = await keyring.registered()
    other = await world.sign_in(EMAIL)
    await world.mails()
    even = await world.log_in("nobody@example.com")

    answer = await world.client.post("/api/user/lock", token=keyring.token)

    assert (answer.status, answer.text) == (204, "")
    assert (await world.client.get("/api/user", token=other.access_token)).status == 401
    assert (await world.refresh(other.refresh_token)).status == 401
    refused = await world.log_in(EMAIL)
    by_passkey = await keyring.sign_in(authenticator)
    assert (refused.status, refused.json["error"]) == (even.status, even.json["error"])
    assert by_passkey.status == 401
    assert world.value("SELECT string_agg(DISTINCT reason, ',') FROM login_events WHERE NOT success") == "locked"
    assert (await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})).status == 200
    assert [(mail.to, mail.template.value) for mail in await world.mails()] == [(EMAIL, "account_locked")]
    assert world.value("SELECT count(*) FROM organization_keys") == 0
    assert world.value("SELECT count(*) FROM passkeys") == 1
    assert world.audit_entries("account.locked", "organization_id", "details") == [(acme, {"by": "person"})]
    assert [(one, data) for one, _, data in world.events("account.locked")] == [(acme, {"by": "person"})]

    assert (await reset(world)).status == 200

    assert not is_locked(world)
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200
    assert (await keyring.sign_in(authenticator)).status == 200
    assert world.mfa_log(world.user_id(EMAIL))[-2:] == ["account_locked", "account_unlocked"]


@pytest.mark.parametrize("made", ["key", "workload"])
async def test_what_is_made_while_the_account_is_locked_ends_with_it(
    team: Team, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    world = team.world
    key_id = insert_organization_key(world, team.organization_id, team.ids["admin"])
    module, step, path, body = {
        "key": (keys, "_record", "/keys", NEW_KEY),
        "workload": (workloads, "_record", f"/keys/{key_id}/workloads", WORKLOAD),
    }[made]
    is_made, may_commit, statuses = trio.Event(), trio.Event(), dict[str, int]()
    record = getattr(module, step)

    def record_and_wait(*args: Any, **kwargs: Any) -> None:
        record(*args, **kwargs)
        is_made.set()
        wait_for(may_commit)

    async def send(path: str, **options: Any) -> None:
        statuses[path] = (await world.client.post(path, token=await team.token("owner"), **options)).status

    async def waits_or_has_ended() -> bool:
        return bool(statuses) or await trio.to_thread.run_sync(world.has_lock_waiter)

    await team.token("owner")
    async with trio.open_nursery() as nursery:
        with monkeypatch.context() as patched:
            patched.setattr(module, step, record_and_wait)
            nursery.start_soon(partial(send, f"{team.path}{path}", body=body))
            await is_made.wait()
        nursery.start_soon(send, "/api/user/lock")
        await eventually(waits_or_has_ended)
        may_commit.set()

    assert statuses == {f"{team.path}{path}": 200, "/api/user/lock": 204}
    assert world.rows("SELECT id FROM organization_keys") == [(key_id,)]
    assert world.value("SELECT count(*) FROM workloads") == 0


async def test_invitations_and_setup_links_of_the_person_open_nothing_any_more(world: World, keyring: Keyring) -> None:
    await keyring.sign_up()
    acme = world.organization()
    world.member(acme, world.user_id(EMAIL), "owner")
    world.user("guest@example.com")
    path = "/api/organizations/acme"
    invitation = {"email": "guest@example.com", "role": "admin"}
    invited = await world.client.post(f"{path}/invitations", token=keyring.token, body=invitation)
    link = {"parts": ["scim"], "expires_in_days": 7}
    made = await world.client.post(f"{path}/setup-links", token=keyring.token, body=link)
    visitor = Visitor(world.client)
    setup = made.json["url"].removeprefix(world.installation.settings.base_url)
    await visitor.submit(await visitor.open(setup), setup)
    assert (await visitor.open("/app/setup/parts/scim")).status == 200

    assert (await world.client.post("/api/user/lock", token=keyring.token)).status == 204

    token = (await world.sign_in("guest@example.com")).access_token
    body = {"token": invited.json["token"]}
    accepted = await world.client.post("/api/invitations/accept", token=token, body=body)
    assert accepted.status == 400, accepted.text
    assert world.role_of(acme, "guest@example.com") is None
    assert (await visitor.open("/app/setup/parts/scim")).status in {400, 404, 410}
    assert world.rows("SELECT id FROM setup_links") == []
    [entry] = [
        one for one in world.audit_entries("organization.updated") if "setup_link" in one[3] and "reason" in one[3]
    ]
    assert entry[3]["reason"] == "account_locked"


async def test_the_link_of_a_warning_locks_and_opening_it_does_not(world: World) -> None:
    tokens = await world.register_and_sign_in()
    token = await warning(world, tokens.access_token)

    page = await world.client.get(f"{LOCK}?token={token}")
    assert page.status == 200
    assert not is_locked(world)
    locked = await submit(world, token)
    again = await submit(world, token)

    assert locked.status == 200
    assert "The account is locked" in locked.text
    assert again.status == 400
    assert is_locked(world)
    assert (await reset(world)).status == 200
    assert not is_locked(world)


async def test_a_link_is_valid_for_thirty_days(world: World, clock: SettableClock) -> None:
    tokens = await world.register_and_sign_in()
    first = await warning(world, tokens.access_token)
    clock.advance(timedelta(days=30))

    assert (await submit(world, first)).status == 400
    assert (await submit(world, "3f0c6f3e-2f66-4a6f-9a5c-6a0d6a1f0009")).status == 400
    assert not is_locked(world)


@pytest.mark.parametrize("is_warning", [True, False])
async def test_in_a_former_mailbox_the_change_is_undone_first(victim: Victim, is_warning: bool) -> None:
    world = victim.world
    token = await warning(world, victim.token) if is_warning else ""
    await victim.take_over()
    token = token or victim.undo_token

    page = await world.client.get(f"{LOCK}?token={token}")
    locked = await submit(world, token)

    assert (page.status, locked.status) == (200, 200), locked.text
    assert is_locked(world, EMAIL)
    assert (await submit(world, token)).status == 400
    assert (await world.client.get("/api/user", token=victim.token)).status == 401
    assert (await reset(world, EMAIL)).status == 200
    assert not is_locked(world, EMAIL)


async def test_a_link_whose_undo_was_not_followed_by_the_lock_still_locks(victim: Victim) -> None:
    world = victim.world
    await victim.take_over()
    # As when a process dies between the two.
    await world.installation.database.transact(locks.undo_first, victim.undo_token)

    shown = await world.client.get(f"{LOCK}?token={victim.undo_token}")
    pressed = await submit(world, victim.undo_token)
    locked = is_locked(world)
    opened = await reset(world)
    again = await submit(world, victim.undo_token)

    assert (shown.status, pressed.status, locked, opened.status) == (200, 200, True, 200)
    assert again.status == 400
    assert not is_locked(world)


@pytest.mark.parametrize("is_warning", [True, False])
async def test_where_the_change_cannot_be_undone_it_locks_all_the_same(victim: Victim, is_warning: bool) -> None:
    world = victim.world
    token = await warning(world, victim.token) if is_warning else ""
    await victim.take_over()
    world.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (NEW,))

    locked = await submit(world, token or victim.undo_token)

    assert locked.status == 200, locked.text
    assert "The change cannot be undone here" in locked.text
    assert is_locked(world, NEW)
    assert (await world.client.get("/api/user", token=victim.token)).status == 401


async def test_a_warning_to_a_former_address_is_void_once_the_change_cannot_be_undone(
    victim: Victim, clock: SettableClock
) -> None:
    token = await warning(victim.world, victim.token)
    await victim.take_over()
    clock.advance(timedelta(days=7))

    assert (await submit(victim.world, token)).status == 400
    assert not is_locked(victim.world, NEW)


async def test_a_second_lock_of_a_locked_account_changes_nothing_and_tells_nobody(world: World) -> None:
    tokens = await world.register_and_sign_in()
    first = await warning(world, tokens.access_token)
    root = await world.signed_in_platform_owner()
    user_id = world.user_id(EMAIL)
    assert (await root.post(f"/api/platform/users/{user_id}/lock")).status == 204
    at = world.value("SELECT locked_at FROM users WHERE id = %s", user_id)
    await world.mails()
    world.clock.advance(timedelta(minutes=1))

    assert (await submit(world, first)).status == 200

    assert world.value("SELECT locked_at FROM users WHERE id = %s", user_id) == at
    assert await world.mails() == []


async def test_who_has_to_sign_in_by_a_connection_opens_the_account_by_a_mail_and_signs_in_there(world: World) -> None:
    await enforce(world, "acme", "example.com")
    user_id = world.user_id(EMAIL) if world.rows("SELECT FROM users WHERE email = %s", EMAIL) else world.user(EMAIL)
    open_before = await reset(world)
    root = await world.signed_in_platform_owner("root@platform.example")
    assert (await root.post(f"/api/platform/users/{user_id}/lock")).status == 204

    answer = await reset(world)

    assert_refused(open_before, 403, "SSO_REQUIRED")
    assert_refused(answer, 403, "SSO_REQUIRED")
    assert not is_locked(world)
    assert world.value("SELECT password_hash IS NULL FROM users WHERE id = %s", user_id)
    # No other way in is open to them either.
    with pytest.raises(SsoRequired):
        await world.installation.database.transact(require_open_way, EMAIL)


def require_open_way(uow: UnitOfWork, email: str) -> None:
    """Raise `SsoRequired` when the user of an address has to sign in by a connection."""
    user = uow.users.by_email(email)
    assert user is not None
    single_sign_on.require_open(uow, user, None)


class TestOfAnOrganization:
    """An organization locks its own accounts, and no other ones."""

    async def test_its_own_account_in_its_mail_domain(self, world: World) -> None:
        team = world.team("acme")
        team.add("owner", "owner")
        world.mail_domain(team.organization_id, "acme.example")
        made = await insert_directory(team).create("ada@acme.example")
        user_id = UUID(made["id"])
        world.connection.execute("UPDATE memberships SET confirmed_at = now() WHERE user_id = %s", (user_id,))

        answer = await team.request("owner", "POST", f"/users/{user_id}/lock")

        assert answer.status == 204, answer.text
        assert is_locked(world, "ada@acme.example")
        [(actor, details)] = world.audit_entries("account.locked", "actor_user_id", "details")
        assert (actor, details) == (team.ids["owner"], {"by": "organization"})

    async def test_no_other_account(self, world: World) -> None:
        team = world.team("acme")
        for role in ("owner", "admin", "member"):
            team.add(role, role)
        world.mail_domain(team.organization_id, "example.com")
        stranger = world.user("stranger@example.com")

        for person in ("admin", "member"):
            answer = await team.request("owner", "POST", f"/users/{team.ids[person]}/lock")
            assert_refused(answer, 403, "FORBIDDEN")
        assert_refused(await team.request("owner", "POST", f"/users/{stranger}/lock"), 404, "NOT_FOUND")
        assert_refused(await team.request("member", "POST", f"/users/{team.ids['admin']}/lock"), 403, "FORBIDDEN")
        assert world.value("SELECT count(*) FROM users WHERE locked_at IS NOT NULL") == 0


async def test_what_was_not_shown_before_is_refused_as_well(victim: Victim, clock: SettableClock) -> None:
    world = victim.world
    await victim.take_over()
    transact = world.installation.database.transact

    with pytest.raises(LinkUnusable):
        await transact(email_change_undo.undo_of_mailbox, world.user_id(NEW), "never@example.com")
    clock.advance(timedelta(days=7))
    with pytest.raises(LinkUnusable):
        await transact(locks.lock_by_link, victim.undo_token)
