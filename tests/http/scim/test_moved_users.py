"""A directory changes an address to which another organization has given something: only its own part moves."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.builder import PASSWORD
from tests.world.directory import Directory, assert_scim_refused, insert_directory
from tests.world.second_factors import Person
from tests.world.signing_in import Tokens, claims_of
from tests.world.world import World, assert_refused

ADA = "ada@acme.example"
NEW = "ada.l@acme.example"
OUTSIDE = "ada@elsewhere.example"
OFF = {"op": "replace", "path": "active", "value": False}
GLOBEX = f"scim_live_globex_{'g' * 43}"


@pytest.fixture
def other(directory: Directory) -> Directory:
    """The directory of another organization."""
    return insert_directory(directory.world.team("globex"), GLOBEX)


@pytest.fixture
def own_domain(directory: Directory) -> Directory:
    """The directory of an organization whose mail domain is acme.example."""
    directory.world.mail_domain(directory.organization_id, "acme.example")
    return directory


def rename(user_name: str) -> dict[str, Any]:
    return {"op": "replace", "path": "userName", "value": user_name}


async def renamed(directory: Directory, user: dict[str, Any], user_name: str = NEW) -> dict[str, Any]:
    answer = await directory.patch(user["id"], rename(user_name))
    assert answer.status == 200, answer.text
    return answer.json


async def proved(directory: Directory, email: str = ADA) -> Tokens:
    """Prove an address, choose a password, and sign in."""
    world = directory.world
    await world.client.post("/api/auth/forgot-password", body={"email": email})
    token = [mail.values["token"] for mail in await world.mails() if mail.to == email and "token" in mail.values][-1]
    body = {"token": token, "new_password": PASSWORD}
    assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200
    return await world.sign_in(email)


def account(world: World, email: str) -> str:
    return str(world.user_id(email))


def told(directory: Directory) -> tuple[Any, ...]:
    """Return how many events and audit entries an organization has."""
    return directory.world.rows(
        """
        SELECT (SELECT count(*) FROM events WHERE organization_id = %s),
               (SELECT count(*) FROM audit_entries WHERE organization_id = %s)
        """,
        directory.organization_id,
        directory.organization_id,
    )[0]


class TestWhatIsWhere:
    async def test_the_other_organization_keeps_its_user_and_is_told_nothing(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA, externalId="1", displayName="Ada")
        theirs = await other.create(ADA, externalId="g")
        before = told(other)

        changed = await renamed(directory, user)

        assert await other.show(theirs["id"]) == theirs
        assert told(other) == before
        assert (changed["userName"], changed["externalId"], changed["displayName"]) == (NEW, "1", "Ada")
        assert await other.found(f'userName eq "{ADA}"') == [ADA]
        assert await directory.found(f'userName eq "{ADA}"') == []
        # What other organizations give to the two addresses goes to different accounts.
        assert account(directory.world, ADA) == theirs["id"] != account(directory.world, NEW)

    async def test_the_organization_knows_the_user_by_the_same_id_and_by_that_of_the_account(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)

        changed = await renamed(directory, user)

        own = account(directory.world, NEW)
        assert changed["id"] == user["id"] != own
        assert changed["meta"]["location"].endswith(user["id"])
        for one in (user["id"], own):
            assert await directory.show(one) == changed
            assert await directory.found(f'id eq "{one}"') == [NEW]
            assert NEW not in await directory.found(f'id ne "{one}"')
            assert (await directory.filtered(f'members eq "{one}"', "Groups")).json["totalResults"] == 1
        assert await directory.found(f'id sw "{user["id"][:30]}"') == [NEW]
        listed = (await directory.request("GET", "/Users")).json["Resources"]
        assert user["id"] in [one["id"] for one in listed]
        assert own not in [one["id"] for one in listed]
        assert user["id"] in await group(directory)
        assert own not in await group(directory)

    async def test_every_operation_on_members_takes_both_ids(self, directory: Directory, other: Directory) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)
        await renamed(directory, user)
        own = account(directory.world, NEW)
        present = await group(directory)

        for one in (user["id"], own):
            kept = [one if member == user["id"] else member for member in present]
            assert (await directory.put_group(*kept)).status == 200
            assert await group(directory) == present
            added = {"op": "add", "path": "members", "value": [{"value": one}]}
            assert (await directory.patch_group(added)).status == 200
            assert await group(directory) == present
            assert (await directory.patch(one, {"op": "replace", "path": "displayName", "value": one})).status == 200
            assert (await directory.show(user["id"]))["displayName"] == one
        removal = {"op": "remove", "path": f'members[value eq "{user["id"]}"]'}
        assert (await directory.patch_group(removal)).status == 200
        assert user["id"] not in await group(directory)

    async def test_services_links_grants_and_subscriptions_of_the_organization_move(
        self, directory: Directory, other: Directory
    ) -> None:
        world = directory.world
        user = await directory.create(ADA)
        await other.create(ADA)
        ids: dict[str, Any] = {}
        for one in (directory, other):
            service = world.service(one.organization_id, "shop")
            plan = world.plan(one.organization_id, service.id, "Pro")
            world.link(one.organization_id, service.id, UUID(user["id"]))
            world.subscription(plan, UUID(user["id"]))
            world.grant(one.organization_id, service.id, UUID(user["id"]), "viewer")
            ids[str(one.organization_id)] = service.id
        world.connection.execute("UPDATE service_users SET last_login_at = NULL")

        await renamed(directory, user)

        for table in ("memberships", "scim_profiles", "service_users", "subscriptions", "service_grants"):
            rows = world.rows(
                f"SELECT organization_id, user_id FROM {table} WHERE user_id = ANY (%s)",
                [UUID(user["id"]), world.user_id(NEW)],
            )
            assert sorted(rows) == sorted(
                [(directory.organization_id, world.user_id(NEW)), (other.organization_id, UUID(user["id"]))]
            ), table

    async def test_a_second_change_keeps_the_id(self, directory: Directory, other: Directory) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)
        await renamed(directory, user)
        await other.create(NEW)

        changed = await renamed(directory, user, OUTSIDE)

        assert (changed["id"], changed["userName"]) == (user["id"], OUTSIDE)
        assert sorted(await other.found('userName co "ada"')) == sorted([ADA, NEW])
        assert directory.world.value("SELECT count(*) FROM known_account_ids") == 1

    async def test_the_change_is_recorded_for_the_account_with_the_one_before(
        self, directory: Directory, other: Directory
    ) -> None:
        world = directory.world
        user = await directory.create(ADA)
        await other.create(ADA)

        await renamed(directory, user)

        [(target_id, details)] = world.audit_entries("user.updated", "target_id", "details")
        assert (target_id, details["previous_user_id"]) == (account(world, NEW), user["id"])
        [(organization_id, _, data)] = world.events("user.updated")
        assert (organization_id, data["user_id"]) == (directory.organization_id, account(world, NEW))
        assert data["previous_user_id"] == user["id"]

    async def test_what_nobody_else_has_given_something_to_stays_one_account(self, directory: Directory) -> None:
        user = await directory.create(ADA)

        await renamed(directory, user)

        assert account(directory.world, NEW) == user["id"]
        assert not directory.world.has_user(ADA)


async def group(directory: Directory) -> list[str]:
    answer = await directory.request("GET", f"/Groups/{directory.organization_id}")
    return [member["value"] for member in answer.json["members"]]


class TestIds:
    """An id means one user to an organization, for ever."""

    async def test_the_old_address_is_provisioned_again_with_an_id_of_its_own(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        theirs = await other.create(ADA)
        await renamed(directory, user)

        again = await directory.create(ADA)

        assert again["id"] not in {user["id"], account(directory.world, NEW)}
        assert (await directory.show(again["id"]))["userName"] == ADA
        assert (await directory.show(user["id"]))["userName"] == NEW
        assert await other.show(theirs["id"]) == theirs
        assert (await directory.request("DELETE", f"/Users/{again['id']}")).status == 204
        assert (await directory.show(user["id"]))["userName"] == NEW

    async def test_an_id_that_has_ended_is_not_shown_for_another_user(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)
        await renamed(directory, user)
        assert (await directory.request("DELETE", f"/Users/{user['id']}")).status == 204
        assert_scim_refused(await directory.request("GET", f"/Users/{user['id']}"), 404)

        again = await directory.create(ADA)

        assert again["id"] != user["id"]
        assert directory.world.rows("SELECT user_id FROM known_account_ids ORDER BY user_id NULLS LAST") == [
            (UUID(theirs_id(directory.world, ADA)),),
            (None,),
        ]

    async def test_a_link_to_a_service_alone_keeps_the_id(self, directory: Directory, other: Directory) -> None:
        world = directory.world
        user = await directory.create(ADA)
        await other.create(ADA)
        service = world.service(directory.organization_id, "shop")
        world.connection.execute(
            """
            INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, origin)
            VALUES (%s, %s, %s, now(), 'key')
            """,
            (service.id, directory.organization_id, user["id"]),
        )
        await renamed(directory, user)

        assert (await directory.patch_group({"op": "remove", "path": "members"})).status in {200, 403}
        world.connection.execute(
            "DELETE FROM memberships WHERE organization_id = %s AND user_id = %s",
            (directory.organization_id, world.user_id(NEW)),
        )
        kept = world.rows("SELECT known_id, user_id FROM known_account_ids")
        world.connection.execute("DELETE FROM service_users")

        assert kept == [(UUID(user["id"]), world.user_id(NEW))]
        assert world.rows("SELECT user_id FROM known_account_ids") == [(None,)]


def theirs_id(world: World, email: str) -> str:
    return str(world.user_id(email))


class TestWhoIsMoved:
    async def test_within_the_mail_domain_proof_password_factor_and_sessions_go_along(
        self, own_domain: Directory, other: Directory
    ) -> None:
        world = own_domain.world
        user = await own_domain.create(ADA)
        tokens = await proved(own_domain)
        app = Person(world, UUID(user["id"]), ADA, token=tokens.access_token)
        await app.turn_mfa_on()
        await other.create(ADA)
        await world.mails()

        await renamed(own_domain, user)

        profile = (await world.client.get("/api/user", token=tokens.access_token)).json
        assert (profile["id"], profile["email"], profile["email_verified"]) == (account(world, NEW), NEW, True)
        refreshed = await world.refresh(tokens.refresh_token)
        assert refreshed.status == 200
        assert claims_of(refreshed.json["access_token"])["sub"] == account(world, NEW)
        assert_refused(await world.log_in(ADA), 401, "UNAUTHORIZED")
        app.email = NEW
        app.next_step()
        assert (await app.verify(await app.preauth_token(), app.code())).status == 200
        mails = [mail.to for mail in await world.mails() if mail.template == "email_changed_by_organization"]
        assert sorted(mails) == sorted([ADA, NEW])

    async def test_what_stays_is_as_if_it_had_never_been_used(self, own_domain: Directory, other: Directory) -> None:
        world = own_domain.world
        user = await own_domain.create(ADA)
        tokens = await proved(own_domain)
        await world.client.patch("/api/user", token=tokens.access_token, body={"name": "Ada"})
        theirs = await other.create(ADA)

        await renamed(own_domain, user)

        assert world.rows(
            """
            SELECT email_verified_at, password_hash, mfa_enabled_at, name, created_by_organization_id, deactivated_at
            FROM   users
            WHERE  email = %s
            """,
            ADA,
        ) == [(None,) * 6]
        for table in ("sessions", "devices", "login_events", "mfa_events", "identities", "totp_secrets"):
            assert world.rows(f"SELECT FROM {table} WHERE user_id = %s", UUID(theirs["id"])) == [], table
        # The next employee proves the address, and has what the other organization gave.
        tokens = await proved(own_domain)
        assert tokens.claims["sub"] == theirs["id"]
        selected = await world.client.post("/api/organizations/globex/select", token=tokens.access_token)
        assert selected.status == 200
        refused = await world.client.post("/api/organizations/acme/select", token=tokens.access_token)
        assert_refused(refused, 403, "FORBIDDEN")

    async def test_out_of_the_mail_domain_they_stay_with_the_old_address(
        self, own_domain: Directory, other: Directory
    ) -> None:
        world = own_domain.world
        user = await own_domain.create(ADA)
        tokens = await proved(own_domain)
        in_context = await world.sign_in(ADA, org_slug="acme")
        await other.create(ADA)

        await renamed(own_domain, user, OUTSIDE)

        assert [(await world.list_sessions(one)).status for one in (tokens, in_context)] == [200, 401]
        assert (await world.log_in(ADA)).status == 200
        assert_refused(await world.log_in(ADA, org_slug="acme"), 403, "FORBIDDEN")
        assert_refused(await world.log_in(OUTSIDE), 401, "UNAUTHORIZED")
        assert world.rows("SELECT email_verified_at, password_hash FROM users WHERE email = %s", OUTSIDE) == [
            (None, None)
        ]
        query = "SELECT confirmed_at FROM memberships WHERE organization_id = %s AND user_id = %s"
        assert world.value(query, own_domain.organization_id, world.user_id(OUTSIDE)) is None

    async def test_what_the_member_made_ends_or_goes_along(self, own_domain: Directory, other: Directory) -> None:
        world = own_domain.world
        for number, (address, keys) in enumerate([(NEW, 1), (OUTSIDE, 0)]):
            email = f"maker{number}@acme.example"
            user = await own_domain.create(email)
            await other.create(email)
            world.connection.execute(
                """
                INSERT INTO organization_keys (id, organization_id, name, prefix, key_hash, permissions,
                                               has_second_factor, created_by,
                                               created_at)
                VALUES (gen_random_uuid(), %s, 'key', %s, %s, '{services.view}', false, %s, now())
                """,
                (own_domain.organization_id, f"gk_{number}", bytes([number]) * 32, user["id"]),
            )

            await renamed(own_domain, user, address)

            assert world.rows("SELECT created_by FROM organization_keys") == [(world.user_id(address),)] * keys
            world.connection.execute("DELETE FROM organization_keys")

    async def test_a_deactivation_in_the_mail_domain_moves_with_its_user(
        self, own_domain: Directory, other: Directory
    ) -> None:
        world = own_domain.world
        user = await own_domain.create(ADA)
        await other.create(ADA)
        await own_domain.patch(user["id"], OFF)

        await renamed(own_domain, user)

        query = "SELECT deactivated_at IS NOT NULL FROM users WHERE email = %s"
        assert (world.value(query, NEW), world.value(query, ADA)) == (True, False)
        assert (await own_domain.show(user["id"]))["active"] is False
        assert (await own_domain.patch(user["id"], OFF | {"value": True})).json["active"] is True
        assert world.value(query, NEW) is False


class TestRefusals:
    async def test_a_new_address_of_another_account_is_409_and_changes_nothing(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)
        directory.world.user(NEW)

        assert_scim_refused(await directory.patch(user["id"], rename(NEW)), 409, "uniqueness")

        assert (await directory.show(user["id"]))["userName"] == ADA
        assert directory.world.value("SELECT count(*) FROM address_conflicts") == 1
        assert directory.world.rows("SELECT FROM known_account_ids") == []

    async def test_a_user_of_another_organization_is_not_found_by_the_id_that_it_knows(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)
        await renamed(directory, user)

        own = account(directory.world, NEW)
        assert_scim_refused(await other.request("GET", f"/Users/{own}"), 404)
        assert (await other.show(user["id"]))["userName"] == ADA
        assert_scim_refused(await other.put_group(own), 400, "invalidValue")

    async def test_the_old_account_is_the_organizations_own_no_more(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        await other.create(ADA)
        await renamed(directory, user)
        again = await directory.create(ADA)

        assert_scim_refused(await directory.patch(again["id"], rename("third@example.com")), 403)
        assert (await directory.request("DELETE", f"/Users/{again['id']}")).status == 204
        assert directory.world.has_user(ADA)


class TestDeletion:
    async def test_the_maker_removes_its_own_part_alone(self, directory: Directory, other: Directory) -> None:
        user = await directory.create(ADA)
        theirs = await other.create(ADA)

        assert (await directory.request("DELETE", f"/Users/{user['id']}")).status == 204

        assert await other.show(theirs["id"]) == theirs
        assert_scim_refused(await directory.request("GET", f"/Users/{user['id']}"), 404)

    async def test_a_moved_user_is_deleted_for_good_and_the_old_account_stays(
        self, directory: Directory, other: Directory
    ) -> None:
        user = await directory.create(ADA)
        theirs = await other.create(ADA)
        await renamed(directory, user)

        assert (await directory.request("DELETE", f"/Users/{user['id']}")).status == 204

        assert not directory.world.has_user(NEW)
        assert await other.show(theirs["id"]) == theirs


class TestRaces:
    @pytest.mark.parametrize("attempt", range(3))
    async def test_who_is_provisioned_while_the_address_changes_is_not_lost(
        self, directory: Directory, other: Directory, attempt: int
    ) -> None:
        user = await directory.create(ADA)
        change = partial(directory.patch, user["id"], rename(NEW))
        create = partial(other.request, "POST", "/Users", {"userName": ADA})

        answers = await at_once(*([change, create] if attempt % 2 else [create, change]))

        assert statuses_of(answers) == [200, 201]
        assert await other.found(f'userName eq "{ADA}"') == [ADA]
        assert (await directory.show(user["id"]))["userName"] == NEW

    async def test_of_two_changes_at_once_both_end_in_one_account(self, directory: Directory, other: Directory) -> None:
        user = await directory.create(ADA)
        theirs = await other.create(ADA)

        answers: list[Answer] = await at_once(
            *[partial(directory.patch, user["id"], rename(name)) for name in (NEW, OUTSIDE)]
        )

        assert statuses_of(answers) == [200, 200]
        shown = await directory.show(user["id"])
        assert shown["userName"] in {NEW, OUTSIDE}
        assert await other.show(theirs["id"]) == theirs
        assert directory.world.value("SELECT count(*) FROM users WHERE email IN (%s, %s)", NEW, OUTSIDE) == 1
