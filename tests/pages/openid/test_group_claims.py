"""The groups of its users that a service gets: in tokens, at userinfo and by introspection."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from core.sessions import places
from tests.world.authorization import sign_in
from tests.world.directory import TOKEN, Directory, insert_scim_token
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

ADA = "ada@example.com"


class Shop:
    """A service with a directory behind its organization, and Ada, who is a member."""

    def __init__(self, world: World, party: RelyingParty, team: Team) -> None:
        self.world, self.party, self.team = world, party, team
        insert_scim_token(world, team.organization_id, TOKEN, groups="directory")
        self.directory = Directory(team)

    async def name(self, *groups: str) -> Any:
        """Set what the service learns of."""
        return await self.team.request(
            "owner", "PATCH", f"/services/{self.party.service_slug}", body={"group_claims": list(groups)}
        )

    async def tokens(self, visitor: Visitor) -> Any:
        """Sign Ada in at the service, and return its tokens."""
        visitor.cookies.clear()
        code = (await sign_in(visitor, self.party, email=ADA, scope="openid"))["code"]
        answer = await self.party.redeem(code)
        assert answer.status == 200, answer.text
        return answer.json


@pytest.fixture
def shop(world: World) -> Shop:
    """The service, whose organization has an owner."""
    party = insert_relying_party(world)
    team = Team(world, party.organization_id, party.slug)
    team.add("owner", "owner")
    team.add("ada", "member")
    return Shop(world, party, team)


async def test_a_service_learns_of_the_groups_that_it_names(shop: Shop, visitor: Visitor) -> None:
    sales = await shop.directory.create_group("sales", "ada")
    audit = await shop.directory.create_group("Audit", "ada")
    await shop.directory.create_group("Others", "owner")

    assert "groups" not in claims_of((await shop.tokens(visitor))["access_token"])
    assert (await shop.name(sales)).json["group_claims"] == [sales]
    named = await shop.tokens(visitor)
    await shop.name("all")
    everything = await shop.tokens(visitor)

    only = [{"id": sales, "name": "sales"}]
    assert claims_of(named["access_token"])["groups"] == claims_of(named["id_token"])["groups"] == only
    userinfo = await shop.world.client.get("/auth/userinfo", token=named["access_token"])
    assert userinfo.json["groups"] == [{"id": audit, "name": "Audit"}, *only]
    assert claims_of(everything["access_token"])["groups"] == [{"id": audit, "name": "Audit"}, *only]


async def test_the_form_of_groups_is_that_of_the_record(shop: Shop, visitor: Visitor) -> None:
    sales = await shop.directory.create_group("Sales", "ada")
    await shop.name("all")
    path = f"/services/{shop.party.service_slug}"
    # One that was made before there was a choice.
    assert (await shop.team.request("owner", "GET", path)).json["groups_as"] == "objects"

    for form, told in (("names", ["Sales"]), ("ids", [sales]), ("objects", [{"id": sales, "name": "Sales"}])):
        assert (await shop.team.request("owner", "PATCH", path, body={"groups_as": form})).json["groups_as"] == form
        tokens = await shop.tokens(visitor)
        userinfo = await shop.world.client.get("/auth/userinfo", token=tokens["access_token"])
        introspected = [
            (await shop.party.post("/auth/introspect", {"token": tokens[name]})).json["groups"]
            for name in ("access_token", "refresh_token")
        ]

        assert claims_of(tokens["access_token"])["groups"] == claims_of(tokens["id_token"])["groups"] == told
        assert [userinfo.json["groups"], *introspected] == [told] * 3
    refused = await shop.team.request("owner", "PATCH", path, body={"groups_as": "emails"})
    assert_refused(refused, 400, "BAD_REQUEST")
    # Introspection tells them as the record says now, whatever the token says.
    await shop.team.request("owner", "PATCH", path, body={"groups_as": "names"})
    assert (await shop.party.post("/auth/introspect", {"token": tokens["access_token"]})).json["groups"] == ["Sales"]


async def test_a_service_that_is_made_now_has_names(shop: Shop) -> None:
    made = {
        "slug": "other",
        "name": "Other",
        "service_type": "web",
        "redirect_uris": ["https://other.acme.example/callback"],
        "group_claims": ["all"],
    }

    by_default = await shop.team.request("owner", "POST", "/services", body=made)
    chosen = await shop.team.request("owner", "POST", "/services", body=made | {"slug": "third", "groups_as": "ids"})

    assert [answer.json["service"]["groups_as"] for answer in (by_default, chosen)] == ["names", "ids"]


async def test_a_refresh_has_the_groups_of_that_moment(shop: Shop, visitor: Visitor) -> None:
    sales = await shop.directory.create_group("Sales")
    await shop.name("all")
    tokens = await shop.tokens(visitor)
    assert claims_of(tokens["access_token"])["groups"] == []

    await shop.directory.put_in(sales, "ada")
    refreshed = (await shop.party.token("refresh_token", refresh_token=tokens["refresh_token"])).json

    assert claims_of(refreshed["access_token"])["groups"] == [{"id": sales, "name": "Sales"}]


async def test_introspection_tells_the_role_and_the_groups_as_they_are_now(shop: Shop, visitor: Visitor) -> None:
    team = shop.team
    sales = await shop.directory.create_group("Sales", "ada")
    support = await shop.directory.create_group("Support")
    await shop.name("all")
    team.world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (team.ids["ada"],))
    tokens = await shop.tokens(visitor)

    async def told() -> list[dict[str, Any]]:
        """Return what introspection answers for the access token and for the refresh token."""
        answers = [
            (await shop.party.post("/auth/introspect", {"token": tokens[name]})).json
            for name in ("access_token", "refresh_token")
        ]
        return [{name: answer.get(name) for name in ("active", "role", "groups")} for answer in answers]

    before = await told()
    await team.request("owner", "PATCH", f"/members/{team.ids['ada']}", body={"role": "member"})
    await shop.directory.take_out(sales, "ada")
    await shop.directory.put_in(support, "ada")

    claims = claims_of(tokens["access_token"])
    assert (claims["role"], claims["groups"]) == ("admin", [{"id": sales, "name": "Sales"}])
    assert before == [{"active": True, "role": "admin", "groups": claims["groups"]}] * 2
    assert await told() == [{"active": True, "role": "member", "groups": [{"id": support, "name": "Support"}]}] * 2
    # A service without group claims gets no groups, whatever the token says.
    await shop.name()
    assert [one["groups"] for one in await told()] == [None, None]


async def test_more_than_a_token_names_are_left_out(
    shop: Shop, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "GROUPS_NAMED_MAX", 1)
    for name in ("A", "B"):
        await shop.directory.create_group(name, "ada")
    await shop.name("all")

    claims = claims_of((await shop.tokens(visitor))["id_token"])

    assert (claims.get("groups"), claims["groups_overage"]) == (None, True)


async def test_a_deleted_group_is_named_no_more_and_another_one_inherits_nothing(shop: Shop, visitor: Visitor) -> None:
    sales = await shop.directory.create_group("Sales", "ada")
    kept = await shop.directory.create_group("Kept", "ada")
    await shop.name(sales, kept)

    await shop.directory.request("DELETE", f"/Groups/{sales}")
    await shop.directory.create_group("Sales", "ada")

    shown = await shop.team.request("owner", "GET", f"/services/{shop.party.service_slug}")
    assert shown.json["group_claims"] == [kept]
    assert claims_of((await shop.tokens(visitor))["access_token"])["groups"] == [{"id": kept, "name": "Kept"}]


async def test_what_is_no_group_of_the_organization_is_refused(
    shop: Shop, world: World, subtests: pytest.Subtests
) -> None:
    other = world.team("evil")
    insert_scim_token(world, other.organization_id, f"scim_live_xyz789_{'u' * 43}", groups="directory")
    theirs = await Directory(other, f"scim_live_xyz789_{'u' * 43}").create_group("Sales")
    own = await shop.directory.create_group("Sales")
    for title, groups in (
        ("an unknown one", [str(uuid4())]),
        ("a name", ["Sales"]),
        ("one of another organization", [own, theirs]),
        ("all and another", ["all", own]),
        ("too many", [str(uuid4()) for _ in range(101)]),
    ):
        with subtests.test(title):
            refused = await shop.name(*groups)
            assert_refused(refused, 400, "BAD_REQUEST")
            assert [detail["field"] for detail in refused.json["details"]] == ["group_claims"]


async def test_a_user_who_is_no_member_is_in_no_group(shop: Shop) -> None:
    await shop.directory.create_group("Sales", "ada")
    await shop.name("all")
    eva = shop.team.user("eva")
    shop.world.link(shop.team.organization_id, shop.party.service_id, eva)

    answer = await shop.world.log_in("eva@example.com", org_slug=shop.team.slug, service_slug=shop.party.service_slug)

    assert answer.status == 200, answer.text
    assert claims_of(answer.json["access_token"])["groups"] == []
