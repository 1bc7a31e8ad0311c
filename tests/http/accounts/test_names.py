"""The name of an account: setting it, and which organizations and services see it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.accounts import user_import
from core.accounts.user_import import ImportedPerson
from tests.http.privacy.anonymizing import anonymize
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.directory import Directory, insert_directory
from tests.world.platform import Platform
from tests.world.relying_party import insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.world import World, assert_refused

ADA = "Ada Lovelace"
OTHER_PASSWORD = "another good password"


@pytest.fixture
def directory(team: Team) -> Directory:
    """The directory of an organization."""
    team.world.connection.execute("UPDATE organizations SET max_users = 100 WHERE id = %s", (team.organization_id,))
    return insert_directory(team)


async def profile(world: World, token: str) -> dict[str, Any]:
    """Return the profile of the caller."""
    return (await world.client.get("/api/user", token=token)).json


async def change(world: World, token: str, **fields: Any) -> dict[str, Any]:
    """Change the profile, and return the answer."""
    answer = await world.client.patch("/api/user", token=token, body=fields)
    assert answer.status == 200, answer.text
    return answer.json


def stored_name(world: World, email: str = EMAIL) -> str | None:
    return world.value("SELECT name FROM users WHERE email = %s", email)


def set_name(world: World, name: str, email: str = EMAIL) -> None:
    world.connection.execute("UPDATE users SET name = %s WHERE email = %s", (name, email))


async def open_link(world: World, token: str) -> None:
    """Open a link that verifies an address, as a program."""
    answer = await world.client.get(f"/auth/verify-email?token={token}", headers={"Accept": "application/json"})
    assert answer.status == 200


class TestRegistration:
    """Each registration keeps its name with its link."""

    async def test_the_name_of_a_registration_is_that_of_the_account(self, world: World) -> None:
        await world.register(name=f" {ADA} ")
        assert stored_name(world) is None

        await open_link(world, (await world.mail()).values["token"])

        assert (await profile(world, (await world.sign_in()).access_token))["name"] == ADA

    async def test_the_link_that_is_used_decides(self, world: World) -> None:
        await world.register(name="Mallory")
        await world.register(password=OTHER_PASSWORD, name=ADA)
        _, second = (mail.values["token"] for mail in await world.mails())

        await open_link(world, second)

        assert (await profile(world, (await world.sign_in(password=OTHER_PASSWORD)).access_token))["name"] == ADA

    async def test_a_registration_without_a_name_gives_none(self, world: World) -> None:
        await world.register(name="Mallory")
        await world.register(password=OTHER_PASSWORD)
        _, second = (mail.values["token"] for mail in await world.mails())

        await open_link(world, second)

        assert stored_name(world) is None

    async def test_the_name_of_an_unproved_account_goes_with_the_first_proof(self, world: World) -> None:
        world.user(is_verified=False)
        set_name(world, "Mallory")
        await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
        token = (await world.mail()).values["token"]

        body = {"token": token, "new_password": PASSWORD}
        assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200

        assert stored_name(world) is None

    async def test_all_invalid_fields_are_named(self, world: World) -> None:
        answer = await world.register("nonsense", "short", name="ada.example.com")

        assert_refused(answer, 400, "BAD_REQUEST")
        assert [detail["field"] for detail in answer.json["details"]] == ["email", "password", "name"]


class TestChange:
    """Only its user changes it."""

    async def test_it_is_changed_kept_and_removed(self, world: World, acme_shop: AcmeShop) -> None:
        tokens = await world.register_and_sign_in()
        world.member(acme_shop.organization_id, world.user_id(EMAIL))

        assert (await change(world, tokens.access_token, name=ADA))["name"] == ADA
        assert (await change(world, tokens.access_token, name=ADA))["name"] == ADA
        assert (await change(world, tokens.access_token))["name"] == ADA
        assert world.audit_entries("user.updated", "details") == [({"changed": ["name"]},)]
        assert (await change(world, tokens.access_token, email="new@example.com"))["name"] == ADA
        assert (await change(world, tokens.access_token, name=None))["name"] is None

        assert stored_name(world) is None
        assert len(world.events("user.updated")) == 2
        assert ADA not in str(world.events("user.updated"))

    async def test_both_fields_are_checked_before_either_is_changed(self, world: World) -> None:
        tokens = await world.register_and_sign_in()

        answer = await world.client.patch(
            "/api/user", token=tokens.access_token, body={"name": "a\nb", "email": "nonsense"}
        )
        assert [detail["field"] for detail in answer.json["details"]] == ["email", "name"]
        for fields in ({"name": ADA, "email": "nonsense"}, {"name": "", "email": "new@example.com"}, {"name": 1}):
            answer = await world.client.patch("/api/user", token=tokens.access_token, body=fields)
            assert_refused(answer, 400, "BAD_REQUEST")

        assert stored_name(world) is None
        assert (await profile(world, tokens.access_token))["email"] == EMAIL

    async def test_the_service_of_an_account_that_is_used_elsewhere_does_not_change_it(
        self, world: World, acme_shop: AcmeShop
    ) -> None:
        await world.register_and_verify()
        tokens = await world.sign_in(org_slug=acme_shop.org_slug, service_slug=acme_shop.service_slug)
        world.member(world.organization("bolt"), world.user_id(EMAIL))

        answer = await world.client.patch("/api/user", token=tokens.access_token, body={"name": "Mallory"})

        assert_refused(answer, 403, "FORBIDDEN")
        assert stored_name(world) is None


class TestWhoSeesIt:
    """An organization sees the name of a person who has confirmed what it gave, and what its own directory says."""

    async def test_the_members_list_shows_it_once_the_membership_is_confirmed(self, directory: Directory) -> None:
        world, team = directory.world, directory.team
        user_id = world.user()
        set_name(world, ADA)
        bolt = world.team("bolt")
        bolt.add("boss", "owner")
        world.member(bolt.organization_id, user_id, is_confirmed=False)
        await directory.create(EMAIL, displayName="Lovelace, A.")

        assert await member_name(team, "owner", user_id) == "Lovelace, A."
        assert await member_name(bolt, "boss", user_id) is None
        world.connection.execute("UPDATE memberships SET confirmed_at = now() WHERE user_id = %s", (user_id,))

        assert await member_name(team, "owner", user_id) == ADA
        assert await member_name(bolt, "boss", user_id) == ADA
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (user_id,))
        assert await member_name(bolt, "boss", user_id) is None

    async def test_the_lists_of_end_users_show_it_once_the_person_has_signed_in(self, world: World) -> None:
        team = world.team()
        team.add("owner", "owner")
        service_id, _ = world.service(team.organization_id)
        user_id = world.user()
        set_name(world, ADA)
        world.link(team.organization_id, service_id, user_id)

        assert await end_user_names(team, user_id) == (None, None, None)
        await world.sign_in(org_slug="acme", service_slug="shop")

        assert await end_user_names(team, user_id) == (ADA, ADA, ADA)

    async def test_the_profile_in_an_organization_falls_back_to_its_directory(self, directory: Directory) -> None:
        world = directory.world
        await directory.create("ada@example.com", displayName="Lovelace, A.")
        world.connection.execute(
            "UPDATE users SET email_verified_at = now(), password_hash = %s WHERE email = %s",
            (world.value("SELECT password_hash FROM users WHERE email = %s", "owner@example.com"), EMAIL),
        )

        outside = (await world.sign_in()).access_token
        inside = (await world.sign_in(org_slug="acme")).access_token
        assert (await profile(world, outside))["name"] is None
        assert (await profile(world, inside))["name"] == "Lovelace, A."
        await change(world, inside, name=ADA)

        assert (await profile(world, inside))["name"] == ADA

    async def test_platform_owners_find_it(self, world: World, platform: Platform) -> None:
        user_id = world.user()
        set_name(world, ADA)

        found = await platform.request("GET", f"/api/platform/users/search?user_id={user_id}")

        assert found.json["users"][0]["name"] == ADA


class TestClaims:
    """The scope `profile`, and the directory of the service's own organization."""

    async def test_the_scope_profile_opens_the_names(self, world: World) -> None:
        shop = insert_relying_party(world)
        user_id = world.user()
        world.member(shop.organization_id, user_id)
        other = world.organization("bolt")
        world.member(other, user_id)
        describe(world, shop.organization_id, user_id, "Ada", "Lovelace")
        describe(world, other, user_id, "Countess", "King")

        bare = await shop.tokens(scope="openid email")
        tokens = await shop.tokens(scope="openid profile")

        assert "name" not in (await userinfo(world, bare)) | claims_of(bare["id_token"])
        expected = {"name": "Ada Lovelace", "given_name": "Ada", "family_name": "Lovelace"}
        assert expected.items() <= (await userinfo(world, tokens)).items()
        assert expected.items() <= claims_of(tokens["id_token"]).items()

        set_name(world, "Ada, Countess")
        refreshed = (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).json
        assert claims_of(refreshed["id_token"])["name"] == "Ada, Countess"
        narrowed = await shop.token("refresh_token", refresh_token=refreshed["refresh_token"], scope="openid")
        assert "name" not in claims_of(narrowed.json["id_token"])

    async def test_an_account_without_a_name_has_no_claims_of_it(self, world: World) -> None:
        shop = insert_relying_party(world)
        world.user()

        tokens = await shop.tokens(scope="openid profile")

        assert set(await userinfo(world, tokens)) == {"sub", "preferred_username"}
        assert not {"name", "given_name", "family_name"} & claims_of(tokens["id_token"]).keys()

    async def test_discovery_names_the_claims(self, world: World) -> None:
        answer = await world.client.get("/.well-known/openid-configuration")

        assert {"name", "given_name", "family_name"} <= set(answer.json["claims_supported"])


class TestRights:
    """Exports, forgetting, and imports."""

    async def test_the_export_of_a_person_has_it_and_that_of_an_owner_does_not(self, world: World) -> None:
        team = world.team()
        team.add("owner", "owner")
        user_id = world.user()
        set_name(world, ADA)
        world.member(team.organization_id, user_id)
        path = f"/api/privacy/export/{user_id}"

        own = await world.client.get(path, token=(await world.sign_in()).access_token)
        owners = await world.client.get(path, token=await team.token("owner"))

        assert (own.json["name"], owners.json["name"]) == (ADA, None)

    async def test_it_is_forgotten_with_the_account(self, world: World, platform: Platform) -> None:
        user_id = world.user()
        set_name(world, ADA)

        assert (await anonymize(platform, user_id)).status == 200

        assert world.value("SELECT name FROM users WHERE id = %s", user_id) is None

    @pytest.mark.parametrize("is_verified", [True, False])
    async def test_an_imported_account_has_the_name_of_its_line(self, world: World, is_verified: bool) -> None:
        password_hash = world.value("SELECT password_hash FROM users WHERE id = %s", world.user("x@example.com"))
        person = ImportedPerson(
            email=EMAIL, password_hash=password_hash, is_verified=is_verified, created_at=world.clock(), name=ADA
        )
        await world.installation.database.transact(user_import.store, [person])

        await world.client.post("/api/auth/resend-verification", body={"email": EMAIL})
        for mail in await world.mails():
            await open_link(world, mail.values["token"])

        assert (await profile(world, (await world.sign_in()).access_token))["name"] == ADA


async def member_name(team: Any, asker: str, user_id: UUID) -> str | None:
    """Return the name of a member in the list of their organization."""
    answer = await team.request(asker, "GET", "/members?limit=100")
    assert answer.status == 200, answer.text
    [name] = [one["user"]["name"] for one in answer.json["members"] if one["user"]["id"] == str(user_id)]
    return name


async def end_user_names(team: Any, user_id: UUID) -> tuple[str | None, str | None, str | None]:
    """Return the name of an end user in the list of all, in a list that is searched, and in detail."""
    listed = await team.request("owner", "GET", "/users")
    searched = await team.request("owner", "GET", "/users?search=ada")
    shown = await team.request("owner", "GET", f"/users/{user_id}")
    return listed.json["users"][0]["name"], searched.json["users"][0]["name"], shown.json["name"]


async def userinfo(world: World, tokens: dict[str, Any]) -> dict[str, Any]:
    return (await world.client.get("/auth/userinfo", token=tokens["access_token"])).json


def describe(world: World, organization_id: UUID, user_id: UUID, given_name: str, family_name: str) -> None:
    """Insert what the directory of an organization says of a member."""
    world.connection.execute(
        """
        INSERT INTO scim_profiles (organization_id, user_id, user_name, given_name, family_name, updated_at)
        VALUES (%s, %s, %s, %s, %s, now())
        """,
        (organization_id, user_id, EMAIL, given_name, family_name),
    )
