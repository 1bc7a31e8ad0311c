"""Setting up provisioning with a setup link."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.scim.log import FAILURES_MAX
from core.scim.tokens import TOKENS_MAX
from entrypoints.pages.organizations.setup import SETUP
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.secret_watch import WATCH
from tests.shown_text import shows
from tests.world.directory import USER, Directory
from tests.world.setups import Setups
from tests.world.world import World

SCIM = "/app/setup/parts/scim"
OFF = {"op": "replace", "path": "active", "value": False}


async def connected(setups: Setups) -> Directory:
    """Return the directory of the team with a token that the page has just created."""
    page = await setups.visitor.submit(await setups.open("scim"), SCIM)
    [token] = re.findall(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", page.text)
    WATCH.add(token)
    return Directory(setups.team, token)


async def newest(setups: Setups) -> str:
    """Return the path at which the newest token is revoked."""
    tokens = (await setups.team.request("owner", "GET", "/scim-tokens")).json["tokens"]
    return f"{SCIM}/{tokens[0]['id']}/revoke"


async def test_the_holder_gets_a_token_once_and_the_directory_works_with_it(setups: Setups) -> None:
    link = await setups.create("scim")
    await setups.begin(link)
    before = await setups.open("scim")

    page = await setups.visitor.submit(before, SCIM)
    [token] = re.findall(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", page.text)
    WATCH.add(token)
    directory = Directory(setups.team, token)
    created = await directory.create()
    after = await setups.open("scim")

    assert all(name in before.text for name in ("Okta", "Microsoft Entra", "Google Workspace"))
    steps = await setups.open("scim?provider=entra")
    assert ">http://localhost:8000/scim/v2?aadOptscim062020</textarea>" in steps.text
    assert not shows(steps.text, "Okta")
    assert page.headers["Cache-Control"] == "no-store"
    assert created["userName"] == "ada@example.com"
    assert token not in after.text
    assert "Last used on" in after.text
    [recorded] = setups.recorded(link, "scim_token.created")
    assert recorded["scim_token_prefix"] == token[:16]
    listed = await setups.team.request("owner", "GET", "/scim-tokens")
    assert [one["name"] for one in listed.json["tokens"]] == ["Setup link"]


async def test_the_page_shows_what_the_directory_failed_to_do(setups: Setups) -> None:
    await setups.begin(await setups.create("scim"))
    directory = await connected(setups)
    for number in range(FAILURES_MAX + 1):
        await directory.request("POST", "/Users", {"schemas": [USER], "userName": f"no address {number}"})

    shown = (await setups.open("scim")).text

    assert "no address 0" not in shown
    assert "Last used on" in shown
    assert [f"no address {number}" in shown for number in range(1, FAILURES_MAX + 1)] == [True] * FAILURES_MAX
    assert "400" in shown


async def test_the_number_of_tokens_is_limited(setups: Setups) -> None:
    await setups.begin(await setups.create("scim"))
    page = await setups.open("scim")
    setups.team.world.connection.execute(
        """
        INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at)
        SELECT gen_random_uuid(), %s, 'one', 'scim_live_' || n, sha256(n::text::bytea), now()
        FROM   generate_series(1, %s) n
        """,
        (setups.team.organization_id, TOKENS_MAX),
    )

    refused = await setups.visitor.submit(page, SCIM)

    assert refused.status == 400
    assert "at most 20 SCIM tokens" in refused.text


async def test_the_token_changes_only_members_whose_role_the_maker_of_the_link_could_give(setups: Setups) -> None:
    team = setups.team
    team.custom_role("connector", "integrations.manage", "org.members.manage")
    team.add("connector", "connector")
    await setups.begin(await setups.create("scim", by="connector"))
    directory = await connected(setups)

    statuses = [(await directory.patch(str(team.ids[name]), OFF)).status for name in ("admin", "member")]

    assert statuses == [403, 200]


@pytest.mark.parametrize(
    ("roles", "changed"),
    [((), {"member"}), (("member",), {"member"}), (("sales",), {"member", "sales"}), (("admin",), {"member", "admin"})],
)
async def test_the_token_of_an_owner_changes_members_with_the_roles_of_its_link_alone(
    setups: Setups, roles: tuple[str, ...], changed: set[str]
) -> None:
    team = setups.team
    team.custom_role("sales", "services.view")
    team.custom_role("auditor", "audit_logs.view")
    for name in ("sales", "auditor"):
        team.add(name, name)
    link = await setups.create("scim", "groups", roles=list(roles))
    await setups.begin(link)
    directory = await connected(setups)
    # It lives on after the link, with what the link allowed.
    await setups.request("DELETE", f"/{link['id']}")
    names = ("owner", "admin", "sales", "auditor", "member")

    statuses = {name: (await directory.patch(str(team.ids[name]), OFF)).status for name in names}

    assert statuses == {name: 200 if name in changed else 403 for name in names}


async def test_a_link_for_provisioning_alone_makes_a_token_that_removes_plain_members_alone(setups: Setups) -> None:
    team = setups.team
    await setups.begin(await setups.create("scim"))
    page = await setups.open("scim")
    directory = await connected(setups)

    deleted = await directory.request("DELETE", f"/Users/{team.ids['admin']}")
    emptied = await directory.put_group()

    assert "people with these roles alone: member." in unescape(page.text)
    assert deleted.status == 403
    assert {one["value"] for one in emptied.json["members"]} == {str(team.ids[name]) for name in ("owner", "admin")}


async def test_the_token_of_a_link_gives_nobody_a_role_by_a_rule_that_the_link_does_not_name(setups: Setups) -> None:
    team = setups.team
    team.custom_role("sales", "services.view")
    await setups.begin(await setups.create("scim", "groups", roles=["sales"]))
    directory = await connected(setups)
    admins, sales = await directory.create_group("Admins"), await directory.create_group("Sales")
    rules = [{"source": "scim", "group": admins, "role": "admin"}, {"source": "scim", "group": sales, "role": "sales"}]
    await team.request("owner", "PUT", "/group-rules", body={"rules": rules})

    await directory.put_in(admins, "member")
    by_other = team.role_of("member")
    await directory.put_in(sales, "member")

    assert (by_other, team.role_of("member")) == ("member", "sales")


async def test_a_revoked_link_makes_no_token(setups: Setups) -> None:
    link = await setups.create("scim")
    await setups.begin(link)
    page = await setups.open("scim")
    await setups.request("DELETE", f"/{link['id']}")

    assert (await setups.visitor.submit(page, SCIM)).status == 404
    assert setups.team.world.value("SELECT count(*) FROM scim_tokens") == 0


async def test_a_token_is_revoked_once_by_a_page_that_says_what_ends(setups: Setups) -> None:
    link = await setups.create("scim")
    await setups.begin(link)
    directory = await connected(setups)
    await directory.create()
    path = await newest(setups)
    listed = await setups.open("scim")
    asked = await setups.visitor.open(path)

    async def revoke() -> Answer:
        return await setups.visitor.submit(asked, path, is_followed=False)

    answers = await at_once(revoke, revoke)

    assert f'href="{path}"' in listed.text
    assert "No other token is valid, so provisioning stops" in asked.text
    assert "This token was used." in asked.text
    assert statuses_of(answers) == [303, 404]
    assert (await directory.request("GET", "/Users")).status == 401
    [recorded] = setups.recorded(link, "scim_token.revoked")
    assert recorded["scim_token_prefix"] == directory.token[:16]
    gone = await setups.visitor.open(path)
    assert (gone.status, "It may be revoked already." in gone.text) == (404, True)


async def test_the_page_counts_the_tokens_that_stay_valid(setups: Setups, world: World) -> None:
    await setups.begin(await setups.create("scim"))
    await connected(setups)
    for name, ends in (("ended", "2026-02-02T00:00:00Z"), ("other", None)):
        await setups.team.request("owner", "POST", "/scim-tokens", body={"name": name})
        world.connection.execute("UPDATE scim_tokens SET expires_at = %s WHERE name = %s", (ends, name))
    expired = world.value("SELECT id FROM scim_tokens WHERE name = 'ended'")

    asked = await setups.visitor.open(await newest(setups))
    ended = await setups.visitor.open(f"{SCIM}/{expired}/revoke")

    assert "One other token stays valid." in asked.text
    assert "This token was used." not in asked.text
    assert "This token has expired, so nothing ends with it." in ended.text
    assert (await setups.open("scim")).text.count("Expired") == 1


async def test_the_token_of_another_organization_or_with_a_dead_link_is_not_revoked(
    setups: Setups, world: World
) -> None:
    globex = world.team("globex")
    globex.add("boss", "owner")
    theirs = (await globex.request("boss", "POST", "/scim-tokens", body={"name": "theirs"})).json["id"]
    link = await setups.create("scim")
    await setups.begin(link)
    await connected(setups)
    path = await newest(setups)
    asked = await setups.visitor.open(path)
    foreign = f"{SCIM}/{theirs}/revoke"

    opened = await setups.visitor.open(foreign)
    moved = Answer(asked.status, asked.headers, asked.text.replace(path, foreign).encode())
    sent = await setups.visitor.submit(moved, foreign)
    await setups.request("DELETE", f"/{link['id']}")
    late = await setups.visitor.submit(asked, path)

    assert [answer.status for answer in (opened, sent, late)] == [404, 404, 404]
    assert world.value("SELECT count(*) FROM scim_tokens") == 2
    assert world.audit_entries("scim_token.revoked") == []


async def test_the_index_says_since_when_the_changes_of_the_directory_are_refused(setups: Setups) -> None:
    await setups.begin(await setups.create("scim"))
    directory = await connected(setups)
    before = await setups.visitor.open(SETUP)
    await directory.request("GET", f"/Users/{setups.team.organization_id}")
    unfound = await setups.visitor.open(SETUP)

    await directory.request("POST", "/Users", {"schemas": [USER], "userName": "no address"})
    failing = await setups.visitor.open(SETUP)
    await directory.create()
    works = await setups.visitor.open(SETUP)
    await directory.request("POST", "/Users", {"schemas": [USER], "userName": "no address"})
    path = await newest(setups)
    await setups.visitor.submit(await setups.visitor.open(path), path)
    await connected(setups)
    renewed = await setups.visitor.open(SETUP)

    assert [("Failing since" in one.text) for one in (before, unfound, failing, works, renewed)] == [
        False,
        False,
        True,
        False,
        False,
    ]
    assert "Done. Last used on" in works.text
