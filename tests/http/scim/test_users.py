"""Creating, reading, listing and replacing users by SCIM."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from entrypoints.http.scim.resources import NAMES_MAX
from tests.application import serving_with_rate_limits
from tests.world.directory import LIST, SCIM_JSON, USER, Directory, assert_scim_refused
from tests.world.team import Team

ADA = "ada@example.com"


def body(user_name: str = ADA, **others: Any) -> dict[str, Any]:
    return {"schemas": [USER], "userName": user_name, **others}


class TestCreate:
    """POST /scim/v2/Users."""

    async def test_a_person_becomes_a_member_with_an_account_and_is_welcomed(self, directory: Directory) -> None:
        world = directory.world

        answer = await directory.request("POST", "/Users", body("Ada.Lovelace@Example.com"))

        user = answer.json
        location = f"http://localhost:8000/scim/v2/Users/{user['id']}"
        assert answer.status == 201
        assert (answer.headers["Location"], answer.headers["ETag"]) == (location, user["meta"]["version"])
        assert user == {
            "schemas": [USER],
            "id": str(world.user_id("ada.lovelace@example.com")),
            "externalId": None,
            "meta": {
                "resourceType": "User",
                "created": "2026-02-03T04:05:06Z",
                "lastModified": "2026-02-03T04:05:06Z",
                "location": location,
                "version": user["meta"]["version"],
            },
            "userName": "Ada.Lovelace@Example.com",
            "name": {"formatted": "Ada Lovelace", "givenName": "Ada", "familyName": "Lovelace"},
            "emails": [{"value": "ada.lovelace@example.com", "type": "work", "primary": True}],
            "active": True,
        }
        assert await directory.show(user["id"]) == user
        assert directory.team.role_of("ada.lovelace") == "member"
        mail = await world.mail()
        assert (mail.to, mail.template, mail.values["place"]) == ("ada.lovelace@example.com", "welcome", "Acme")

    async def test_it_is_recorded_with_the_token(self, directory: Directory) -> None:
        user = await directory.create()

        token_id = str(directory.world.value("SELECT id FROM scim_tokens"))
        [(organization_id, actor_id, target_id, details)] = directory.world.audit_entries("user.joined")
        assert (organization_id, actor_id, target_id) == (directory.organization_id, None, user["id"])
        assert details == {"role": "member", "scim_token_id": token_id}
        data = {"role": "member", "user_id": user["id"], "scim_token_id": token_id}
        assert directory.world.events("user.joined") == [(directory.organization_id, None, data)]
        assert [data["provider"] for _, _, data in directory.world.events("user.signup.success")] == ["scim"]

    async def test_the_welcome_mail_leads_to_a_confirmed_membership(self, directory: Directory) -> None:
        world = directory.world
        user = await directory.create()
        confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s"
        assert world.value(confirmed, user["id"]) is False
        token = (await world.mail()).values["token"]

        answer = await world.client.post(
            "/app/invitations/confirmation",
            data=f"token={token}&answer=confirm".encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )

        assert answer.status == 200, answer.text
        assert world.value(confirmed, user["id"]) is True
        assert (await world.mail()).template == "invitation_accepted"

    async def test_an_account_that_exists_is_added_and_keeps_what_it_has(self, directory: Directory) -> None:
        world = directory.world
        user_id = world.user(ADA)

        user = await directory.create("ADA@example.com", name={"givenName": "Augusta"})

        assert (user["id"], user["name"]["givenName"]) == (str(user_id), "Augusta")
        assert (await world.log_in(ADA)).status == 200
        assert world.value("SELECT confirmed_at FROM memberships WHERE user_id = %s", user_id) is None
        # As for an account that is made: the organization learns that the person is new to it, and no more.
        assert len(world.events("user.signup.success")) == 1

    async def test_an_end_user_who_becomes_a_member_has_not_signed_up_again(self, directory: Directory) -> None:
        world = directory.world
        user_id = world.user(ADA)
        world.link(directory.organization_id, world.service(directory.organization_id).id, user_id)

        await directory.create(ADA)

        assert world.events("user.signup.success") == []
        assert len(world.events("user.joined")) == 1

    async def test_an_unverified_account_that_exists_is_signed_out(self, directory: Directory) -> None:
        world = directory.world
        world.user(ADA)
        tokens = await world.sign_in(ADA)
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE email = %s", (ADA,))

        await directory.create()

        assert (await world.list_sessions(tokens)).status == 401

    async def test_all_that_is_kept_is_answered_as_it_was_sent(self, directory: Directory) -> None:
        name = {"formatted": "Countess Ada", "givenName": "Ada", "familyName": "King"}

        user = await directory.create(externalId="00u1", name=name, displayName=" Ada ", active=True, title="Countess")

        assert (user["externalId"], user["name"], user["displayName"]) == ("00u1", name, "Ada")
        assert "title" not in user

    async def test_names_of_attributes_are_read_in_any_case_and_active_as_a_text(self, directory: Directory) -> None:
        sent = {"USERNAME": ADA, "Name": {"GIVENNAME": "Ada"}, "emails": [{"Value": "x@example.com"}], "Active": "True"}

        answer = await directory.request("POST", "/Users", sent)

        assert answer.status == 201, answer.text
        assert (answer.json["userName"], answer.json["name"]["givenName"]) == (ADA, "Ada")
        assert (answer.json["emails"][0]["value"], answer.json["active"]) == (ADA, True)

    async def test_a_user_name_that_is_no_address_takes_that_of_the_emails(self, directory: Directory) -> None:
        user = await directory.create("ada.l", emails=[{"value": ADA, "type": "work", "primary": True}])

        assert (user["userName"], user["emails"][0]["value"]) == ("ada.l", ADA)
        assert await directory.found('userName eq "ADA.L"') == ["ada.l"]
        assert await directory.found('userName sw "ada"') == ["ada.l"]
        assert await directory.found(f'userName eq "{ADA}"') == []
        assert_scim_refused(
            await directory.request("POST", "/Users", body("Ada.L", emails=[{"value": "b@example.com"}])),
            409,
            "uniqueness",
        )

    async def test_an_inactive_user_is_created_without_access_and_without_a_mail(self, directory: Directory) -> None:
        user = await directory.create(active=False)

        assert user["active"] is False
        assert await directory.world.mails() == []
        assert [details for *_, details in directory.world.audit_entries("user.deactivated")] != []

    @pytest.mark.parametrize("user_name", [ADA, "ADA@example.com"])
    async def test_a_member_is_409_whatever_the_case(self, directory: Directory, user_name: str) -> None:
        await directory.create()

        assert_scim_refused(await directory.request("POST", "/Users", body(user_name)), 409, "uniqueness")

    async def test_invalid_values_are_400(self, directory: Directory, subtests: pytest.Subtests) -> None:
        for sent in (
            {"schemas": [USER]},
            body(""),
            body("nonsense"),
            body("not@address"),
            body(ADA, active="yes"),
            body(ADA, displayName="x" * 256),
            body(ADA, name="Ada"),
            body(ADA, emails="x@example.com"),
            body("x" * 256, emails=[{"value": ADA}]),
            body("ada", emails=[{"value": "nonsense"}]),
        ):
            with subtests.test(sent=sent):
                assert_scim_refused(await directory.request("POST", "/Users", sent), 400, "invalidValue")
                assert directory.world.value("SELECT count(*) FROM users") == 3

    async def test_an_anonymized_account_is_400(self, directory: Directory) -> None:
        directory.world.user("anonymized-1@deleted.local", is_verified=False, password_hash=None, is_active=False)
        directory.world.connection.execute("UPDATE users SET anonymized_at = now() WHERE email LIKE 'anonymized%'")

        answer = await directory.request("POST", "/Users", body("anonymized-1@deleted.local"))

        assert_scim_refused(answer, 400, "invalidValue")

    async def test_the_member_limit_is_400(self, directory: Directory) -> None:
        directory.world.connection.execute("UPDATE organizations SET max_users = 3")

        answer = await directory.request("POST", "/Users", body())

        assert_scim_refused(answer, 400)
        assert not directory.world.has_user(ADA)


class TestRead:
    """GET /scim/v2/Users and /scim/v2/Users/:id."""

    async def test_a_member_whom_no_directory_described_has_names_from_the_address(self, directory: Directory) -> None:
        user = await directory.show(str(directory.team.ids["owner"]))

        assert (user["userName"], user["externalId"], user["active"]) == ("owner@example.com", None, True)
        assert user["name"] == {"formatted": "Owner Example", "givenName": "Owner", "familyName": "Example"}

    async def test_the_members_are_listed_in_pages(self, directory: Directory) -> None:
        await directory.create()
        names = ["owner@example.com", "admin@example.com", "member@example.com", ADA]

        for query, expected, start in [
            ("", names, 1),
            ("?startIndex=2&count=2", names[1:3], 2),
            ("?startIndex=0&count=1", names[:1], 1),
            ("?startIndex=-5&count=1001", names, 1),
            ("?count=0", [], 1),
            ("?count=-1", [], 1),
            ("?startIndex=5", [], 5),
            ("?startIndex=99999999999999999999", [], 10**9),
        ]:
            answer = await directory.request("GET", f"/Users{query}")
            listed = answer.json
            assert [user["userName"] for user in listed["Resources"]] == expected, query
            assert (listed["schemas"], listed["totalResults"]) == ([LIST], 4)
            assert (listed["startIndex"], listed["itemsPerPage"]) == (start, len(expected))

    async def test_paging_takes_whole_numbers(self, directory: Directory, subtests: pytest.Subtests) -> None:
        for query in ("startIndex=x", "count=1.5", "count="):
            with subtests.test(query=query):
                assert_scim_refused(await directory.request("GET", f"/Users?{query}"), 400, "invalidValue")

    async def test_only_the_requested_attributes_are_answered(
        self, directory: Directory, subtests: pytest.Subtests
    ) -> None:
        user = await directory.create()

        for query, expected in (
            ("attributes=userName", {"schemas", "id", "userName"}),
            ("attributes=USERNAME,name.givenName", {"schemas", "id", "userName", "name"}),
            (f"attributes={USER}:active,meta", {"schemas", "id", "active", "meta"}),
            ("attributes=nothing", {"schemas", "id"}),
            ("excludedAttributes=name,emails,meta,id", {"schemas", "id", "externalId", "userName", "active"}),
            ("excludedAttributes=name.givenName", {"schemas", "id", "externalId", "userName", "active", "name"}),
        ):
            with subtests.test(query=query, expected=expected):
                excludes = {"meta", "emails"} if query.endswith("givenName") and query.startswith("ex") else set()
                separator = ",meta,emails" if excludes else ""

                shown = (await directory.request("GET", f"/Users/{user['id']}?{query}{separator}")).json
                listed = (
                    await directory.request("GET", f"/Users?filter={quote('id eq ')}%22{user['id']}%22&{query}")
                ).json

                assert set(shown) == expected
                assert set(listed["Resources"][0]) == expected | excludes
                assert set(shown.get("name", {})) <= {"givenName"} or "givenName" not in shown["name"]

    async def test_a_request_names_so_many_attributes(self, directory: Directory) -> None:
        names = ",".join(f"name.part{number}" for number in range(NAMES_MAX))

        for query in ("attributes", "excludedAttributes"):
            assert (await directory.request("GET", f"/Users?{query}={names}")).status == 200
            assert_scim_refused(await directory.request("GET", f"/Users?{query}={names},x"), 400, "invalidValue")

    @pytest.mark.parametrize("user_id", ["0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22", "nonsense"])
    async def test_an_unknown_user_is_404(self, directory: Directory, user_id: str) -> None:
        assert_scim_refused(await directory.request("GET", f"/Users/{user_id}"), 404)

    async def test_a_version_that_the_client_has_is_not_sent_again(self, directory: Directory) -> None:
        user = await directory.create()

        answer = await directory.request(
            "GET", f"/Users/{user['id']}", headers={"If-None-Match": user["meta"]["version"]}
        )

        assert (answer.status, answer.content, answer.headers["ETag"]) == (304, b"", user["meta"]["version"])

    async def test_plain_json_is_accepted_and_answers_have_the_media_type_of_scim(self, directory: Directory) -> None:
        answer = await directory.world.client.post("/scim/v2/Users", token=directory.token, body=body())

        assert (answer.status, answer.headers["Content-Type"]) == (201, SCIM_JSON)


class TestReplace:
    """PUT /scim/v2/Users/:id."""

    async def put(self, directory: Directory, user_id: str, **values: Any) -> Any:
        return await directory.request("PUT", f"/Users/{user_id}", values)

    async def test_a_user_becomes_what_was_sent(self, directory: Directory) -> None:
        user = await directory.create(externalId="1", displayName="Ada")

        answer = await self.put(directory, user["id"], userName="ADA@example.com", name={"givenName": "Augusta"})

        assert answer.status == 200, answer.text
        assert (answer.json["userName"], answer.json["externalId"]) == ("ADA@example.com", None)
        assert answer.json["name"] == {"formatted": "Augusta", "givenName": "Augusta"}
        assert "displayName" not in answer.json
        assert answer.json["meta"]["version"] != user["meta"]["version"]
        [(_, _, _, details)] = directory.world.audit_entries("user.updated")
        assert details["changed"] == ["userName", "externalId", "name.givenName", "name.familyName", "displayName"]

    async def test_without_names_they_are_derived_again(self, directory: Directory) -> None:
        user = await directory.create(name={"givenName": "Augusta", "familyName": "King"})

        answer = await self.put(directory, user["id"], userName=ADA)

        assert answer.json["name"]["formatted"] == "Ada Example"

    async def test_an_own_user_gets_another_address_which_is_not_proved(self, directory: Directory) -> None:
        user = await directory.create()

        answer = await self.put(directory, user["id"], userName="New@example.com")

        assert (answer.json["userName"], answer.json["id"]) == ("New@example.com", user["id"])
        query = "SELECT email, email_verified_at FROM users WHERE id = %s"
        assert directory.world.rows(query, user["id"]) == [("new@example.com", None)]

    async def test_the_address_of_a_shared_account_is_403(self, directory: Directory) -> None:
        directory.world.user(ADA)
        user = await directory.create()

        assert_scim_refused(await self.put(directory, user["id"], userName="new@example.com"), 403)
        assert directory.world.has_user(ADA)

    async def test_an_address_of_another_account_is_409(self, directory: Directory) -> None:
        user = await directory.create()
        directory.world.user("taken@example.com")

        assert_scim_refused(await self.put(directory, user["id"], userName="taken@example.com"), 409, "uniqueness")

    async def test_an_unknown_user_is_404(self, directory: Directory) -> None:
        answer = await self.put(directory, "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22", userName=ADA)

        assert_scim_refused(answer, 404)

    async def test_an_address_that_the_user_changed_since_is_shown(self, directory: Directory, team: Team) -> None:
        user = await directory.create("ADA@example.com")
        directory.world.connection.execute("UPDATE users SET email = 'changed@example.com' WHERE email = %s", (ADA,))

        assert (await directory.show(user["id"]))["userName"] == "changed@example.com"

    async def test_a_name_of_the_directory_without_emails_keeps_the_address(self, directory: Directory) -> None:
        user = await directory.create()

        answer = await self.put(directory, user["id"], userName="ada.l")

        assert (answer.json["userName"], answer.json["emails"][0]["value"]) == ("ada.l", ADA)


async def test_a_directory_that_adds_and_removes_a_user_does_not_fill_the_mailbox(directory: Directory) -> None:
    limited = serving_with_rate_limits(directory.world.installation)
    directory.world.user(ADA)

    for _ in range(7):
        user = await limited.post("/scim/v2/Users", token=directory.token, body=body())
        assert user.status == 201, user.text
        await limited.delete(f"/scim/v2/Users/{user.json['id']}", token=directory.token)

    assert len(await directory.world.mails()) == 5
