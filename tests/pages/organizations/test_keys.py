"""The pages of the keys of an organization."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from core.organizations.access import Capability
from tests.application import Answer
from tests.pages.copied import copied
from tests.secret_watch import WATCH
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/keys"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"
# These read nothing of the organization as a whole.
READING_NOTHING = {
    Capability.BILLING_MANAGE,
    Capability.SERVICES_CREATE,
    Capability.SERVICES_MANAGE,
    Capability.END_USERS_MANAGE,
}


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner, an admin, and a custom role that may do everything but is no admin."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.custom_role("chief", "org.settings.manage", "integrations.manage", "org.roles.manage")
    team.add("cid", "chief")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def made(visitor: Visitor, *permissions: str, **fields: str) -> Answer:
    """Create a key by the form of the page."""
    token = re.findall('name="form_token" value="([^"]+)"', (await visitor.open(PAGE)).text)[0]
    sent = [("form_token", token), *(("permissions", one) for one in permissions), *fields.items()]
    answer = await visitor.send(
        "POST",
        PAGE,
        data=urlencode(sent).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    return await visitor.led_on(answer)


def secret_in(answer: Answer) -> str:
    """Return the secret that a page shows."""
    secret = copied(answer, "secret")
    WATCH.add(secret)
    return secret


async def test_a_key_is_created_shown_once_and_opens_the_interface(acme: Team, ann: Visitor) -> None:
    answer = await made(ann, "org.members.view", name=HOSTILE, expires_in_days="30")
    secret = secret_in(answer)
    listed = await ann.open(PAGE)
    used = await acme.world.client.request("GET", f"{acme.path}/members", headers={"X-Api-Key": secret})

    assert answer.status == 200
    assert "Copy the secret now. It is shown only once." in answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert HOSTILE not in answer.text
    assert secret not in listed.text
    assert "One key" in listed.text
    assert "by ann@example.com" in listed.text
    assert "See the members" in listed.text
    assert used.status == 200


async def test_the_example_beside_a_new_key_works_with_it(acme: Team, ann: Visitor) -> None:
    for permission in Capability:
        answer = await made(ann, permission, name="Deployment")
        secret = secret_in(answer)
        examples = re.findall(r"curl http://localhost:8000(\S+) -H &#34;X-Api-Key", answer.text)
        used = [await acme.world.client.request("GET", path, headers={"X-Api-Key": secret}) for path in examples]

        assert "X-Api-Key" in answer.text, permission
        assert [one.status for one in used] == [200] * len(used), permission
        assert bool(used) == (permission not in READING_NOTHING), permission


async def test_what_is_refused_is_said_and_what_was_typed_stays(acme: Team, ann: Visitor) -> None:
    named, days = {"name": "Deployment"}, "from 1 to 3650, or nothing."

    cases: list[tuple[tuple[str, ...], dict[str, str], str]] = [
        ((), named, "Name at least one permission."),
        (("king",), named, "Choose among these permissions."),
        (("billing.manage",), {"name": " "}, "name"),
        *((("billing.manage",), named | {"expires_in_days": typed}, days) for typed in ("0", "3651", "²", "9" * 5000)),
    ]
    for permissions, fields, problem in cases:
        refused = await made(ann, *permissions, **fields)

        assert refused.status == 400, fields
        assert problem in refused.text, fields
        assert ('value="billing.manage" checked' in refused.text) == ("billing.manage" in permissions), fields
    assert acme.world.value("SELECT count(*) FROM organization_keys") == 0


async def test_a_key_is_deleted_on_a_page_that_says_what_stops(ann: Visitor) -> None:
    secret_in(await made(ann, "org.members.view", name="Deployment"))
    [deletion] = re.findall(rf'href="({PAGE}/[\w-]+/delete)"', (await ann.open(PAGE)).text)

    asked = await ann.open(deletion)
    deleted = await ann.submit(asked, deletion)
    again = await ann.submit(asked, deletion)

    assert "It was never used." in asked.text
    assert "ann@example.com" in asked.text
    assert "The key is revoked" in deleted.text
    assert "There is no key yet." in deleted.text
    assert again.status == 404
    assert (await ann.open(deletion)).status == 404


async def make_each(acme: Team, secret: str) -> None:
    """Make an API key, a SCIM token and a setup link with a key."""
    acme.world.service(acme.organization_id, "shop")
    for path, body in (
        ("/services/shop/api-keys", {"name": HOSTILE, "permissions": ["read:service"]}),
        ("/scim-tokens", {"name": "Okta"}),
        ("/setup-links", {"parts": ["scim", "domain"]}),
    ):
        answer = await acme.world.client.request("POST", f"{acme.path}{path}", body=body, headers={"X-Api-Key": secret})
        assert answer.status in {200, 201}, answer.text
        if isinstance(answer.json.get("key"), str):
            WATCH.add(answer.json["key"])


@pytest.mark.parametrize(("with_made", "left"), [({}, (1, 1, 0)), ({"with_made": "on"}, (0, 0, 0))])
async def test_the_page_lists_what_a_key_has_made_and_ends_it_where_that_is_ticked(
    acme: Team, ann: Visitor, with_made: dict[str, str], left: tuple[int, int, int]
) -> None:
    permissions = ("services.manage", "integrations.manage", "org.members.manage", "org.settings.manage")
    secret = secret_in(await made(ann, *permissions, name="Deployment"))
    [deletion] = re.findall(rf'href="({PAGE}/[\w-]+/delete)"', (await ann.open(PAGE)).text)
    before = await ann.open(deletion)
    await make_each(acme, secret)
    asked = await ann.open(deletion)
    keys = await ann.open("/app/organizations/acme/services/shop/api-keys")
    links, tokens = (
        await ann.open("/app/organizations/acme/setup-links"),
        await ann.open("/app/organizations/acme/provisioning"),
    )

    deleted = await ann.submit(asked, deletion, with_made)

    assert "Also end what it made" not in before.text
    for shown in ("Also end what it made", "SCIM token: Okta", "Setup link: scim, domain", "<code>shop</code>"):
        assert shown in asked.text
    assert HOSTILE not in asked.text
    assert "with the key Deployment" in keys.text
    assert "with the key Deployment" in links.text
    assert "Made with a key of the organization" in tokens.text
    assert "The key is revoked" in deleted.text
    tables = ("api_keys", "scim_tokens", "setup_links")
    assert tuple(acme.world.value(f"SELECT count(*) FROM {table}") for table in tables) == left


async def test_an_api_key_names_the_key_that_made_it_also_when_that_has_ended(acme: Team, ann: Visitor) -> None:
    permissions = ("services.manage", "integrations.manage", "org.members.manage", "org.settings.manage")
    await make_each(acme, secret_in(await made(ann, *permissions, name="Deployment")))
    page = "/app/organizations/acme/services/shop/api-keys"
    one = f"{page}/{acme.world.value('SELECT id FROM api_keys')}"
    named = await ann.open(one)
    acme.world.connection.execute("DELETE FROM organization_keys")

    assert "Deployment" in named.text
    assert "one that was revoked" in (await ann.open(one)).text
    assert "with a key that was revoked" in (await ann.open(page)).text


async def test_a_key_that_has_expired_says_so(acme: Team, ann: Visitor) -> None:
    await made(ann, "org.members.view", name="Deployment", expires_in_days="1")
    acme.world.connection.execute("UPDATE organization_keys SET expires_at = created_at")

    assert "Expired" in (await ann.open(PAGE)).text


async def test_a_custom_role_finds_it_closed_whatever_it_allows(acme: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    assert (await visitor.open(PAGE)).status == 403
    overview = await visitor.open("/app/organizations/acme")
    assert f'href="{PAGE}"' not in overview.text
    assert "(the owner and admins only)" in overview.text
