"""The pages of provisioning: tokens of the directory, shown once and revoked, and the log of its calls."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.scim.tokens import TOKENS_MAX
from entrypoints.pages.console.frame import ROWS_SHOWN
from tests.application import Answer
from tests.pages.copied import copied
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of

PAGE = "/app/organizations/acme/provisioning"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def owner(team: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("owner@example.com")
    return visitor


def token_of(page: Answer) -> str:
    """Return the token that a page shows."""
    return copied(page, "token")


async def call(team: Team, token: str, method: str, path: str, body: object = None) -> int:
    """Call as the directory does; return the status of the answer."""
    return (await team.world.client.request(method, f"/scim/v2{path}", token=token, body=body)).status


async def test_a_token_is_shown_once_and_revoked_on_a_page_of_its_own(team: Team, owner: Visitor) -> None:
    page = await owner.open(f"{PAGE}?provider=okta")

    made = await owner.submit(page, PAGE, name=HOSTILE, days="90")
    token = token_of(made)
    again = await owner.open(PAGE)

    assert "Okta Admin Console" in made.text
    assert token not in again.text
    assert HOSTILE not in again.text
    assert await call(team, token, "GET", "/Users") == 200
    [stored] = (await team.request("owner", "GET", "/scim-tokens")).json["tokens"]
    assert stored["expires_at"] == "2026-05-04T04:05:06Z"
    asked = await owner.open(f"{PAGE}/{stored['id']}/revoke")
    assert "No other token is valid" in asked.text
    revoked = await owner.submit(asked, f"{PAGE}/{stored['id']}/revoke")
    assert "The token is revoked." in revoked.text
    assert (await owner.submit(asked, f"{PAGE}/{stored['id']}/revoke")).status == 404


async def test_a_refused_token_keeps_what_was_typed(team: Team, owner: Visitor) -> None:
    page = await owner.open(PAGE)

    nameless = await owner.submit(page, PAGE, name=" ")
    odd = await owner.submit(page, PAGE, name="Okta", days="10000")
    for number in range(TOKENS_MAX):
        await team.request("owner", "POST", "/scim-tokens", body={"name": f"token {number}"})
    many = await owner.submit(page, PAGE, name="Okta")

    assert (nameless.status, odd.status, many.status) == (400, 400, 400)
    assert 'value="Okta"' in odd.text
    assert "at most 20 SCIM tokens" in many.text


async def test_calls_are_found_by_result_and_time(team: Team, owner: Visitor) -> None:
    token = (await team.request("owner", "POST", "/scim-tokens", body={"name": HOSTILE})).json["token"]
    user = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "new@example.com"}
    assert await call(team, token, "POST", "/Users", user) == 201
    assert await call(team, token, "POST", "/Users", user) == 409
    calls = f"{PAGE}/calls"

    everything = await owner.open(calls)
    failed = await owner.open(f"{calls}?state=failed")
    before = await owner.open(f"{calls}?until=2020-01-01")
    odd = await owner.open(f"{calls}?since=yesterday&state=failed")
    file = await owner.open(f"{calls}/calls.csv?state=failed")

    assert "2 found" in everything.text
    assert HOSTILE not in everything.text
    assert "One found" in failed.text
    assert "0 found" in before.text
    assert odd.status == 400
    assert 'value="yesterday"' in odd.text
    assert file.text.splitlines()[1].split(",")[2:6] == ["POST", "/scim/v2/Users", "new@example.com", "409"]


async def test_the_list_of_calls_goes_on_after_its_last_row(team: Team, owner: Visitor) -> None:
    token = (await team.request("owner", "POST", "/scim-tokens", body={"name": "Okta"})).json["token"]
    names = [f"u{number:02}@example.com" for number in range(ROWS_SHOWN + 2)]
    for name in names:
        user = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": name}
        assert await call(team, token, "POST", "/Users", user) == 201

    first = await owner.open(f"{PAGE}/calls?state=")
    [next_page] = re.findall(r'href="([^"]+after=[^"]+)">Next', first.text)
    second = await owner.open(unescape(next_page))

    assert f"{len(names)} found" in first.text
    shown = [re.findall(r"u\d\d@example\.com", page.text) for page in (first, second)]
    assert shown == [names[:1:-1], names[1::-1]]
    assert ">Next" not in second.text


async def test_who_may_not_change_members_makes_no_token(team: Team, visitor: Visitor) -> None:
    team.custom_role("integrator", "integrations.manage")
    team.add("eve", "integrator")
    await visitor.sign_in("eve@example.com")

    page = await visitor.open(PAGE)

    assert "org.members.manage" in page.text
    assert [form.action for form in forms_of(page) if form.action == PAGE] == []
