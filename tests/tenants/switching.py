"""The off-switch: what providers of connections end, who else tries to, and accounts that are locked."""

from __future__ import annotations

from typing import Any

import jwt

from tests.openid_provider import KEY, OTHER_KEY
from tests.seeds import Numbers
from tests.tenants import acting, connecting, judging
from tests.tenants.model import Ended, Held, Violation, Way
from tests.tenants.neighbourhood import A, B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.revocations import HEADER, revocation_claims, revocation_path
from tests.world.signing_in import claims_of

SWITCHING = Story.SWITCHING
REVOKED = "what a provider ended"
LOCKED = "an account was locked"
numbers = Numbers()


@step(SWITCHING)
async def provider_revokes(hood: Neighbourhood, of: str, address: str, whole: bool) -> None:
    """The provider of an organization ends what the person of an address holds there, by its id or by the address."""
    of = next((name for name in hood.organizations if hood.is_at(name, address)), of)
    if not await _is_taking(hood, of):
        return
    user_id = _linked(hood, of, address) if whole else _at_work(hood, of, address)
    sub_id = _by_subject(hood, address) if whole else _by_address(address)
    ended = [held for held in hood.model.sessions if held.user_id == user_id and _is_in(hood, of, held)]
    others = await _answering(hood, ended)
    token = _token(hood, of)
    answer = await _send(hood, of, token, sub_id)
    if answer != 204:
        raise Violation("not ended", f"the provider of {of} was answered {answer}")
    hood.revocations[of] = (token, sub_id)
    for held in ended:
        held.end(Ended.REVOCATION, f"the provider of {of} has ended it")
        hood.explained.add(REVOKED)
        await judging.judge(hood, held)
        await judging.refresh(hood, held)
    await _require_alive(hood, others)


@step(SWITCHING)
async def revokes_without_right(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """The attacker and the provider of another organization try it, also with a token that was used, or for outsiders.

    Nothing ends by it.
    """
    others = await _answering(hood, [])
    another = B if of == A else A
    match pick:
        case 0 if whole:
            # Who is not at work is none of the provider's.
            if hood.is_at(of, address) or not await _is_taking(hood, of):
                return
            await _send(hood, of, _token(hood, of), _by_address(address))
        case 0:
            await _send(hood, of, _token(hood, of, key=OTHER_KEY), _by_address(address))
            await _send(hood, of, _token(hood, of, iss=hood.evil.url), _by_address(address))
        case 1:
            await _send(hood, of, _token(hood, another), _by_address(address))
            await _send(hood, of, _token(hood, another), _by_subject(hood, address))
        case _:
            if of in hood.revocations:
                await _send(hood, of, *hood.revocations[of])
    await _require_alive(hood, others)


def _by_address(address: str) -> dict[str, str]:
    return {"format": "email", "email": address}


def _by_subject(hood: Neighbourhood, address: str) -> dict[str, str]:
    return {"format": "iss_sub", "iss": hood.work.url, "sub": f"sub-{address}"}


async def _is_taking(hood: Neighbourhood, of: str) -> bool:
    """Return whether a connection is on, and leads to the honest provider."""
    path = f"/upstream-providers/{hood.organizations[of].connection_id}"
    answer = await hood.by_owner(of, "GET", path)
    return answer.status == 200 and answer.json["enabled"] and answer.json["issuer"] == hood.work.url


def _token(hood: Neighbourhood, of: str, *, key: Any = KEY, **changed: str) -> str:
    """Return a token for the connection of an organization, signed by the honest provider unless another key is."""
    connection_id = hood.organizations[of].connection_id
    claims = revocation_claims(hood.work.url, connection_id, at=hood.world.clock(), number=next(numbers))
    return jwt.encode({**claims, **changed}, key, "RS256" if key is KEY else "ES256", headers=HEADER)


async def _send(hood: Neighbourhood, of: str, token: str, sub_id: dict[str, str]) -> int:
    """Send a token to the connection of an organization, and return the status."""
    path = revocation_path(hood.organizations[of].connection_id)
    return (await hood.send("POST", path, {"sub_id": sub_id}, token=token)).status


def _linked(hood: Neighbourhood, of: str, address: str) -> str | None:
    """Return the account that the provider's person of an address signs in to; None without one."""
    rows = hood.world.rows(
        "SELECT user_id::text FROM identities WHERE connection_id = %s AND subject = %s",
        hood.organizations[of].connection_id,
        f"sub-{address}",
    )
    return rows[0][0] if rows else None


def _at_work(hood: Neighbourhood, of: str, address: str) -> str | None:
    """Return the account of an address in the mail domain of an organization; None without one."""
    return hood.user_id(address) if hood.is_at(of, address) else None


def _is_in(hood: Neighbourhood, of: str, held: Held) -> bool:
    """Return whether a session is in the context of an organization, as its last token says."""
    slug = hood.organizations[of].slug
    claims = claims_of(held.access_token)
    return slug in {claims.get("org"), claims.get("customer")}


async def _answering(hood: Neighbourhood, ended: list[Held]) -> list[Held]:
    """Return the sessions that answer now, but for those that are to end."""
    sessions = {claims_of(held.access_token)["sid"] for held in ended}
    others = [held for held in hood.model.sessions if claims_of(held.access_token)["sid"] not in sessions]
    return [held for held in others if not held.is_dead and await _answers(hood, held)]


async def _require_alive(hood: Neighbourhood, others: list[Held]) -> None:
    for held in others:
        if not await _answers(hood, held):
            raise Violation("ended elsewhere", f"{held}, which a revocation has ended that was none of its person's")


async def _answers(hood: Neighbourhood, held: Held) -> bool:
    return (await hood.send("GET", "/api/user", token=held.access_token, by=held.person)).status == 200


@step(SWITCHING)
async def person_locks(hood: Neighbourhood, name: str, pick: int, whole: bool) -> None:
    """A person locks their account in a session, sometimes; then every way in is tried."""
    person = hood.person(name)
    own = [held for held in judging.live(hood, person) if held.way is Way.PERSON and not held.service]
    if not own or not whole:
        return
    held = own[pick % len(own)]
    answer = await hood.send("POST", "/api/user/lock", token=held.access_token, by=person)
    if answer.status == 204:
        await _locked(hood, held.user_id, "its person has locked the account")


@step(SWITCHING)
async def owner_locks(hood: Neighbourhood, of: str, address: str) -> None:
    """The owner of an organization locks an account, which works for the organization's own alone."""
    user_id = hood.user_id(address)
    if user_id is None:
        return
    answer = await hood.by_owner(of, "POST", f"/users/{user_id}/lock")
    if answer.status != 204:
        return
    if hood.model.makers.get(user_id) != hood.organizations[of].slug:
        raise Violation("denied", f"{of} has locked the account of {address}, which it did not make")
    await _locked(hood, user_id, f"{of} has locked the account")


@step(SWITCHING)
async def opens_again(hood: Neighbourhood, address: str) -> None:
    """The reader of a mailbox chooses a new password by a link, which opens a locked account again."""
    person = hood.model.owner_of(address)
    if person is not None and hood.user_id(address) in hood.model.locked and await acting.reset(hood, person, address):
        await acting.sign_in(hood, person, address)


async def _locked(hood: Neighbourhood, user_id: str, how: str) -> None:
    """Record that an account is locked, and try every way in to it; `Neighbourhood.hold` judges what comes of that."""
    hood.model.locked.add(user_id)
    hood.explained.add(LOCKED)
    for held in hood.model.sessions:
        if held.user_id == user_id:
            held.end(Ended.LOCK, how)
            await judging.judge(hood, held)
            await judging.refresh(hood, held)
    address = hood.address_of(user_id)
    person = hood.model.owner_of(address) if address is not None else None
    if address is None or person is None:
        return
    await acting.sign_in(hood, person, address)
    challenge = await acting.ask_for_code(hood, person, address)
    if challenge is not None:
        await acting.send_code(hood, person, challenge.id, challenge.code)
    for of in (A, B):
        if hood.is_at(of, address):
            claims = connecting.claims_of_address(address)
            await connecting.by_connection(hood, person, of, claims, Way.PERSON, password=person.password)
