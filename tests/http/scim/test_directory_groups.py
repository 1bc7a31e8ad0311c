"""The groups that a directory sends with a token that manages groups."""

from __future__ import annotations

import pytest

from core.scim import directory_groups, group_resources
from tests.world.directory import GROUP, LIST, Directory, assert_scim_refused, insert_directory
from tests.world.world import World

GONE = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"
OTHER_TOKEN = f"scim_live_xyz789_{'u' * 43}"


async def members_of(groups: Directory, group_id: str) -> set[str]:
    """Return the names of the members of a group."""
    answer = await groups.request("GET", f"/Groups/{group_id}")
    assert answer.status == 200, answer.text
    names = {str(user_id): name for name, user_id in groups.team.ids.items()}
    return {names[member["value"]] for member in answer.json.get("members", [])}


def kinds_of(groups: Directory) -> list[str]:
    """Return the types of the events about groups."""
    return [kind for (kind,) in groups.world.rows("SELECT type FROM events WHERE type LIKE 'group.%' ORDER BY id")]


class TestLife:
    """Creating, reading, changing and deleting a group."""

    async def test_a_group_is_created_with_members_and_an_id_of_the_directory(self, groups: Directory) -> None:
        answer = await groups.request(
            "POST",
            "/Groups",
            {
                "schemas": [GROUP],
                "displayName": " Sales ",
                "externalId": "8aa1a0c0",
                "members": [{"value": str(groups.team.ids["member"]), "display": "Member"}],
            },
        )

        group = answer.json
        users = "http://localhost:8000/scim/v2/Users/"
        member = str(groups.team.ids["member"])
        assert answer.status == 201
        assert answer.headers["Location"] == group["meta"]["location"]
        assert (group["displayName"], group["externalId"]) == ("Sales", "8aa1a0c0")
        assert group["members"] == [{"value": member, "$ref": users + member, "type": "User"}]
        assert (await groups.request("GET", f"/Groups/{group['id']}")).json == group
        assert kinds_of(groups) == ["group.created"]

    async def test_the_organization_is_no_group_of_such_a_token(self, groups: Directory) -> None:
        listed = (await groups.request("GET", "/Groups")).json

        assert (listed["schemas"], listed["totalResults"]) == ([LIST], 0)
        for method, body in (("GET", None), ("PUT", {"displayName": "Acme"}), ("DELETE", None)):
            answer = await groups.request(method, f"/Groups/{groups.organization_id}", body)
            assert_scim_refused(answer, 404)

    async def test_replacing_a_group_changes_its_name_its_id_and_its_members(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "member", "admin", externalId="1")

        answer = await groups.request(
            "PUT",
            f"/Groups/{group_id}",
            {"displayName": "Sales EU", "members": [{"value": str(groups.team.ids["owner"])}]},
        )

        assert answer.status == 200, answer.text
        assert (answer.json["displayName"], answer.json.get("externalId")) == ("Sales EU", None)
        assert await members_of(groups, group_id) == {"owner"}
        [(_, _, changed)] = groups.world.events("group.changed")
        assert (changed["name"], changed["old_name"]) == ("Sales EU", "Sales")
        assert (changed["members_added"], changed["members_removed"]) == (1, 2)

    async def test_a_change_that_changes_nothing_leaves_nothing(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "member")
        version = (await groups.request("GET", f"/Groups/{group_id}")).headers["ETag"]
        before = groups.left_behind()

        await groups.put_in(group_id, "member")
        await groups.take_out(group_id, "admin", GONE)
        await groups.change_group(group_id, {"op": "replace", "value": {"id": group_id, "displayName": "Sales"}})

        assert groups.left_behind() == before
        assert (await groups.request("GET", f"/Groups/{group_id}")).headers["ETag"] == version

    async def test_a_deleted_group_ends_no_membership(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "member")

        assert (await groups.request("DELETE", f"/Groups/{group_id}")).status == 204

        assert_scim_refused(await groups.request("GET", f"/Groups/{group_id}"), 404)
        assert groups.team.role_of("member") == "member"
        assert kinds_of(groups) == ["group.created", "group.deleted"]

    async def test_who_leaves_the_organization_leaves_every_group(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "member", "admin")
        version = (await groups.request("GET", f"/Groups/{group_id}")).headers["ETag"]

        await groups.team.request("owner", "POST", f"/members/{groups.team.ids['member']}")

        shown = await groups.request("GET", f"/Groups/{group_id}")
        assert await members_of(groups, group_id) == {"admin"}
        assert shown.headers["ETag"] != version

    async def test_the_name_and_the_id_are_those_of_one_group(
        self, groups: Directory, subtests: pytest.Subtests
    ) -> None:
        first = await groups.create_group("Sales", externalId="1")
        second = await groups.create_group("Support", externalId="2")
        for title, body in (
            ("the same name", {"displayName": "Sales"}),
            ("another case", {"displayName": "SALES"}),
            ("a decomposed name", {"displayName": "Sales", "externalId": "1"}),
        ):
            with subtests.test(title):
                assert_scim_refused(await groups.request("POST", "/Groups", body), 409, "uniqueness")
        with subtests.test("a rename"):
            answer = await groups.change_group(second, {"op": "replace", "path": "displayName", "value": "sales"})
            assert_scim_refused(answer, 409, "uniqueness")
        with subtests.test("its own name"):
            answer = await groups.change_group(first, {"op": "replace", "path": "displayName", "value": "sales"})
            assert (answer.status, answer.json["displayName"]) == (200, "sales")


class TestPatch:
    """PATCH /scim/v2/Groups/:id."""

    async def test_members_are_added_removed_and_replaced_in_order(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "owner")
        ids = {name: {"value": str(user_id)} for name, user_id in groups.team.ids.items()}

        answer = await groups.change_group(
            group_id,
            {"op": "Add", "path": "members", "value": [ids["admin"]]},
            {"op": "Remove", "path": f'members[value eq "{ids["owner"]["value"]}"]'},
            {"op": "Add", "value": {"members": [ids["member"]]}},
            {"op": "Remove", "path": "members", "value": [ids["admin"]]},
        )
        assert answer.status == 200, answer.text
        assert await members_of(groups, group_id) == {"member"}

        await groups.change_group(group_id, {"op": "replace", "path": "members", "value": [ids["admin"], ids["owner"]]})
        assert await members_of(groups, group_id) == {"admin", "owner"}

        await groups.change_group(group_id, {"op": "remove", "path": "members"})
        assert await members_of(groups, group_id) == set()

    async def test_an_operation_without_a_path_may_have_the_whole_resource(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "owner")
        resource = (await groups.request("GET", f"/Groups/{group_id}")).json

        answer = await groups.change_group(
            group_id,
            {"op": "replace", "value": resource | {"displayName": "Sales EU", "externalId": "9"}},
            {"op": "add", "path": "urn:ietf:params:scim:schemas:extension:other:2.0:Group:color", "value": "red"},
        )

        assert (answer.json["displayName"], answer.json["externalId"]) == ("Sales EU", "9")
        assert await members_of(groups, group_id) == {"owner"}
        answer = await groups.change_group(group_id, {"op": "remove", "path": "externalId"})
        assert "externalId" not in answer.json

    async def test_what_a_group_has_not_is_refused(self, groups: Directory, subtests: pytest.Subtests) -> None:
        group_id = await groups.create_group("Sales", "owner")
        member = str(groups.team.ids["member"])
        for title, operation, scim_type in (
            ("an unknown attribute", {"op": "add", "path": "color", "value": "red"}, "invalidPath"),
            ("another id", {"op": "replace", "value": {"id": GONE}}, "mutability"),
            ("no id", {"op": "remove", "path": "id"}, "mutability"),
            ("no name", {"op": "remove", "path": "displayName"}, "invalidValue"),
            ("a name of blanks", {"op": "replace", "path": "displayName", "value": "  "}, "invalidValue"),
            ("a number", {"op": "replace", "path": "displayName", "value": 7}, "invalidValue"),
            ("a long name", {"op": "replace", "path": "displayName", "value": "x" * 257}, "invalidValue"),
            ("a hidden sign", {"op": "replace", "path": "displayName", "value": "Sa\u202eles"}, "invalidValue"),
            ("no such member", {"op": "add", "path": "members", "value": [{"value": GONE}]}, "invalidValue"),
            ("no id of a member", {"op": "add", "path": "members", "value": [{"value": "ada"}]}, "invalidValue"),
            ("no text", {"op": "add", "path": "members", "value": [7]}, "invalidValue"),
            (
                "a group",
                {"op": "add", "path": "members", "value": [{"value": member, "type": "Group"}]},
                "invalidValue",
            ),
            ("the group itself", {"op": "add", "path": "members", "value": [{"value": group_id}]}, "invalidValue"),
            ("a part", {"op": "replace", "path": f'members[value eq "{member}"]', "value": {}}, "invalidPath"),
            ("a part's name", {"op": "replace", "path": "members.value", "value": member}, "invalidPath"),
            ("another filter", {"op": "remove", "path": 'members[type eq "User"]'}, "invalidPath"),
            ("no target", {"op": "remove"}, "noTarget"),
            ("no object", {"op": "add", "value": "members"}, "invalidValue"),
        ):
            with subtests.test(title):
                assert_scim_refused(await groups.change_group(group_id, operation), 400, scim_type)
        assert await members_of(groups, group_id) == {"owner"}

    async def test_removing_who_is_not_there_changes_nothing(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales", "owner")

        for operation in (
            {"op": "remove", "path": f'members[value eq "{GONE}" or value eq "ada"]'},
            {"op": "remove", "path": "members", "value": [{"value": "nobody"}, {"value": GONE}]},
        ):
            assert (await groups.change_group(group_id, operation)).status == 200
        assert await members_of(groups, group_id) == {"owner"}

    async def test_a_version_that_has_changed_is_refused(self, groups: Directory) -> None:
        group_id = await groups.create_group("Sales")
        version = (await groups.request("GET", f"/Groups/{group_id}")).headers["ETag"]
        await groups.put_in(group_id, "member")
        operation = {"op": "replace", "path": "displayName", "value": "Support"}

        assert_scim_refused(await groups.change_group(group_id, operation, headers={"If-Match": version}), 412)
        refused = await groups.request("DELETE", f"/Groups/{group_id}", headers={"If-Match": version})
        assert_scim_refused(refused, 412)
        present = (await groups.request("GET", f"/Groups/{group_id}")).headers["ETag"]
        assert (await groups.change_group(group_id, operation, headers={"If-Match": present})).status == 200
        later = (await groups.request("GET", f"/Groups/{group_id}")).headers["ETag"]
        unchanged = await groups.request("GET", f"/Groups/{group_id}", headers={"If-None-Match": later})
        assert unchanged.status == 304


class TestFilters:
    """GET /scim/v2/Groups with a filter."""

    async def test_groups_are_found_by_name_id_and_member(self, groups: Directory) -> None:
        sales = await groups.create_group("Sales", "owner", "member", externalId="a1")
        await groups.create_group("Support", "member")
        owner, member = groups.team.ids["owner"], groups.team.ids["member"]
        for text, names in [
            ('displayName eq "sales"', ["Sales"]),
            ('externalId eq "a1"', ["Sales"]),
            ('externalId eq "A1"', []),
            (f'id eq "{sales}" and members.value eq "{owner}"', ["Sales"]),
            (f'members eq "{member}"', ["Sales", "Support"]),
            (f'members[value eq "{member}"] and members.value eq "{owner}"', ["Sales"]),
            (f'members.value eq "{GONE}"', []),
            ('members.value eq "nobody"', []),
            ('displayName eq "Sales" and displayName eq "Support"', []),
            ('externalId eq "a1" and externalId eq "a2"', []),
            (f'id eq "{sales}" and id eq "{GONE}" and displayName eq "Sales"', []),
        ]:
            answer = await groups.filtered(text, "Groups")
            assert answer.status == 200, answer.text
            assert [group["displayName"] for group in answer.json["Resources"]] == names, text

    async def test_other_filters_are_refused(self, groups: Directory) -> None:
        for text in (
            'displayName co "a"',
            'displayName eq "a" or displayName eq "b"',
            'not (displayName eq "a")',
            "displayName pr",
            "externalId eq 7",
            'meta.created eq "2020-01-01T00:00:00Z"',
            "displayName",
        ):
            assert_scim_refused(await groups.filtered(text, "Groups"), 400, "invalidFilter")

    async def test_the_list_has_pages_and_leaves_members_out(self, groups: Directory) -> None:
        for name in ("A", "B", "C"):
            await groups.create_group(name, "member")

        page = (await groups.request("GET", "/Groups?startIndex=2&count=1")).json
        bare = (await groups.request("GET", "/Groups?excludedAttributes=members")).json

        assert (page["totalResults"], page["itemsPerPage"]) == (3, 1)
        assert [group["displayName"] for group in page["Resources"]] == ["B"]
        assert len(page["Resources"][0]["members"]) == 1
        assert [group["displayName"] for group in bare["Resources"]] == ["A", "B", "C"]
        assert not any("members" in group for group in bare["Resources"])

    async def test_the_schema_says_what_can_be_changed(self, groups: Directory) -> None:
        found = (await groups.request("GET", f"/Schemas/{GROUP}")).json
        listed = (await groups.request("GET", "/ResourceTypes/Group")).json

        attributes = {one["name"]: one["mutability"] for one in found["attributes"]}
        assert attributes == {"displayName": "readWrite", "externalId": "readWrite", "members": "readWrite"}
        assert "directory" in listed["description"]


class TestLimits:
    """What a call and an organization may have."""

    async def test_a_call_names_so_many_members(self, groups: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(directory_groups, "NAMED_MAX", 2)
        group_id = await groups.create_group("Sales")

        assert_scim_refused(await groups.put_in(group_id, "owner", "admin", "member"), 413)
        assert (await groups.put_in(group_id, "owner", "admin")).status == 200

    async def test_an_organization_has_so_many_groups(self, groups: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(directory_groups, "GROUPS_MAX", 1)
        await groups.create_group("Sales")

        assert_scim_refused(await groups.request("POST", "/Groups", {"displayName": "Support"}), 400, "tooMany")

    async def test_an_answer_shows_so_many_members(self, groups: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
        group_id = await groups.create_group("Sales", "owner", "member")
        monkeypatch.setattr(group_resources, "MEMBERS_MAX", 1)

        assert_scim_refused(await groups.request("GET", "/Groups"), 400, "tooMany")
        assert_scim_refused(await groups.request("GET", f"/Groups/{group_id}"), 400, "tooMany")
        assert (await groups.request("GET", f"/Groups/{group_id}?excludedAttributes=members")).status == 200


class TestTenants:
    """Groups belong to one organization, and to its whole directory."""

    async def test_another_organization_sees_and_changes_nothing(self, groups: Directory, world: World) -> None:
        sales = await groups.create_group("Sales", "member", externalId="1")
        theirs = insert_directory(world.team("evil"), OTHER_TOKEN, groups="directory")

        assert (await theirs.request("GET", "/Groups")).json["totalResults"] == 0
        for method, body in (("GET", None), ("PUT", {"displayName": "Mine"}), ("DELETE", None)):
            assert_scim_refused(await theirs.request(method, f"/Groups/{sales}", body), 404)
        assert_scim_refused(await theirs.put_in(sales), 404)
        # Names and ids are free there, and its members are none of ours.
        own = await theirs.create_group("Sales", externalId="1")
        member = groups.team.ids["member"]
        answer = await theirs.change_group(own, {"op": "add", "path": "members", "value": [{"value": str(member)}]})
        assert_scim_refused(answer, 400, "invalidValue")
        assert await members_of(groups, sales) == {"member"}

    async def test_every_such_token_of_the_organization_changes_all_groups(self, groups: Directory) -> None:
        sales = await groups.create_group("Sales", "member")
        second = insert_directory(groups.team, OTHER_TOKEN, groups="directory")

        await second.put_in(sales, "owner")

        assert await members_of(groups, sales) == {"member", "owner"}

    async def test_a_token_of_the_other_kind_sees_the_organization(self, groups: Directory) -> None:
        sales = await groups.create_group("Sales", "member")
        plain = insert_directory(groups.team, OTHER_TOKEN)

        assert (await plain.request("GET", "/Groups")).json["totalResults"] == 1
        assert_scim_refused(await plain.request("GET", f"/Groups/{sales}"), 404)
        assert_scim_refused(await plain.request("POST", "/Groups", {"displayName": "X"}), 501)


class TestForMembers:
    """GET /api/organizations/:slug/groups, and their members."""

    async def test_members_read_the_groups(self, groups: Directory) -> None:
        sales = await groups.create_group("Sales", "owner", "member", externalId="1")

        listed = await groups.team.request("member", "GET", "/groups")
        shown = await groups.team.request("member", "GET", f"/groups/{sales}/members?limit=1")

        assert listed.status == 200, listed.text
        [group] = listed.json["groups"]
        assert (group["id"], group["name"], group["external_id"], group["member_count"]) == (sales, "Sales", "1", 2)
        assert (shown.json["total"], len(shown.json["members"])) == (2, 1)
        assert shown.json["members"][0].keys() == {"user_id", "email", "name", "role", "status"}

    async def test_others_do_not(self, groups: Directory, world: World) -> None:
        sales = await groups.create_group("Sales")
        evil = world.team("evil")

        world.member(evil.organization_id, evil.user("stranger"), "owner")
        token = await evil.token("stranger")
        for path in ("groups", f"groups/{sales}/members", "group-rules"):
            answer = await world.client.request("GET", f"{groups.team.path}/{path}", token=token)
            assert answer.status in {403, 404}, answer.text
        assert (await evil.request("stranger", "GET", f"/groups/{sales}/members")).status == 404


@pytest.mark.parametrize("name", ["Sales ", " Lead", "İstanbul", "ΟΔΟΣ", "ΟΔΟς", "e\u0301quipe", "Straße"])
async def test_a_filter_finds_a_group_by_the_text_that_created_it(groups: Directory, name: str) -> None:
    made = await groups.request("POST", "/Groups", {"displayName": name, "externalId": f" {name}"})

    found = [
        await groups.filtered(f'{attribute} eq "{text}"', "Groups")
        for attribute, text in (("displayName", name), ("externalId", f" {name}"))
    ]
    both = await groups.filtered(f'displayName eq "{name}" and displayName eq "{name.upper()}x"', "Groups")
    again = await groups.request("POST", "/Groups", {"displayName": name})

    assert made.status == 201
    assert [[one["id"] for one in answer.json["Resources"]] for answer in found] == [[made.json["id"]]] * 2
    assert (both.json["totalResults"], again.status) == (0, 409)


async def test_attributes_below_the_name_of_their_schema_are_applied(groups: Directory) -> None:
    group_id = await groups.create_group("Sales")

    renamed = await groups.change_group(group_id, {"op": "Replace", "value": {GROUP: {"displayName": "Support"}}})
    repeated = await groups.change_group(
        group_id, {"op": "replace", "value": {"id": group_id.upper(), "displayName": "Help"}}
    )

    assert (renamed.status, renamed.json["displayName"]) == (200, "Support")
    assert (repeated.status, repeated.json["displayName"]) == (200, "Help")


async def test_a_group_that_no_answer_can_show_is_changed_without_its_members(
    groups: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_id = await groups.create_group("Sales", "owner", "admin")
    monkeypatch.setattr("core.scim.group_resources.MEMBERS_MAX", 1)
    body = {"Operations": [{"op": "replace", "path": "displayName", "value": "Support"}]}

    whole = await groups.request("PATCH", f"/Groups/{group_id}", body)
    without = await groups.request("PATCH", f"/Groups/{group_id}?excludedAttributes=members", body)

    assert (whole.status, without.status, without.json["displayName"]) == (400, 200, "Support")


async def test_rights_of_makers_that_no_place_in_a_group_has_any_longer_make_room_for_others(
    groups: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_groups, "AUTHORITIES_MAX", 1)
    sales = await groups.create_group("Sales", "member")
    other = insert_directory(groups.team, OTHER_TOKEN, groups="directory", maker_role="member")

    refused = await other.put_in(sales, "admin")
    assert_scim_refused(refused, 400, "tooMany")
    await groups.take_out(sales, "member")
    assert (await other.put_in(sales, "admin")).status == 200
    assert await members_of(groups, sales) == {"admin"}


async def test_a_large_group_is_made_changed_shown_and_deleted_in_parts(
    groups: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.parts.ROWS_AT_ONCE_MAX", 2)
    names = {f"m{number}" for number in range(7)}
    for name in names:
        groups.team.add(name, "member")
    sales = await groups.create_group("Sales", *names)
    assert await members_of(groups, sales) == names

    kept = {"m1", "m4", "m5"}
    members = [{"value": str(groups.team.ids[name])} for name in kept]
    replaced = await groups.request("PUT", f"/Groups/{sales}", {"displayName": "Sales", "members": members})
    assert replaced.status == 200, replaced.text
    assert await members_of(groups, sales) == kept

    await groups.take_out(sales, "m1", "m4", "m6")
    assert await members_of(groups, sales) == {"m5"}
    assert (await groups.request("DELETE", f"/Groups/{sales}")).status == 204
