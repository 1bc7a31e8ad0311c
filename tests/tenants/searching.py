"""What the palette and the search of the consoles find: what its reader's organization has, and nothing of another one.

An organization finds its present members and end users by their addresses, its services and customers, the products
that it uses, and entries of its log; a person finds their other organizations besides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from tests.tenants import acting, desk_rows, judging, receiving
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, B
from tests.tenants.staff import NETWORK, browser_of, staff_of
from tests.tenants.taking import Story, step
from tests.world.builder import PASSWORD
from tests.world.signing_in import claims_of

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.neighbourhood import Neighbourhood
    from tests.world.visitor import Visitor

FOUND: Final = "a search found a person"
FOUND_BY_PLATFORM: Final = "the platform found a person"
PLATFORM: Final = "/app/platform"
_OPTION: Final = re.compile(r'<a class="option"[^>]* href="([^"]+)">.*?<span class="option-text">(.*?)</span></a>')
_PERSON: Final = re.compile(r"/people/(?:end-users/)?([0-9a-f-]{36})")
_ENTRY: Final = re.compile(r"/audit/([0-9a-f-]{36})")


@dataclass(frozen=True)
class Reader:
    """A browser, the account that reads in it, and the organization in whose console it does."""

    visitor: Visitor
    user_id: str
    slug: str


@step(Story.READING)
async def readers_search(hood: Neighbourhood, address: str, of: str) -> None:
    """Readers of each kind search for what another organization has, by the palette and without scripts."""
    await desk_rows.opened(hood)
    for reader in await _readers(hood, address):
        other = hood.organizations[of if hood.organizations[of].slug != reader.slug else A if of == B else B]
        [[entry]] = hood.world.rows(
            "SELECT (SELECT max(id::text) FROM audit_entries WHERE organization_id = %s)", other.party.organization_id
        )
        for text in filter(None, (address, entry)):
            await _judge(hood, reader, text, "/options", "")
        for text in filter(None, (other.owner, other.slug, other.only_service, hood.user_id(address))):
            await _judge(hood, reader, text, "/options")
    await _judge_platform(hood, address)


async def _readers(hood: Neighbourhood, address: str) -> list[Reader]:
    """Return the owners, an admin and a member of A, a person in both consoles, and one who acts as the owner of A."""
    found = [_reader(hood, token, slug) for _, slug, token in receiving.owners_of(hood)]
    found.append(_reader(hood, await _admin_token(hood), hood.organizations[A].slug))
    at_a, at_b = hood.organizations[A], hood.organizations[B]
    at_work = next((one.access_token for one in judging.live(hood, hood.eve) if not one.service), None)
    person = hood.model.owner_of(address)
    held = await acting.sign_in(hood, person, address) if person is not None else None
    tokens = [one for one in (at_work, held.access_token if held is not None else None) if one is not None]
    found += [_reader(hood, token, one.slug) for token in tokens for one in (at_a, at_b)]
    staff, owner_id = await staff_of(hood), hood.user_id(at_a.owner)
    acted = await hood.send(
        "POST", f"/api/platform/impersonate/{owner_id}", {"reason": "a question"}, token=staff.owner_token
    )
    assert acted.status == 200, acted.text
    visitor = browser_of(hood, staff.owner_token, impersonates=acted.json["access_token"])
    return [*found, Reader(visitor, str(owner_id), at_a.slug)]


async def _admin_token(hood: Neighbourhood) -> str:
    """Return a token of an admin of A, whom the first search makes."""
    email = f"admin@{hood.organizations[A].domain}"
    if hood.user_id(email) is None:
        hood.world.member(hood.organizations[A].party.organization_id, hood.world.user(email), "admin")
    return (await hood.world.sign_in(email, PASSWORD, address=NETWORK)).access_token


def _reader(hood: Neighbourhood, token: str, slug: str) -> Reader:
    return Reader(browser_of(hood, token), claims_of(token)["sub"], slug)


async def _judge(hood: Neighbourhood, reader: Reader, text: str, *pages: str) -> None:
    """Raise `Violation` when a search finds what another organization has, or opens to who is no member.

    Its pages are the options of the palette, and the page without scripts.
    """
    own = {
        slug
        for (slug,) in hood.world.rows(
            "SELECT o.slug FROM memberships m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = %s",
            reader.user_id,
        )
    }
    for page in pages:
        answer = await _asked(reader.visitor, f"/app/organizations/{reader.slug}/search{page}", text)
        assert answer.status < 500, answer.text
        if answer.status not in {200, 303}:
            continue
        if reader.slug not in own and answer.status == 200:
            raise Violation("found", f"{reader.user_id} searches in {reader.slug} and is no member")
        results = _results(answer)
        strange = [*_strange(hood, reader, own), *_strange_ids(hood, reader.slug, results)]
        for one in strange:
            if one in results.lower():
                raise Violation("found", f"{reader.user_id} found {one} in {reader.slug} by {text!r}: {results}")
        if "@" in results:
            hood.explained.add(FOUND)


async def _asked(visitor: Visitor, path: str, text: str) -> Answer:
    return await visitor.send("GET", f"{path}?q={quote(text)}")


def _results(answer: Answer) -> str:
    """Return what was found, without what was searched for: the only hit, the options, or the rows of the page."""
    if answer.status == 303:
        return answer.headers["Location"]
    options = _OPTION.findall(answer.text)
    if options:
        return "\n".join(f"{href} {title}" for href, title in options if "/search?q=" not in href)
    return "\n".join(answer.text.partition('id="hits-1"')[2].partition("</main>")[:1])


def _strange(hood: Neighbourhood, reader: Reader, own: set[str]) -> list[str]:
    """Return what belongs to others: addresses, and names of organizations and of their services."""
    desk = hood.desk
    assert desk is not None
    ids = {slug: organization_id for organization_id, slug, _ in receiving.owners_of(hood)}
    present = {
        email
        for (email,) in hood.world.rows(
            """
            SELECT email FROM users u
            WHERE  EXISTS (SELECT FROM memberships WHERE organization_id = %s AND user_id = u.id)
            OR     EXISTS (SELECT FROM service_users WHERE organization_id = %s AND user_id = u.id)
            """,
            ids[reader.slug],
            ids[reader.slug],
        )
    }
    own = own | {reader.slug}
    if reader.slug == desk.slug:
        own |= {one.slug for name, one in hood.organizations.items() if desk.present(name) is not None}
    elif any(one.slug == reader.slug and desk.present(name) for name, one in hood.organizations.items()):
        own |= {desk.slug}
    services = [one.only_service for one in hood.organizations.values() if one.slug != reader.slug]
    owners = [one.owner for one in hood.organizations.values()]
    addresses = [one for one in (*hood.addresses, *owners) if one not in present]
    return [*addresses, *services, *(slug for slug in ids if slug not in own)]


def _strange_ids(hood: Neighbourhood, slug: str, results: str) -> list[str]:
    """Return the ids in the results that are of no person and no entry of an organization."""
    [organization_id] = [one for one, other, _ in receiving.owners_of(hood) if other == slug]
    people, entries = set(_PERSON.findall(results)), set(_ENTRY.findall(results))
    known = hood.world.rows(
        """
        SELECT user_id::text FROM memberships WHERE organization_id = %s
        UNION ALL
        SELECT user_id::text FROM service_users WHERE organization_id = %s
        """,
        *(organization_id,) * 2,
    )
    written = hood.world.rows("SELECT id::text FROM audit_entries WHERE organization_id = %s", organization_id)
    return [*people - {one for (one,) in known}, *entries - {one for (one,) in written}]


async def _judge_platform(hood: Neighbourhood, address: str) -> None:
    """Raise `Violation` when others than the platform search there, or support finds people while it types."""
    staff, user_id = await staff_of(hood), hood.user_id(address)
    search = f"{PLATFORM}/search"
    options = await _asked(browser_of(hood, staff.owner_token), f"{search}/options", address)
    if user_id is not None and user_id not in options.text:
        raise Violation("denied", f"the platform did not find {address}")
    hood.explained |= {FOUND_BY_PLATFORM} if user_id is not None else set()
    options = await _asked(browser_of(hood, staff.support_token), f"{search}/options", address)
    if f"{PLATFORM}/users/" in options.text:
        raise Violation("found", f"support found {address} while it was typed, which nothing records")
    for _, slug, token in receiving.owners_of(hood):
        for path in (f"{search}/options", search):
            if (await _asked(browser_of(hood, token), path, address)).status == 200:
                raise Violation("found", f"the owner of {slug} searches the platform")
