"""After which changes by a service's token only a mailed proof confirms what the address is given: completed ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, TypeAlias

import pytest

from entrypoints import capabilities
from tests.authenticators import Authenticator
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, Inviter
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person, insert_person
from tests.world.world import World

NEW_PASSWORD: Final = "another horse battery"


class Account:
    """A person, whose tokens a service holds."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.service(world.organization("evil"), "trap")
        self.person: Person = insert_person(world, GUEST)
        self.keyring = Keyring(world)

    async def sign_in(self, *, at_service: bool) -> None:
        """Sign in, to the service or to the platform itself, from now on with every factor that there is."""
        where: dict[str, Any] = {"org_slug": "evil", "service_slug": "trap"} if at_service else {}
        answer = await self.person.log_in(**where)
        if "preauth_token" in answer.json:
            self.world.clock.advance(timedelta(seconds=30))
            answer = await self.person.verify(answer.json["preauth_token"], self.person.code())
        self.person.token = self.keyring.token = answer.json["access_token"]

    async def turn_mfa_on(self) -> None:
        """Turn multi-factor authentication on, without the service."""
        await self.person.turn_mfa_on()

    @property
    def is_changed(self) -> bool:
        """Whether a service has changed how the account signs in."""
        return self.world.value("SELECT changed_by_service_at IS NOT NULL FROM users WHERE email = %s", GUEST)

    async def send(self, method: str, path: str, body: object = None) -> None:
        """Send a request with the present token, which is accepted."""
        answer = await self.world.client.request(method, path, token=self.person.token, body=body)
        assert answer.status in {200, 204}, answer.text


@pytest.fixture
def account(world: World) -> Account:
    """The account of a guest."""
    return Account(world)


Act: TypeAlias = Callable[[Account], Awaitable[None]]


async def nothing(_account: Account) -> None:
    """Prepare nothing."""


async def without_password(account: Account) -> None:
    account.world.remove_password(GUEST)


async def with_passkey(account: Account) -> None:
    await account.keyring.registered()
    account.world.connection.execute("UPDATE users SET changed_by_service_at = NULL")


async def set_up(account: Account) -> None:
    await account.person.set_up()


async def wrong_code(account: Account) -> None:
    await account.person.set_up()
    answer = await account.person.mfa("POST", "/verify", {"code": account.person.wrong_code()})
    assert answer.status == 400


async def enable(account: Account) -> None:
    await account.person.set_up()
    await account.send("POST", "/api/user/mfa/verify", {"code": account.person.code()})


async def disable(account: Account) -> None:
    await account.send("DELETE", "/api/user/mfa")


async def start_passkey(account: Account) -> None:
    await account.keyring.start_registration()


async def refused_passkey(account: Account) -> None:
    challenge = await account.keyring.start_registration()
    other = await account.keyring.start_registration()
    answer = await account.keyring.finish_registration(challenge, Authenticator().create(other["options"]))
    assert answer.status == 400, answer.text


async def add_passkey(account: Account) -> None:
    await account.keyring.registered()


async def rename_passkey(account: Account) -> None:
    await account.send("PATCH", f"/api/auth/passkeys/{await passkey_id(account)}", {"name": "Key"})


async def remove_passkey(account: Account) -> None:
    await account.send("DELETE", f"/api/auth/passkeys/{await passkey_id(account)}")


async def passkey_id(account: Account) -> str:
    return account.world.value("SELECT id::text FROM passkeys")


async def wish_address(account: Account) -> None:
    await account.send("PATCH", "/api/user", {"email": "other@example.com"})


async def set_password(account: Account) -> None:
    await account.send("POST", "/api/user/set-password", {"new_password": NEW_PASSWORD})


async def renew_codes(account: Account) -> None:
    await account.send("POST", "/api/user/mfa/backup-codes/regenerate")


async def remove_device(account: Account) -> None:
    await account.person.log_in(headers={"User-Agent": "Another"})
    device = account.world.value("SELECT id::text FROM devices ORDER BY id DESC LIMIT 1")
    await account.send("DELETE", f"/api/user/devices/{device}")


async def end_sessions(account: Account) -> None:
    await account.send("DELETE", "/api/user/sessions")


async def close(account: Account) -> None:
    await account.send("DELETE", "/api/user")


async def lock(account: Account) -> None:
    await account.send("POST", "/api/user/lock")


async def mfa_on(account: Account) -> None:
    await account.turn_mfa_on()


# By the route: what is prepared without the service, what the service does, and whether that is a completed change.
CHANGES: Final[list[tuple[str, Act, Act, bool]]] = [
    ("POST /api/user/mfa/setup", nothing, set_up, False),
    ("POST /api/user/mfa/verify", nothing, wrong_code, False),
    ("POST /api/user/mfa/verify", nothing, enable, True),
    ("DELETE /api/user/mfa", nothing, disable, False),
    ("DELETE /api/user/mfa", mfa_on, disable, True),
    ("POST /api/user/mfa/backup-codes/regenerate", mfa_on, renew_codes, True),
    ("POST /api/auth/passkeys/register/start", nothing, start_passkey, False),
    ("POST /api/auth/passkeys/register/finish", nothing, refused_passkey, False),
    ("POST /api/auth/passkeys/register/finish", nothing, add_passkey, True),
    ("PATCH /api/auth/passkeys/:id", with_passkey, rename_passkey, False),
    ("DELETE /api/auth/passkeys/:id", with_passkey, remove_passkey, True),
    ("POST /api/user/set-password", without_password, set_password, True),
    # The address changes by a mail to the new one, which proves it.
    ("PATCH /api/user", nothing, wish_address, False),
    # These change no way to sign in.
    ("DELETE /api/user/devices/:id", nothing, remove_device, False),
    ("DELETE /api/user/sessions", nothing, end_sessions, False),
    ("DELETE /api/user", nothing, close, False),
    ("POST /api/user/lock", nothing, lock, False),
]


def test_every_operation_on_the_whole_account_is_in_the_table() -> None:
    declared = {route.name for route in capabilities.routes(is_development=True) if route.who.is_account_wide}

    assert {name for name, *_ in CHANGES} == declared - {"GET /api/invitations"}


@pytest.mark.parametrize(("name", "prepare", "act", "counts"), CHANGES)
async def test_only_what_a_service_has_completed_counts(
    account: Account, name: str, prepare: Act, act: Act, *, counts: bool
) -> None:
    if prepare is with_passkey:
        await account.sign_in(at_service=False)
    if prepare is not without_password:
        await prepare(account)
    await account.sign_in(at_service=True)
    if prepare is without_password:
        await prepare(account)

    await act(account)

    assert account.is_changed is counts, name


@pytest.mark.parametrize(("name", "prepare", "act", "counts"), [change for change in CHANGES if change[3]])
async def test_what_the_person_completes_without_a_service_never_counts(
    account: Account, name: str, prepare: Act, act: Act, *, counts: bool
) -> None:
    await account.sign_in(at_service=False)
    await prepare(account)
    if prepare is mfa_on:
        await account.sign_in(at_service=False)

    await act(account)

    assert counts
    assert account.is_changed is False, name


async def test_a_secret_that_a_service_has_made_counts_when_the_person_turns_it_on(account: Account) -> None:
    await account.sign_in(at_service=True)
    await set_up(account)
    await account.sign_in(at_service=False)

    await account.send("POST", "/api/user/mfa/verify", {"code": account.person.code()})

    assert account.is_changed


async def test_a_secret_of_the_person_in_place_of_that_of_a_service_does_not_count(account: Account) -> None:
    await account.sign_in(at_service=True)
    await set_up(account)
    await account.sign_in(at_service=False)

    await enable(account)

    assert not account.is_changed


async def test_accepting_an_invitation_keeps_an_account_for_which_a_service_has_only_begun_something(
    account: Account, inviter: Inviter
) -> None:
    await account.sign_in(at_service=True)
    await set_up(account)
    await start_passkey(account)
    await wish_address(account)

    accepted = await inviter.accept(await inviter.invite(role="admin"), is_proved=True)

    assert accepted.status == 200
    assert (await account.world.log_in(GUEST, PASSWORD, org_slug="acme")).status == 200
