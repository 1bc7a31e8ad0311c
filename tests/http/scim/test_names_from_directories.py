"""A name that Gatehouse made of an address is in answers of SCIM alone; a name that was sent is everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world.builder import EMAIL
from tests.world.directory import USER, Directory, insert_directory
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.world import World

NAMES = ("name", "given_name", "family_name")
CLAIMS = [
    {"claim": "called", "from": "user.name"},
    {"claim": "first", "from": "directory.name.given"},
    {"claim": "last", "from": "directory.name.family"},
]
# The name in SCIM's answers for a user without one.
MADE = {"formatted": "Ada Example", "givenName": "Ada", "familyName": "Example"}


class Provisioned:
    """Ada, a user of the directory of the service's organization, and the service that she uses."""

    def __init__(self, world: World, party: RelyingParty, team: Team) -> None:
        self.world, self.party, self.team = world, party, team
        self.directory: Directory = insert_directory(team)
        self.id = ""

    async def add(self, **values: Any) -> None:
        """Let the directory add her, and let her confirm it."""
        self.id = (await self.directory.create(EMAIL, **values))["id"]
        self.world.connection.execute("UPDATE memberships SET confirmed_at = now()")

    async def put(self, **values: Any) -> None:
        """Replace what the directory says."""
        body = {"schemas": [USER], "userName": EMAIL, **values}
        assert (await self.directory.request("PUT", f"/Users/{self.id}", body)).status == 200

    async def patch(self, **values: Any) -> None:
        """Change what the directory says."""
        operations = [
            {"op": "replace", "path": path.replace("_", "."), "value": value} for path, value in values.items()
        ]
        assert (await self.directory.patch(self.id, *operations)).status == 200

    async def scim_name(self) -> Any:
        """Return the name in the answer of SCIM."""
        return (await self.directory.show(self.id))["name"]

    async def told(self) -> dict[str, Any]:
        """Return her names as the service gets them, everywhere the same."""
        tokens = await self.party.tokens(scope="openid profile")
        info = (await self.world.client.get("/auth/userinfo", token=tokens["access_token"])).json
        claims = claims_of(tokens["id_token"])
        said = {name: claims[name] for name in NAMES if name in claims}
        assert said == {name: info[name] for name in NAMES if name in info}
        assert claims.get("called") == said.get("name")
        profile = await self.world.client.get("/api/user", token=tokens["access_token"])
        assert profile.json["name"] == said.get("name")
        members = (await self.team.request("owner", "GET", "/members?limit=100")).json["members"]
        assert [one["user"]["name"] for one in members if one["user"]["email"] == EMAIL] == [said.get("name")]
        if "name" not in said or self.own is None:
            assert (claims.get("first"), claims.get("last")) == (said.get("given_name"), said.get("family_name"))
        return said

    @property
    def own(self) -> str | None:
        """The name that she has set."""
        return self.world.value("SELECT name FROM users WHERE email = %s", EMAIL)


@pytest.fixture
async def ada(world: World) -> Provisioned:
    """Ada, who has an account without a name."""
    party = insert_relying_party(world)
    team = Team(world, party.organization_id, party.slug)
    team.add("owner", "owner")
    world.user()
    answer = await team.request("owner", "PATCH", f"/services/{party.service_slug}", body={"claims": CLAIMS})
    assert answer.status == 200, answer.text
    return Provisioned(world, party, team)


async def test_a_name_that_was_made_is_told_by_scim_alone(ada: Provisioned) -> None:
    await ada.add()

    assert await ada.told() == {}
    assert await ada.scim_name() == MADE
    # A change of something else, and a user who is read and sent back, send no name either.
    await ada.patch(externalId="a-1")
    assert await ada.told() == {}
    await ada.put(name=MADE, externalId="a-2")
    assert await ada.told() == {}
    assert await ada.scim_name() == MADE


async def test_a_whole_name_that_is_sent_back_alone_is_not_told(ada: Provisioned) -> None:
    await ada.add()

    await ada.put(name={"formatted": MADE["formatted"]})

    assert await ada.told() == {}
    assert await ada.scim_name() == MADE


async def test_what_is_told_later_is_said(ada: Provisioned) -> None:
    await ada.add()

    await ada.patch(name_familyName="Lovelace")
    # The other part is made still.
    assert await ada.told() == {"name": "Lovelace", "family_name": "Lovelace"}
    assert (await ada.scim_name())["givenName"] == "Ada"
    await ada.put()
    assert await ada.told() == {}
    # Also where a part is what was made before.
    await ada.put(name={"givenName": "Ada", "familyName": "Lovelace"})
    assert await ada.told() == {"name": "Ada Lovelace", "given_name": "Ada", "family_name": "Lovelace"}
    await ada.put()
    await ada.patch(name_givenName="Ada", name_familyName="King")
    assert await ada.told() == {"name": "Ada King", "given_name": "Ada", "family_name": "King"}


async def test_a_display_name_or_a_formatted_one_is_told_beside_parts_that_were_made(ada: Provisioned) -> None:
    await ada.add(displayName="Lady Ada")

    assert await ada.told() == {"name": "Lady Ada"}
    await ada.put(name={"formatted": "Countess of L."})
    assert await ada.told() == {"name": "Countess of L."}
    assert await ada.scim_name() == {"formatted": "Countess of L."}


async def test_who_has_a_name_of_their_own_has_no_parts_of_the_directorys(ada: Provisioned) -> None:
    await ada.add(name={"givenName": "Augusta", "familyName": "King"})
    assert await ada.told() == {"name": "Augusta King", "given_name": "Augusta", "family_name": "King"}

    ada.world.connection.execute("UPDATE users SET name = 'Ada' WHERE email = %s", (EMAIL,))

    assert await ada.told() == {"name": "Ada"}


async def test_a_member_whom_no_directory_has_described_is_patched_without_telling_a_name(ada: Provisioned) -> None:
    user_id = ada.world.user_id(EMAIL)
    ada.world.member(ada.team.organization_id, user_id)
    ada.id = str(user_id)
    assert await ada.scim_name() == MADE

    await ada.patch(externalId="a-1")

    assert await ada.told() == {}
    assert await ada.scim_name() == MADE
