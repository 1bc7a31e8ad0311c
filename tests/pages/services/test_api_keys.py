"""The tab of a service with its API keys."""

from __future__ import annotations

import re
import shlex
from datetime import timedelta
from html import unescape
from urllib.parse import urlsplit

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

KEYS = "/app/organizations/acme/services/shop/api-keys"
NEW = f"{KEYS}/new"
HOSTILE = "<b onclick=alert(1)>Key</b>"


@pytest.fixture
def shop(world: World) -> Team:
    """An organization with an owner, a member, and a service."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    world.service(team.organization_id, "shop")
    return team


@pytest.fixture
async def ann(shop: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def make(visitor: Visitor, name: str = "Backend", permission: str = "read:service", **fields: str) -> Answer:
    """Create a key by the form."""
    return await visitor.submit(await visitor.open(NEW), NEW, {"name": name, "permissions": permission, **fields})


def secret_of(page: Answer) -> str:
    """Return the secret that a page shows."""
    return re.findall(r"sk_\w{6}_\w{43}", page.text)[0]


def key_pages(page: Answer) -> list[str]:
    """List the addresses of the keys that a page shows."""
    return re.findall(rf'href="({KEYS}/[0-9a-f-]{{36}})"', page.text)


async def run(world: World, page: Answer) -> Answer:
    """Do what the command of a page does."""
    [command] = re.findall(r'<textarea id="copy-example"[^>]*>(.*?)</textarea>', page.text, re.DOTALL)
    words = shlex.split(unescape(command).replace("\\\n", " "))
    options = dict(zip(words[words.index("-H") :: 2], words[words.index("-H") + 1 :: 2], strict=True))
    method = options.pop("-X", "GET") if "-X" not in words[:2] else words[2]
    address = next(word for word in words if word.startswith("http"))
    headers = dict(words[place + 1].split(": ") for place, word in enumerate(words) if word == "-H")
    data = options.get("-d")
    return await world.client.request(
        method, urlsplit(address).path, data=data.encode() if data else None, headers=headers
    )


async def test_a_key_is_made_and_shown_once_with_a_call_that_works(world: World, ann: Visitor) -> None:
    empty = await ann.open(KEYS)

    made = await make(ann, HOSTILE)
    listed = await ann.open(KEYS)
    [page] = key_pages(listed)
    detail = await ann.open(page)

    secret = secret_of(made)
    assert "There is no key yet." in empty.text
    assert made.headers["Cache-Control"] == "no-store"
    assert (await run(world, made)).json["slug"] == "shop"
    assert world.value("SELECT name FROM api_keys") == HOSTILE
    for later in (listed, detail):
        assert secret not in later.text
        assert secret[:9] in later.text
        assert HOSTILE not in later.text
        assert "ann@example.com" in later.text
        assert "Read the service" in later.text
    assert secret not in str(world.rows("SELECT details FROM audit_entries"))


async def test_the_call_beside_a_new_key_works_as_it_is_or_says_what_to_put_in(world: World, ann: Visitor) -> None:
    world.connection.execute("UPDATE services SET name = 'Ann''s shop $HOME'")

    for permission in (
        *("read:users", "read:subscriptions", "read:analytics", "read:service", "read:customers"),
        *("write:users", "write:service"),
    ):
        answer = await run(world, await make(ann, permission=permission))

        assert answer.status == 200, (permission, answer.text)
        assert world.value("SELECT name FROM services") == "Ann's shop $HOME", permission
    for permission in ("delete:users", "write:subscriptions", "delete:subscriptions"):
        made = await make(ann, permission=permission)

        assert "begin with a dollar sign" in made.text, permission
        assert "$USER_ID" in made.text, permission


async def test_an_invalid_key_is_refused_and_keeps_what_was_typed(world: World, ann: Visitor) -> None:
    nameless = await make(ann, " ", "read:users")
    without = await make(ann, "Backend", "read:everything")
    late = await make(ann, expires="31")

    assert (nameless.status, without.status, late.status) == (400, 400, 400)
    assert re.search(r'value="read:users"[^>]*checked', nameless.text)
    assert "Name at least one permission." in without.text
    assert 'value="Backend"' in without.text
    assert "Choose one of these." in late.text
    assert world.value("SELECT count(*) FROM api_keys") == 0


async def test_a_key_expires_when_the_form_says(world: World, ann: Visitor) -> None:
    await make(ann, "soon", expires="30")
    await make(ann, "never", expires="")
    world.connection.execute("UPDATE api_keys SET expires_at = created_at WHERE name = 'soon'")

    page = await ann.open(KEYS)

    assert "Expired" in page.text
    assert "never expires" in page.text
    [revoked] = [one for one in key_pages(page) if "soon" in (await ann.open(one)).text]
    assert "nothing stops with it" in (await ann.open(f"{revoked}/revoke")).text


async def test_a_revoked_key_stops_and_is_revoked_once(world: World, ann: Visitor) -> None:
    secret = secret_of(await make(ann))
    [page] = key_pages(await ann.open(KEYS))
    first, second = await ann.open(f"{page}/revoke"), await ann.open(f"{page}/revoke")

    done = await ann.submit(first, f"{page}/revoke")
    late = await ann.submit(second, f"{page}/revoke")

    assert "The key is revoked." in done.text
    assert (late.status, "no such API key" in late.text) == (404, True)
    answer = await world.client.get("/api/service/info", headers={"X-Api-Key": secret})
    assert answer.status == 401
    assert len(world.audit_entries("api_key.deleted")) == 1


async def test_a_permission_that_the_maker_lacks_is_closed_and_refused(
    world: World, shop: Team, visitor: Visitor
) -> None:
    shop.custom_role("builder", "services.view", "services.manage", "end_users.view")
    shop.add("cid", "builder")
    await visitor.sign_in("cid@example.com")

    form = await visitor.open(NEW)
    refused = await make(visitor, permission="write:users")

    assert len(re.findall(r'name="permissions"[^>]* disabled', form.text)) == 6
    assert "(needs <code>end_users.manage</code>)" in form.text
    assert refused.status == 403
    assert "A key allows nothing that you may not do yourself." in refused.text
    assert 'value="Backend"' in refused.text
    assert (await make(visitor, permission="read:users")).status == 200


async def test_a_viewer_reads_the_keys_and_a_manager_makes_them(world: World, shop: Team, visitor: Visitor) -> None:
    shop.custom_role("guest", "org.members.view")
    hal = shop.add("hal", "guest")
    service_id = world.value("SELECT id FROM services")
    await visitor.sign_in("hal@example.com")

    before = await visitor.open(KEYS)
    world.grant(shop.organization_id, service_id, hal, "viewer")
    viewed = await visitor.open(KEYS)
    closed = await visitor.open(NEW)
    world.connection.execute("UPDATE service_grants SET relation = 'manager'")
    made = await make(visitor)

    assert (before.status, viewed.status, closed.status, made.status) == (403, 200, 403, 200)
    assert "<code>services.manage</code>" in viewed.text
    assert "disabled" in viewed.text


async def test_a_key_of_another_service_or_organization_is_not_found(world: World, shop: Team, ann: Visitor) -> None:
    world.service(shop.organization_id, "desk")
    await make(ann)
    [page] = key_pages(await ann.open(KEYS))
    globex = world.team("globex")
    globex.add("eve", "owner")
    world.service(globex.organization_id, "shop")

    for other in (page.replace("/shop/", "/desk/"), page.replace("/shop/", "/nowhere/")):
        assert (await ann.open(other)).status == 404
        assert (await ann.open(f"{other}/revoke")).status == 404
        form = await ann.open(f"{page}/revoke")
        sent = {"form_token": re.findall('name="form_token" value="([^"]+)"', form.text)[0]}
        assert (await ann.post(f"{other}/revoke", sent)).status == 404
    assert (await ann.open(page.replace("/acme/", "/globex/"))).status == 403
    assert world.value("SELECT count(*) FROM api_keys") == 1


async def test_a_former_maker_is_not_named(world: World, shop: Team, ann: Visitor) -> None:
    shop.add("cid", "admin")
    await make(ann)
    world.connection.execute("UPDATE api_keys SET created_by = %s", (shop.ids["cid"],))
    assert "cid@example.com" in (await ann.open(KEYS)).text

    world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (shop.ids["cid"],))

    page = await ann.open(KEYS)
    assert "cid@example.com" not in page.text
    assert "by a former member" in page.text


async def test_many_keys_are_paged_searched_and_limited(world: World, ann: Visitor) -> None:
    await make(ann, "first")
    world.connection.execute(
        """
        INSERT INTO api_keys
               (id, organization_id, service_id, name, prefix, key_hash, permissions, created_by, created_at)
        SELECT gen_random_uuid(), organization_id, service_id, repeat('w', 90) || number, 'sk_' || (100000 + number),
               sha256(number::text::bytea), '{read:users,write:users,delete:users,read:subscriptions}', created_by,
               created_at + number / 2 * interval '1 second'
        FROM   api_keys, generate_series(1, 99) AS number
        """
    )
    page, seen, sizes = KEYS, list[str](), list[int]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        seen += key_pages(answer)
        assert "100 found" in answer.text
        links = re.findall(r'href="([^"]+after=[^"]+)"', answer.text)
        page = unescape(links[0]) if links else ""

    assert (len(seen), len(set(seen))) == (100, 100)
    assert max(sizes) < 40 * 1024
    assert len(key_pages(await ann.open(f"{KEYS}?search=FIRST"))) == 1
    assert len(key_pages(await ann.open(f"{KEYS}?search=sk_100042"))) == 1
    assert "No key has this" in (await ann.open(f"{KEYS}?search=%25")).text
    full = await make(ann)
    assert (full.status, "at most 100 API keys" in full.text) == (400, True)


async def test_a_key_is_made_by_who_has_signed_in_lately(
    world: World, ann: Visitor, shop: Team, clock: SettableClock
) -> None:
    page = await ann.open(NEW)
    clock.advance(timedelta(minutes=11))
    late = await ann.submit(page, NEW, {"name": "Backend", "permissions": "read:service"}, is_followed=False)
    asked = await ann.send("GET", NEW)

    for answer in (late, asked):
        assert answer.status == 303
        assert answer.headers["Location"].startswith("/app/sign-in-again")
    assert world.value("SELECT count(*) FROM api_keys") == 0
