"""Accounts that the operator imports as blocked: a platform owner opens them, and nobody else does."""

from __future__ import annotations

from typing import Final

from core.accounts import user_import
from core.accounts.user_import import ImportedPerson
from tests.tenants import acting, connecting, giving
from tests.tenants.model import Person, Violation, Way
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.staff import staff_of
from tests.tenants.taking import Story, step
from tests.world.builder import hash_password

SWITCHING: Final = Story.SWITCHING
BLOCKED: Final = "an account was imported as blocked"
OPENED: Final = "a platform owner has opened an account that was blocked"


@step(SWITCHING)
async def operator_imports_blocked(hood: Neighbourhood, address: str, whole: bool) -> None:
    """The operator imports a person who was blocked, at an address of theirs that has no account; all try to open it.

    With `whole`, the file says that the address was verified.
    """
    person = hood.model.owner_of(address)
    assert person is not None
    free = next((one for one in (address, *person.addresses) if hood.user_id(one) is None), None)
    if free is None:
        return
    imported = ImportedPerson(
        email=free,
        password_hash=hash_password(person.password),
        is_verified=whole,
        created_at=hood.world.clock(),
        is_blocked=True,
    )
    await hood.world.installation.database.transact(user_import.store, [imported])
    user_id = hood.user_id(free)
    assert user_id is not None, "nobody was imported"
    hood.model.blocked.add(user_id)
    hood.explained.add(BLOCKED)
    await _try_to_open(hood, person, free, user_id)


@step(SWITCHING)
async def platform_opens_imported(hood: Neighbourhood, address: str) -> None:
    """Support tries to open an account that was imported as blocked; a platform owner does, and its person comes in."""
    person, user_id = hood.model.owner_of(address), hood.user_id(address)
    if person is None or user_id not in hood.model.blocked:
        return
    await _unlock(hood, (await staff_of(hood)).support_token, user_id)
    await acting.sign_in(hood, person, address)
    await _unlock(hood, (await staff_of(hood)).owner_token, user_id)
    hood.model.blocked.discard(user_id)
    if await acting.sign_in(hood, person, address) is not None:
        hood.explained.add(OPENED)


async def _try_to_open(hood: Neighbourhood, person: Person, address: str, user_id: str) -> None:
    """Try what opens other accounts; `Neighbourhood.hold` judges each session that begins."""
    await _unlock(hood, (await staff_of(hood)).support_token, user_id)
    for of in hood.organizations:
        await giving.scim_creates(hood, of, address, True)
        await giving.switch(hood, of, user_id, active=True)
        await giving.key_adds(hood, of, address)
    if await acting.reset(hood, person, address):
        raise Violation("outlived a block", f"{person.name} has chosen a password for {address}")
    await acting.sign_in(hood, person, address)
    challenge = await acting.ask_for_code(hood, person, address)
    if challenge is not None:
        await acting.send_code(hood, person, challenge.id, challenge.code)
    for of in hood.organizations:
        if hood.is_at(of, address):
            claims = connecting.claims_of_address(address)
            await connecting.by_connection(hood, person, of, claims, Way.PERSON, password=person.password)


async def _unlock(hood: Neighbourhood, token: str, user_id: str) -> None:
    answer = await hood.send("POST", f"/api/platform/users/{user_id}/unlock", token=token)
    assert answer.status == 204, answer.text
