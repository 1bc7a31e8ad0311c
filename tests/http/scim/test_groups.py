"""The organization as a group of SCIM."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from entrypoints.http.scim.dialect import KEPT_SCHEMA as KEPT
from tests.world.directory import GROUP, LIST, Directory, assert_scim_refused

UNKNOWN = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"


def members_of(directory: Directory) -> dict[str, str]:
    """Return the roles of the members by their addresses."""
    query = "SELECT email, role FROM memberships JOIN users ON users.id = user_id ORDER BY email"
    return {email.partition("@")[0]: role for email, role in directory.world.rows(query)}


def ids_in(answer: Any) -> list[str]:
    assert answer.status == 200, answer.text
    return [member["value"] for member in answer.json["members"]]


def own_account(directory: Directory, email: str) -> UUID:
    """Insert an account that the organization made, which is no member."""
    user_id = directory.world.user(email, is_verified=False, password_hash=None)
    directory.world.connection.execute(
        "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (directory.organization_id, user_id)
    )
    return user_id


class TestRead:
    """GET /scim/v2/Groups and /scim/v2/Groups/:id."""

    async def test_the_organization_is_the_one_group(self, directory: Directory) -> None:
        listed = (await directory.request("GET", "/Groups")).json
        shown = (await directory.request("GET", f"/Groups/{directory.organization_id}")).json

        users = "http://localhost:8000/scim/v2/Users/"
        ids = [str(directory.team.ids[name]) for name in ("owner", "admin", "member")]
        assert (listed["schemas"], listed["totalResults"], listed["itemsPerPage"]) == ([LIST], 1, 1)
        assert listed["Resources"] == [shown]
        assert (shown["schemas"], shown["id"]) == ([GROUP], str(directory.organization_id))
        assert (shown["displayName"], shown["meta"]["resourceType"]) == ("Acme", "Group")
        assert shown["members"] == [{"value": one, "$ref": users + one, "type": "User"} for one in ids]

    async def test_members_that_are_not_requested_are_left_out(
        self, directory: Directory, subtests: pytest.Subtests
    ) -> None:
        for query in ("excludedAttributes=members", "attributes=displayName", "attributes=id"):
            with subtests.test(query=query):
                listed = (await directory.request("GET", f"/Groups?{query}")).json["Resources"]
                shown = (await directory.request("GET", f"/Groups/{directory.organization_id}?{query}")).json

                assert listed == [shown]
                assert "members" not in shown

    async def test_a_group_is_filtered_by_its_exact_name_its_id_and_its_members(self, directory: Directory) -> None:
        own, member = directory.organization_id, directory.team.ids["member"]
        for text, total in [
            ('displayName eq "Acme"', 1),
            ('displayName eq "acme"', 0),
            (f'id eq "{own}" and members eq "{member}"', 1),
            (f'members[value eq "{member}"]', 1),
            (f'members.value eq "{UNKNOWN}"', 0),
            ('members eq "nonsense" or displayName co "cm"', 1),
            ('meta.created gt "2020-01-01T00:00:00Z"', 1),
        ]:
            answer = await directory.filtered(text, "Groups")
            assert (answer.status, answer.json["totalResults"]) == (200, total), text
        assert_scim_refused(await directory.filtered("displayName", "Groups"), 400, "invalidFilter")

    async def test_the_list_has_pages(self, directory: Directory, subtests: pytest.Subtests) -> None:
        for query, items in (("startIndex=2", 0), ("count=0", 0), ("count=1", 1)):
            with subtests.test(query=query, items=items):
                listed = (await directory.request("GET", f"/Groups?{query}")).json

                assert (listed["totalResults"], listed["itemsPerPage"], len(listed["Resources"])) == (1, items, items)

    async def test_a_version_that_the_client_has_is_not_sent_again(self, directory: Directory) -> None:
        path = f"/Groups/{directory.organization_id}"
        version = (await directory.request("GET", path)).headers["ETag"]

        assert (await directory.request("GET", path, headers={"If-None-Match": version})).status == 304
        await directory.create()
        assert (await directory.request("GET", path, headers={"If-None-Match": version})).status == 200

    async def test_an_unknown_group_is_404(self, directory: Directory) -> None:
        assert_scim_refused(await directory.request("GET", f"/Groups/{UNKNOWN}"), 404)


class TestUnsupported:
    """Groups are neither created nor deleted."""

    async def test_creating_a_group_is_501(self, directory: Directory) -> None:
        assert_scim_refused(await directory.request("POST", "/Groups", {"displayName": "New"}), 501)

    async def test_deleting_the_group_is_403(self, directory: Directory) -> None:
        assert_scim_refused(await directory.request("DELETE", f"/Groups/{directory.organization_id}"), 403)
        assert_scim_refused(await directory.request("DELETE", f"/Groups/{UNKNOWN}"), 404)


class TestReplace:
    """PUT /scim/v2/Groups/:id."""

    async def test_new_members_are_added_and_absent_ones_removed(self, directory: Directory) -> None:
        own = own_account(directory, "own@example.com")
        linked = directory.world.user("linked@example.com")
        service = directory.world.service(directory.organization_id)
        directory.world.link(directory.organization_id, service.id, linked)
        directory.team.custom_role("auditor", "audit_logs.view")
        kept = directory.team.add("kept", "auditor")

        answer = await directory.put_group(own, linked, kept)

        expected = {"owner": "owner", "kept": "auditor", "own": "member", "linked": "member"}
        assert members_of(directory) == expected
        assert set(ids_in(answer)) == {str(directory.world.user_id(f"{name}@example.com")) for name in expected}
        assert answer.json["displayName"] == "Acme"
        assert sorted(mail.to for mail in await directory.world.mails()) == ["linked@example.com", "own@example.com"]
        assert directory.world.rows("SELECT FROM memberships WHERE confirmed_at IS NULL AND role = 'member'") != []
        token_id = str(directory.world.value("SELECT id FROM scim_tokens"))
        removed = {target: details for _, _, target, details in directory.world.audit_entries("user.removed")}
        assert removed == {str(directory.team.ids[name]): {"scim_token_id": token_id} for name in ("admin", "member")}
        joined = {data["user_id"] for _, _, data in directory.world.events("user.joined")}
        assert joined == {str(own), str(linked)}

    async def test_all_absent_admins_go_and_the_owner_who_stays_is_listed(self, directory: Directory) -> None:
        directory.team.add("second", "admin")
        token = await directory.team.token("admin")

        answer = await directory.put_group()

        assert members_of(directory) == {"owner": "owner"}
        owner = str(directory.team.ids["owner"])
        assert answer.json[KEPT] == [{"value": owner, "display": "owner@example.com", "reason": "owner"}]
        # The owner knows that the owner stays.
        assert directory.world.audit_entries("scim.kept") == []
        assert await directory.world.mails() == []
        read = await directory.world.client.get(f"{directory.team.path}/members", token=token)
        assert read.status in {401, 403}

    async def test_an_absent_admin_goes_while_another_stays(self, directory: Directory) -> None:
        second = directory.team.add("second", "admin")

        await directory.put_group(second)

        assert members_of(directory) == {"owner": "owner", "second": "admin"}

    @pytest.mark.parametrize("member_id", [UNKNOWN, "nonsense"])
    async def test_an_account_that_the_organization_does_not_know_is_400(
        self, directory: Directory, member_id: str
    ) -> None:
        stranger = directory.world.user("stranger@example.com")
        before = members_of(directory)

        assert_scim_refused(await directory.put_group(member_id), 400, "invalidValue")
        assert_scim_refused(await directory.put_group(stranger), 400, "invalidValue")
        assert members_of(directory) == before

    async def test_more_members_than_allowed_are_400(self, directory: Directory) -> None:
        directory.world.connection.execute("UPDATE organizations SET max_users = 3")
        own = own_account(directory, "own@example.com")

        assert_scim_refused(await directory.put_group(own, *directory.team.ids.values()), 400)
        assert "own" not in members_of(directory)
        # A member who leaves makes room.
        await directory.put_group(own)
        assert members_of(directory) == {"owner": "owner", "own": "member"}

    async def test_the_invitations_of_removed_members_are_withdrawn(self, directory: Directory) -> None:
        directory.team.add("second", "admin")
        body = {"email": "guest@example.com", "role": "member"}
        await directory.team.request("second", "POST", "/invitations", body=body)

        await directory.put_group(directory.team.ids["admin"])

        assert directory.world.value("SELECT status FROM invitations") == "cancelled"

    async def test_an_unknown_group_is_404(self, directory: Directory) -> None:
        assert_scim_refused(await directory.request("PUT", f"/Groups/{UNKNOWN}", {"members": []}), 404)


class TestPatch:
    """PATCH /scim/v2/Groups/:id."""

    async def test_members_are_added_and_removed(self, directory: Directory) -> None:
        own = own_account(directory, "own@example.com")
        member = directory.team.ids["member"]

        added = await directory.patch_group({"op": "add", "value": {"members": [{"value": str(own)}]}})
        removed = await directory.patch_group({"op": "remove", "path": f'members[value eq "{member}"]'})

        assert str(own) in ids_in(added)
        assert str(member) not in ids_in(removed)
        assert members_of(directory) == {"owner": "owner", "admin": "admin", "own": "member"}

    async def test_operations_are_applied_together_or_not_at_all(self, directory: Directory) -> None:
        own = own_account(directory, "own@example.com")

        answer = await directory.patch_group(
            {"op": "add", "path": "members", "value": [{"value": str(own)}]},
            {"op": "add", "path": "members", "value": [{"value": UNKNOWN}]},
        )

        assert_scim_refused(answer, 400, "invalidValue")
        assert "own" not in members_of(directory)

    async def test_the_owner_stays_and_is_listed_and_all_others_go(self, directory: Directory) -> None:
        removals = [
            {"op": "remove", "path": f'members[value eq "{directory.team.ids[name]}"]'}
            for name in ("owner", "admin", "member")
        ]

        answer = await directory.patch_group(*removals)

        assert answer.status == 200
        assert members_of(directory) == {"owner": "owner"}
        assert [(one["display"], one["reason"]) for one in answer.json[KEPT]] == [("owner@example.com", "owner")]

    async def test_who_is_put_in_again_by_the_same_request_is_not_listed(self, directory: Directory) -> None:
        owner = str(directory.team.ids["owner"])

        answer = await directory.patch_group(
            {"op": "replace", "path": "members", "value": []},
            {"op": "add", "path": "members", "value": [{"value": owner}]},
        )

        assert KEPT not in answer.json

    async def test_a_replacement_is_like_a_put(self, directory: Directory) -> None:
        answer = await directory.patch_group({"op": "replace", "path": "members", "value": []})

        assert members_of(directory) == {"owner": "owner"}
        assert [one["reason"] for one in answer.json[KEPT]] == ["owner"]

    async def test_removing_nobody_changes_nothing(self, directory: Directory) -> None:
        before = directory.left_behind()

        answer = await directory.patch_group({"op": "remove", "path": f'members[value eq "{UNKNOWN}"]'})

        assert len(ids_in(answer)) == 3
        assert directory.left_behind() == before

    async def test_the_name_is_read_only(self, directory: Directory) -> None:
        answer = await directory.patch_group({"op": "replace", "value": {"displayName": "Other"}})

        assert_scim_refused(answer, 400, "mutability")
        assert (await directory.patch_group({"op": "replace", "value": {"displayName": "Acme"}})).status == 200


async def test_a_group_with_too_many_members_is_shown_without_them(
    directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.scim.group_resources.MEMBERS_MAX", 2)
    path = f"/Groups/{directory.organization_id}"

    assert_scim_refused(await directory.request("GET", path), 400, "tooMany")
    assert_scim_refused(await directory.put_group(), 400, "tooMany")
    assert (await directory.request("GET", f"{path}?excludedAttributes=members")).status == 200
