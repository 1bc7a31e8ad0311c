"""Setting up provisioning with a setup link (decisions 13.7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from core.scim.setup import FAILURES_MAX
from core.scim.tokens import TOKENS_MAX
from tests.secret_watch import WATCH
from tests.world.directory import USER, Directory

if TYPE_CHECKING:
    from tests.world.setups import Setups

SCIM = "/app/setup/parts/scim"


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
    assert 'value="http://localhost:8000/scim/v2?aadOptscim062020" readonly' in steps.text
    assert "Okta" not in steps.text
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
    page = await setups.visitor.submit(await setups.open("scim"), SCIM)
    [token] = re.findall(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", page.text)
    WATCH.add(token)
    directory = Directory(setups.team, token)
    for number in range(FAILURES_MAX + 1):
        await directory.request("POST", "/Users", {"schemas": [USER], "userName": f"no address {number}"})

    shown = (await setups.open("scim")).text

    assert "no address 0" not in shown
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
    page = await setups.visitor.submit(await setups.open("scim"), SCIM)
    [token] = re.findall(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", page.text)
    WATCH.add(token)
    directory = Directory(team, token)
    off = {"op": "replace", "path": "active", "value": False}

    statuses = [(await directory.patch(str(team.ids[name]), off)).status for name in ("admin", "member")]

    assert statuses == [403, 200]


async def test_a_revoked_link_makes_no_token(setups: Setups) -> None:
    link = await setups.create("scim")
    await setups.begin(link)
    page = await setups.open("scim")
    await setups.request("DELETE", f"/{link['id']}")

    assert (await setups.visitor.submit(page, SCIM)).status == 404
    assert setups.team.world.value("SELECT count(*) FROM scim_tokens") == 0
