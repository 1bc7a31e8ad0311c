"""A permission to manage or create a thing includes the view of it, in every check; records show what was chosen."""

from __future__ import annotations

import pytest

from core.organizations.access import Capability, implied_by
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

# By what was chosen: what it includes, and where that opens, in JSON and on pages.
INCLUDED = {
    "org.members.manage": ("org.members.view", "/members", "/people"),
    "services.manage": ("services.view", "/services", "/services"),
    "services.create": ("services.view", "/services", "/services"),
    "end_users.manage": ("end_users.view", "/users", "/people/end-users"),
}


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner, and a clerk whose role is given later."""
    team = world.team()
    team.add("ann", "owner")
    return team


@pytest.mark.parametrize("chosen", sorted(INCLUDED))
async def test_it_counts_for_a_role_in_json_on_pages_and_in_the_profile(
    acme: Team, visitor: Visitor, chosen: str
) -> None:
    included, path, page = INCLUDED[chosen]
    acme.custom_role("clerk", chosen)
    acme.add("cid", "clerk")

    assert (await acme.request("cid", "GET", path)).status == 200
    await visitor.sign_in("cid@example.com")
    assert (await visitor.open(f"/app/organizations/acme{page}")).status == 200
    token = (await acme.world.sign_in("cid@example.com", org_slug="acme")).access_token
    profile = await acme.world.client.get("/api/user", token=token)
    assert profile.json["permissions"] == sorted([chosen, included])
    role = await acme.request("ann", "GET", "/roles/clerk")
    assert role.json["permissions"] == [chosen]


@pytest.mark.parametrize("chosen", sorted(INCLUDED))
async def test_it_counts_for_a_key_of_the_organization(acme: Team, chosen: str) -> None:
    _, path, _ = INCLUDED[chosen]
    made = await acme.request("ann", "POST", "/keys", body={"name": "Key", "permissions": [chosen]})
    assert made.json["key"]["permissions"] == [chosen]

    listed = await acme.world.client.get(f"{acme.path}{path}", headers={"X-Api-Key": made.json["secret"]})

    assert listed.status == 200, listed.text


async def test_who_manages_members_may_give_a_role_that_views_them(acme: Team) -> None:
    acme.custom_role("chief", "org.members.manage", "org.roles.manage")
    acme.custom_role("viewer", "org.members.view")
    acme.add("dora", "chief")

    made = await acme.request("dora", "POST", "/roles", body=_role("again", "org.members.view"))
    invited = await acme.request("dora", "POST", "/invitations", body={"email": "x@example.org", "role": "viewer"})
    refused = await acme.request("dora", "POST", "/roles", body=_role("more", "services.view"))

    assert (made.status, invited.status) == (200, 200)
    assert_refused(refused, 403, "FORBIDDEN")


def _role(slug: str, *permissions: str) -> dict[str, object]:
    return {"slug": slug, "name": slug, "permissions": permissions}


def test_only_views_are_included() -> None:
    included = {one: implied_by([one]) - {one} for one in Capability}

    assert {one.value: [*map(str, more)] for one, more in included.items() if more} == {
        chosen: [view] for chosen, (view, *_) in INCLUDED.items()
    }
