"""What organizations do: provisioning by SCIM and by key, inviting, and removing.

B is honest: it renames its users only to other addresses of the same person. A is not, except for its owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.application import Answer
from tests.tenants import acting, links
from tests.tenants.judging import judge
from tests.tenants.model import Ended, Violation
from tests.tenants.neighbourhood import A, B, Neighbourhood, Organization
from tests.tenants.taking import Story, step
from tests.world.directory import GROUP, PATCH, USER

GIVING, SUSPENDING, LEAVING = Story.GIVING, Story.SUSPENDING, Story.LEAVING


@step(GIVING, SUSPENDING, LEAVING, Story.SERVING, Story.DELETING, Story.SWITCHING, Story.ADMITTING, Story.READING)
async def scim_creates(hood: Neighbourhood, of: str, address: str, active: bool) -> None:
    had_account = hood.user_id(address) is not None
    body = {"schemas": [USER], "userName": address, "active": active}
    answer = await hood.scim(of, "POST", "/Users", body)
    user_id = hood.user_id(address)
    if answer.status == 201 and user_id is not None:
        _require_known(hood, of, user_id, answer)
        _made(hood, of, user_id, had_account=had_account)
        _joined(hood, of, user_id, address)
        await _set_active(hood, of, user_id, active=active)


@step(GIVING)
async def scim_renames(hood: Neighbourhood, of: str, pick: int, address: str) -> None:
    """Give a user another address, which A takes from its people at work never (it could read their mail anyway)."""
    organization = hood.organizations[of]
    user_id = picked(organization.users, pick)
    if user_id is None or not _may_rename(hood, of, user_id, address):
        return
    path = f"/Users/{hood.known_id(of, user_id)}"
    change = [{"op": "replace", "path": "userName", "value": address}]
    shown = await _shown_to_other(hood, of, user_id)
    answer = await hood.scim(of, "PATCH", path, {"schemas": [PATCH], "Operations": change})
    await _renamed(hood, of, user_id, answer, shown)


@step(GIVING)
async def scim_replaces(hood: Neighbourhood, of: str, pick: int, address: str) -> None:
    user_id = picked(hood.organizations[of].users, pick)
    if user_id is None or not _may_rename(hood, of, user_id, address):
        return
    shown = await _shown_to_other(hood, of, user_id)
    path = f"/Users/{hood.known_id(of, user_id)}"
    answer = await hood.scim(of, "PUT", path, {"schemas": [USER], "userName": address})
    await _renamed(hood, of, user_id, answer, shown)


@step(SUSPENDING, LEAVING, Story.SERVING, Story.ADMITTING)
async def scim_switches(hood: Neighbourhood, of: str, pick: int, active: bool) -> None:
    user_id = picked(hood.organizations[of].users, pick)
    if user_id is None:
        return
    await switch(hood, of, user_id, active=active)


async def switch(hood: Neighbourhood, of: str, user_id: str, *, active: bool) -> None:
    """Switch a user on or off by the directory."""
    change = [{"op": "replace", "path": "active", "value": active}]
    path = f"/Users/{hood.known_id(of, user_id)}"
    answer = await hood.scim(of, "PATCH", path, {"schemas": [PATCH], "Operations": change})
    if answer.status == 200:
        await _set_active(hood, of, user_id, active=active)


@step(SUSPENDING, LEAVING, Story.ADMITTING)
async def scim_deletes(hood: Neighbourhood, of: str, pick: int) -> None:
    user_id = picked(hood.organizations[of].users, pick)
    if user_id is not None:
        dispose(hood, of, user_id)
        answer = await hood.scim(of, "DELETE", f"/Users/{hood.known_id(of, user_id)}")
        await removed(hood, of, user_id, answer, "the directory deleted the user")


@step(LEAVING)
async def group_removes(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """Remove a member by the group: by an operation of a PATCH, or by absence in a PUT."""
    organization = hood.organizations[of]
    user_id = picked(organization.users, pick)
    if user_id is None:
        return
    path = f"/Groups/{organization.party.organization_id}"
    if whole:
        others = [hood.known_id(of, one) for one in _members(hood, organization) if one != user_id]
        body = {"schemas": [GROUP], "displayName": "x", "members": [{"value": one} for one in others]}
        answer = await hood.scim(of, "PUT", path, body)
    else:
        change = [{"op": "remove", "path": f'members[value eq "{hood.known_id(of, user_id)}"]'}]
        answer = await hood.scim(of, "PATCH", path, {"schemas": [PATCH], "Operations": change})
    if answer.status in {200, 204} and user_id not in _members(hood, organization):
        await removed(hood, of, user_id, answer, "the group was changed")


@step(GIVING, SUSPENDING, Story.READING)
async def key_adds(hood: Neighbourhood, of: str, address: str) -> None:
    had_account = hood.user_id(address) is not None
    answer = await hood.by_key(of, "POST", "/users", {"email": address})
    user_id = hood.user_id(address)
    if answer.status == 200 and user_id is not None:
        _require_known(hood, of, user_id, answer)
        _made(hood, of, user_id, had_account=had_account)
        _let_back(hood, of, user_id)
        _remember(hood.organizations[of].service_users, user_id)


@step(GIVING, Story.DELETING)
async def key_subscribes(hood: Neighbourhood, of: str, address: str) -> None:
    """Add a user by address, and subscribe them to the paid plan."""
    await key_adds(hood, of, address)
    user_id = hood.user_id(address)
    known_id = hood.known_id(of, user_id) if user_id is not None else None
    body = {"user_id": known_id, "plan_id": str(hood.organizations[of].plan_id)}
    answer = await hood.by_key(of, "POST", "/subscriptions", body)
    if answer.status == 200:
        assert user_id is not None
        hood.model.give_subscription(hood.organizations[of].slug, user_id, address)


@step(GIVING)
async def key_renames(hood: Neighbourhood, of: str, pick: int, address: str) -> None:
    user_id = picked(hood.organizations[of].service_users, pick)
    if user_id is None or not _may_rename(hood, of, user_id, address):
        return
    shown = await _shown_to_other(hood, of, user_id)
    answer = await hood.by_key(of, "PATCH", f"/users/{hood.known_id(of, user_id)}", {"email": address})
    await _renamed(hood, of, user_id, answer, shown, is_by_directory=False)


@step(SUSPENDING)
async def key_deletes(hood: Neighbourhood, of: str, pick: int) -> None:
    user_id = picked(hood.organizations[of].service_users, pick)
    if user_id is None:
        return
    dispose(hood, of, user_id)
    answer = await hood.by_key(of, "DELETE", f"/users/{hood.known_id(of, user_id)}")
    if answer.status == 204:
        slug = hood.organizations[of].slug
        _forget(hood.organizations[of].service_users, user_id)
        hood.model.subscriptions.pop((slug, user_id), None)
        for held in hood.model.sessions:
            if (held.user_id, held.organization, bool(held.service)) == (user_id, slug, True):
                held.end(Ended.MEMBERSHIP, "the backend deleted the user")
        await _judge_left(hood, user_id)


@step(GIVING, LEAVING, SUSPENDING, Story.DELETING)
async def invites(hood: Neighbourhood, of: str, address: str, on_behalf: bool) -> None:
    """The owner invites, and accepts on the person's behalf or not."""
    await invite(hood, of, address, on_behalf=on_behalf)


async def invite(hood: Neighbourhood, of: str, address: str, *, on_behalf: bool, services: Sequence[str] = ()) -> None:
    """Invite as the owner, with services, and accept on the person's behalf or not."""
    body = {"email": address, "role": "member", "services": list(services)}
    answer = await hood.by_owner(of, "POST", "/invitations", body)
    if answer.status != 200:
        return
    organization = hood.organizations[of]
    organization.included.discard(address)
    if services:
        organization.included.add(address)
    invitation_id, token = answer.json["invitation"]["id"], answer.json["token"]
    organization.invitations.append((address, invitation_id, token))
    person = hood.model.owner_of(address)
    if person is not None:
        hood.model.addressed.add((organization.slug, person))
    if on_behalf:
        accepted = await hood.by_owner(of, "POST", f"/invitations/{invitation_id}/accept")
        joined_by_invitation(hood, of, address, accepted)


@step(GIVING)
async def inviter_accepts_with_bare_token(hood: Neighbourhood, of: str, pick: int) -> None:
    """Accept with the token that the inviter sees."""
    found = picked(hood.organizations[of].invitations, pick)
    if found is not None:
        address, _, token = found
        answer = await hood.send("POST", "/api/invitations/accept", {"token": token})
        joined_by_invitation(hood, of, address, answer)


@step(LEAVING, SUSPENDING, Story.SERVING, Story.ADMITTING, Story.READING)
async def owner_removes(hood: Neighbourhood, of: str, pick: int) -> None:
    user_id = picked(hood.organizations[of].users, pick)
    if user_id is not None:
        answer = await hood.by_owner(of, "POST", f"/members/{user_id}")
        await removed(hood, of, user_id, answer, "the owner removed the member")


def joined_by_invitation(hood: Neighbourhood, of: str, address: str, answer: Answer) -> None:
    """Record what an accepted invitation gave."""
    user_id = hood.user_id(address)
    if answer.status == 200 and user_id is not None:
        _joined(hood, of, user_id, address)
        links.given(hood, of, user_id, address)


async def removed(hood: Neighbourhood, of: str, user_id: str, answer: Answer, how: str) -> None:
    """Record that a membership ended, unless that was refused, and judge the sessions that it leaves."""
    if answer.status in {200, 204}:
        _forget(hood.organizations[of].users, user_id)
        hood.model.take_membership(hood.organizations[of].slug, user_id, how)
        await _judge_left(hood, user_id)


async def _judge_left(hood: Neighbourhood, user_id: str) -> None:
    for held in list(hood.model.sessions):
        if held.user_id == user_id and held.ended is not None:
            await judge(hood, held)


def picked(choices: list[Any], pick: int) -> Any:
    """Return one of the choices, the latest for 0; None without any."""
    return choices[-1 - pick % len(choices)] if choices else None


def dispose(hood: Neighbourhood, of: str, user_id: str) -> None:
    """Record that the organization of a mail domain is about to dispose over one of its addresses."""
    address = hood.address_of(user_id)
    if address is not None and hood.is_at(of, address):
        hood.model.disposed.add(address)


def _joined(hood: Neighbourhood, of: str, user_id: str, address: str) -> None:
    organization = hood.organizations[of]
    _remember(organization.users, user_id)
    hood.model.give_membership(organization.slug, user_id, address, "member")
    _let_back(hood, of, user_id)


def _let_back(hood: Neighbourhood, of: str, user_id: str) -> None:
    """Record that an account is active again when the organization that deactivated it adds its user again."""
    slug, model = hood.organizations[of].slug, hood.model
    gift = model.gifts.get((slug, user_id))
    if model.makers.get(user_id) == slug and (gift is None or not gift.is_suspended):
        model.off.discard(user_id)


def _made(hood: Neighbourhood, of: str, user_id: str, *, had_account: bool) -> None:
    if not had_account:
        hood.model.makers[user_id] = hood.organizations[of].slug


def _remember(users: list[str], user_id: str) -> None:
    _forget(users, user_id)
    users.append(user_id)


def _forget(users: list[str], user_id: str) -> None:
    if user_id in users:
        users.remove(user_id)


def _members(hood: Neighbourhood, organization: Organization) -> list[str]:
    rows = hood.world.rows(
        "SELECT user_id::text FROM memberships WHERE organization_id = %s", organization.party.organization_id
    )
    return [user_id for (user_id,) in rows]


async def _set_active(hood: Neighbourhood, of: str, user_id: str, *, active: bool) -> None:
    organization, model = hood.organizations[of], hood.model
    gift = model.gifts.get((organization.slug, user_id))
    if active:
        model.off.discard(user_id)
        if gift is not None:
            gift.is_suspended = False
        return
    model.take_membership(organization.slug, user_id, "the directory deactivated the user", is_suspended=True)
    dispose(hood, of, user_id)
    is_own = model.makers.get(user_id) == organization.slug and not model.belongs_elsewhere(organization.slug, user_id)
    if is_own and hood.is_at(of, hood.address_of(user_id)):
        model.off.add(user_id)
        model.end_sessions(user_id, "the directory deactivated the account")
    await _judge_left(hood, user_id)


def _may_rename(hood: Neighbourhood, of: str, user_id: str, address: str) -> bool:
    owner, model = hood.model.owner_of(address), hood.model
    if of == B:
        return owner is not None and owner is model.owner_of(hood.address_of(user_id) or "")
    return owner is hood.eve or not hood.is_at(A, address)


async def _shown_to_other(hood: Neighbourhood, of: str, user_id: str) -> tuple[Answer, Answer]:
    """Return how the directory and the backend of the other organization see an account."""
    other = A if of == B else B
    known_id = hood.known_id(other, user_id)
    by_scim = await hood.scim(other, "GET", f"/Users/{known_id}")
    return by_scim, await hood.by_key(other, "GET", f"/users/{known_id}")


async def _renamed(
    hood: Neighbourhood,
    of: str,
    user_id: str,
    answer: Answer,
    shown: tuple[Answer, Answer],
    *,
    is_by_directory: bool = True,
) -> None:
    """Record another address; the attacker uses an account at once that has got an address of hers.

    `shown` is how the other organization saw the account before, which is how it must see it now.
    """
    if answer.status != 200:
        return
    now = await _shown_to_other(hood, of, user_id)
    if any(before.status == 200 and before.json != after.json for before, after in zip(shown, now, strict=True)):
        raise Violation("taken away", f"{of} changed an address, and with it what the other organization has")
    address = answer.json.get("userName") or answer.json["email"]
    new_id = hood.user_id(address)
    assert new_id is not None, "the account of a renamed user is gone"
    dispose(hood, of, user_id)
    dispose(hood, of, new_id)
    if new_id == user_id:
        hood.model.change_address(user_id)
    else:
        organization = hood.organizations[of]
        for users in (organization.users, organization.service_users):
            users[:] = [new_id if one == user_id else one for one in users]
        stays_proved = is_by_directory and hood.is_at(of, hood.address_of(user_id)) and hood.is_at(of, address)
        hood.model.split(organization.slug, user_id, new_id, keeps_person=stays_proved)
        await _judge_left(hood, user_id)
    if not hood.is_at(of, address):
        # A deactivation holds in the organization's own mail domain only.
        hood.model.off.discard(new_id)
    if address in hood.eve.addresses:
        await acting.use_mailbox(hood, address)


def _require_known(hood: Neighbourhood, of: str, user_id: str, answer: Answer) -> None:
    assert answer.json["id"] == hood.known_id(of, user_id), "an answer has another id than the lists"
