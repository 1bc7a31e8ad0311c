"""Keys of organizations that make what calls by itself: within their capabilities, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from tests.application import Answer
from tests.seeds import Numbers
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import TECHNICIAN, A, B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.directory import PATCH, SCIM_JSON

MACHINES = Story.MACHINES
MADE = "a key has made what calls by itself"
REPLACED = "a key was replaced"
ENDED = "a key has ended with what it made"
OUTLIVED = "outlived its key"
BEYOND = "beyond a key"
# What the key has: too little to give a role, to sell, or to set the domain.
PERMISSIONS: Final = (
    *("services.create", "services.manage", "end_users.view"),
    *("integrations.manage", "org.members.manage"),
)
MAKINGS_MAX: Final = 3
numbers = Numbers()


@dataclass
class Keyring:
    """A key of an organization, and the secrets of what it has made; `links` are paths."""

    key_id: str
    secret: str
    api_keys: list[str] = field(default_factory=list[str])
    scim_tokens: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])


@step(MACHINES)
async def owner_makes_key(hood: Neighbourhood, of: str) -> None:
    """The owner of an organization makes a key for its pipeline."""
    if of not in hood.keyrings:
        made = await hood.by_owner(of, "POST", "/keys", {"name": "Pipeline", "permissions": PERMISSIONS})
        hood.keyrings[of] = Keyring(made.json["key"]["id"], made.json["secret"])


@step(MACHINES)
async def key_makes_callers(hood: Neighbourhood, of: str) -> None:
    """The key makes one of each that calls by itself; all of them work, and none is made that allows more than it."""
    ring = hood.keyrings.get(of)
    if ring is None or len(ring.links) >= MAKINGS_MAX:
        return
    path = f"/services/{hood.organizations[of].only_service}/api-keys"
    ring.api_keys.append(await _made(hood, of, ring, path, {"name": "Backend", "permissions": ["read:users"]}, "key"))
    ring.scim_tokens.append(await _made(hood, of, ring, "/scim-tokens", {"name": "Directory"}, "token"))
    ring.links.append(urlsplit(await _made(hood, of, ring, "/setup-links", {"parts": ["scim"]}, "url")).path)
    await _judge_works(hood, of, ring, has_links=True)
    hood.explained.add(MADE)
    for beyond, body in (
        (path, {"name": "Shop", "permissions": ["write:subscriptions"]}),
        ("/setup-links", {"parts": ["domain"]}),
        ("/setup-links", {"parts": ["groups"], "roles": [TECHNICIAN]}),
    ):
        if (await _by_key(hood, of, ring, "POST", beyond, body)).status in {200, 201}:
            raise Violation(BEYOND, f"the key of {of} has made {body}")
    await _judge_roles(hood, of, ring)


@step(MACHINES)
async def key_deletes_services(hood: Neighbourhood, of: str) -> None:
    """The key makes a service and deletes it, and none of the other organization."""
    ring = hood.keyrings.get(of)
    if ring is None:
        return
    slug, another = f"made-{next(numbers)}", B if of == A else A
    service = {"slug": slug, "name": "Made", "service_type": "web", "redirect_uris": []}
    made = await _by_key(hood, of, ring, "POST", "/services", service)
    if made.status != 200 or (await _by_key(hood, of, ring, "DELETE", f"/services/{slug}")).status != 204:
        raise Violation("denied", f"the key of {of} makes and deletes no service")
    only = hood.organizations[another].only_service
    if (await _by_key(hood, another, ring, "DELETE", f"/services/{only}")).status == 204:
        raise Violation("machine", f"the key of {of} has deleted a service of {another}")


@step(MACHINES)
async def owner_revokes_key(hood: Neighbourhood, of: str, whole: bool) -> None:
    """The owner deletes the key, which ends its links, or with all that it has made."""
    ring = hood.keyrings.pop(of, None)
    if ring is None:
        return
    listed = (await hood.by_owner(of, "GET", f"/keys/{ring.key_id}/made?limit=100")).json["total"]
    if listed != len(ring.api_keys) + len(ring.scim_tokens) + len(ring.links):
        raise Violation("denied", f"{of} is shown {listed} things of its key")
    query = "?with_made=true" if whole else ""
    answer = await hood.by_owner(of, "DELETE", f"/keys/{ring.key_id}{query}")
    if answer.status != 204:
        raise Violation("not ended", f"{of} was answered {answer.status}")
    await judge_ended(hood, of, ring, whole=whole)
    if not whole:
        await _judge_works(hood, of, ring, has_links=False)
    hood.explained.add(ENDED if whole else REPLACED)


async def judge_ended(hood: Neighbourhood, of: str, ring: Keyring, *, whole: bool) -> None:
    """Raise `Violation` when a key that has ended, a link of it, or with `whole` what it made opens something."""
    if (await _by_key(hood, of, ring, "GET", "/services")).status == 200:
        raise Violation(OUTLIVED, f"the key of {of}")
    for what, ask, secrets in _made_by(hood, ring, has_links=True):
        for secret in secrets if whole or what == "setup link" else ():
            if (await ask(secret)).status == 200:
                raise Violation(OUTLIVED, f"a {what} of the key of {of}")


async def _judge_works(hood: Neighbourhood, of: str, ring: Keyring, *, has_links: bool) -> None:
    for what, ask, secrets in _made_by(hood, ring, has_links=has_links):
        for secret in secrets:
            if (await ask(secret)).status != 200:
                raise Violation("denied", f"a {what} of the key of {of} opens nothing")


async def _judge_roles(hood: Neighbourhood, of: str, ring: Keyring) -> None:
    """The tokens of the key change no member with a role that the key could not give."""
    members = hood.world.rows(
        "SELECT user_id::text FROM memberships WHERE organization_id = %s AND role = %s AND suspended_at IS NULL",
        hood.organizations[of].party.organization_id,
        TECHNICIAN,
    )
    off = {"schemas": [PATCH], "Operations": [{"op": "replace", "path": "active", "value": False}]}
    for (user_id,) in members:
        path = f"/scim/v2/Users/{hood.known_id(of, user_id)}"
        data, headers = json.dumps(off).encode(), {"Content-Type": SCIM_JSON}
        answer = await hood.send("PATCH", path, token=ring.scim_tokens[-1], data=data, headers=headers)
        if answer.status == 200:
            raise Violation(BEYOND, f"a SCIM token of the key of {of} has deactivated a {TECHNICIAN}")


def _made_by(
    hood: Neighbourhood, ring: Keyring, *, has_links: bool
) -> list[tuple[str, Callable[[str], Awaitable[Answer]], list[str]]]:
    """Return what a key has made, and how each is asked whether it opens something."""
    return [
        ("API key", lambda one: hood.send("GET", "/api/service/users", headers={"X-Api-Key": one}), ring.api_keys),
        ("SCIM token", lambda one: hood.send("GET", "/scim/v2/Users", token=one), ring.scim_tokens),
        ("setup link", lambda one: hood.send("GET", one), ring.links if has_links else []),
    ]


async def _made(hood: Neighbourhood, of: str, ring: Keyring, path: str, body: dict[str, Any], secret: str) -> str:
    """Make something with the key, and return its secret."""
    answer = await _by_key(hood, of, ring, "POST", path, body)
    if answer.status not in {200, 201}:
        raise Violation("denied", f"the key of {of} makes nothing at {path}: {answer.text}")
    return answer.json[secret]


async def _by_key(
    hood: Neighbourhood, of: str, ring: Keyring, method: str, path: str, body: dict[str, Any] | None = None
) -> Answer:
    return await hood.send(method, hood.organizations[of].path + path, body, headers={"X-Api-Key": ring.secret})
