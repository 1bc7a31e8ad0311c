"""Rules that give roles to the groups of a directory."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from core.organizations import group_rules
from core.organizations.access import Capability
from tests.world.directory import Directory, insert_directory
from tests.world.organization_keys import insert_program
from tests.world.team import Team
from tests.world.world import World, assert_refused

WEAK_TOKEN = f"scim_live_xyz789_{'u' * 43}"


@pytest.fixture
def groups(team: Team) -> Directory:
    """The directory of an organization that has two roles of its own."""
    team.world.connection.execute("UPDATE organizations SET max_users = 100 WHERE id = %s", (team.organization_id,))
    team.custom_role("sales", "services.view", "analytics.view")
    team.custom_role("auditor", "audit_logs.view")
    for name in ("ada", "ben"):
        team.add(name, "member")
    return insert_directory(team, groups="directory")


def rule(group: str, role: str, source: str = "scim") -> dict[str, str]:
    return {"source": source, "group": group, "role": role}


def weak_directory(groups: Directory) -> Directory:
    """Return the same directory with a token whose maker could give no role."""
    return insert_directory(groups.team, WEAK_TOKEN, groups="directory", maker_role=None)


async def save(team: Team, *rules: dict[str, str], name: str = "owner") -> Any:
    return await team.request(name, "PUT", "/group-rules", body={"rules": list(rules)})


async def set_rules(team: Team, *rules: dict[str, str], name: str = "owner") -> None:
    answer = await save(team, *rules, name=name)
    assert answer.status == 200, answer.text


async def source_of(team: Team, name: str) -> Any:
    """Return what gave a member the role, as members read it."""
    listed = (await team.request("owner", "GET", "/members")).json["members"]
    return next(one["membership"]["role_source"] for one in listed if one["user"]["id"] == str(team.ids[name]))


class TestGiving:
    """What rules make of the members of groups."""

    async def test_a_new_member_of_a_group_gets_the_role_and_shows_where_it_comes_from(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales")
        await set_rules(team, rule(sales, "sales"))

        await groups.put_in(sales, "ada")

        assert (team.role_of("ada"), team.role_of("ben")) == ("sales", "member")
        assert await source_of(team, "ada") == {"source": "scim", "group": sales}
        assert await source_of(team, "ben") is None
        [(_, _, recorded)] = team.world.events("user.role_updated")
        assert recorded["role_source"] == {"source": "scim", "group": sales}
        assert (recorded["old_role"], recorded["new_role"]) == ("member", "sales")

    async def test_saving_applies_the_rules_at_once(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")

        await set_rules(team, rule(sales, "sales"))
        assert team.role_of("ada") == "sales"

        await set_rules(team, rule(sales, "auditor"))
        assert team.role_of("ada") == "auditor"

        await set_rules(team)
        assert (team.role_of("ada"), await source_of(team, "ada")) == ("member", None)

    async def test_the_first_rule_that_fits_gives_the_role(self, groups: Directory) -> None:
        team = groups.team
        sales, audit = await groups.create_group("Sales", "ada"), await groups.create_group("Audit", "ada", "ben")

        await set_rules(team, rule(sales, "sales"), rule(audit, "auditor"))
        assert (team.role_of("ada"), team.role_of("ben")) == ("sales", "auditor")

        await groups.take_out(sales, "ada")
        assert team.role_of("ada") == "auditor"

        await groups.request("DELETE", f"/Groups/{audit}")
        assert (team.role_of("ada"), team.role_of("ben")) == ("member", "member")
        assert len((await team.request("owner", "GET", "/group-rules")).json["rules"]) == 1

    async def test_a_role_given_by_hand_stays_where_no_rule_ever_fitted(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales")
        await set_rules(team, rule(sales, "sales"))

        await groups.put_in(sales, "ada")
        await groups.take_out(sales, "ada", "admin")

        assert (team.role_of("admin"), team.role_of("ada")) == ("admin", "member")

    async def test_a_renamed_group_keeps_its_rule_and_a_new_one_of_that_name_gets_none(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        await set_rules(team, rule(sales, "sales"))

        await groups.change_group(sales, {"op": "replace", "path": "displayName", "value": "Old sales"})
        await groups.create_group("Sales", "ben")

        assert (team.role_of("ada"), team.role_of("ben")) == ("sales", "member")
        [shown] = (await team.request("member", "GET", "/group-rules")).json["rules"]
        assert (shown["group"], shown["group_name"], shown["gives_role"]) == (sales, "Old sales", True)

    async def test_no_rule_changes_the_owner_and_one_for_members_takes_the_last_admin_the_role(
        self, groups: Directory
    ) -> None:
        team = groups.team
        everybody = await groups.create_group("Everybody")
        await set_rules(team, rule(everybody, "member"))

        answer = await groups.put_in(everybody, "owner", "admin", "ada")

        assert answer.status == 200
        assert (team.role_of("owner"), team.role_of("admin")) == ("owner", "member")
        assert await source_of(team, "owner") is None
        assert await source_of(team, "admin") is not None

    async def test_admins_by_a_rule_are_so_no_longer_when_all_have_left_its_group(self, groups: Directory) -> None:
        team = groups.team
        admins = await groups.create_group("Admins", "ada", "ben", "admin")
        await set_rules(team, rule(admins, "admin"))

        await groups.take_out(admins, "ada", "ben", "admin")

        assert [team.role_of(name) for name in ("admin", "ada", "ben")] == ["member"] * 3

    async def test_a_role_of_a_rule_is_not_changed_by_hand(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        await set_rules(team, rule(sales, "sales"))

        answer = await team.request("owner", "PATCH", f"/members/{team.ids['ada']}", body={"role": "admin"})

        assert_refused(answer, 409, "CONFLICT")
        assert sales in answer.text
        unchanged = await team.request("owner", "PATCH", f"/members/{team.ids['ada']}", body={"role": "sales"})
        assert unchanged.status == 200

    async def test_a_new_owner_has_the_role_by_hand(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        await set_rules(team, rule(sales, "sales"))

        answer = await team.request(
            "owner", "POST", "/transfer-ownership", body={"new_owner_user_id": str(team.ids["ada"])}
        )

        assert answer.status == 200, answer.text
        assert (team.role_of("ada"), await source_of(team, "ada")) == ("owner", None)
        await groups.take_out(sales, "ada")
        assert team.role_of("ada") == "owner"

    async def test_who_loses_a_role_loses_the_invitations_that_it_allowed(self, groups: Directory) -> None:
        team = groups.team
        team.custom_role("recruiter", "org.members.manage")
        recruiters = await groups.create_group("Recruiters", "ada")
        await set_rules(team, rule(recruiters, "recruiter"))
        invited = await team.request("ada", "POST", "/invitations", body={"email": "new@example.org", "role": "member"})
        assert invited.status in {200, 201}, invited.text

        await groups.take_out(recruiters, "ada")

        assert team.world.value("SELECT status FROM invitations") == "cancelled"


class TestMakers:
    """Who may make a rule, and what remains of one whose maker lost the right."""

    async def test_a_rule_gives_no_more_than_its_maker_may_give(
        self, groups: Directory, subtests: pytest.Subtests
    ) -> None:
        team = groups.team
        team.custom_role("curator", "org.roles.manage", "services.view")
        team.add("curator", "curator")
        sales = await groups.create_group("Sales", "ada")
        for title, wanted, status in (
            ("admin", rule(sales, "admin"), 403),
            ("a role with more", rule(sales, "auditor"), 403),
            ("a connection", rule("Sales", "member", str(connection_of(team))), 403),
            ("a role of their own", rule(sales, "curator"), 200),
        ):
            with subtests.test(title):
                assert (await save(team, wanted, name="curator")).status == status
        with subtests.test("a role without the right"):
            assert_refused(await save(team, name="ben"), 403, "FORBIDDEN")
        with subtests.test("others' rules stay theirs"):
            await set_rules(team, rule(sales, "admin"))
            await set_rules(team, rule(sales, "admin"), rule(sales, "member"), name="curator")
            shown = (await team.request("owner", "GET", "/group-rules")).json["rules"]
            makers = [one["made_by"] for one in shown]
            assert makers == [str(team.ids["owner"]), str(team.ids["curator"])]

    async def test_a_rule_whose_maker_lost_the_right_gives_the_role_to_nobody_more(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        await set_rules(team, rule(sales, "sales"), name="admin")

        await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body={"role": "member"})
        await groups.put_in(sales, "ben", "ada")

        assert (team.role_of("ada"), team.role_of("ben")) == ("sales", "member")
        [shown] = (await team.request("owner", "GET", "/group-rules")).json["rules"]
        assert shown["gives_role"] is False

        await set_rules(team, rule(sales, "sales"))
        assert team.role_of("ben") == "sales"
        [shown] = (await team.request("owner", "GET", "/group-rules")).json["rules"]
        assert (shown["gives_role"], shown["made_by"]) == (True, str(team.ids["owner"]))

    async def test_what_it_gave_is_taken_from_who_leaves_the_group(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        await set_rules(team, rule(sales, "sales"), name="admin")
        await team.request("owner", "POST", f"/members/{team.ids['admin']}")

        await groups.put_in(sales, "ada")
        assert team.role_of("ada") == "sales"

        await groups.take_out(sales, "ada")
        assert team.role_of("ada") == "member"


class TestTokens:
    """A token whose maker could not give a role neither gives it nor takes it away."""

    @pytest.fixture
    def weak(self, groups: Directory) -> Directory:
        """The same directory by a token of a maker who could give no role."""
        return weak_directory(groups)

    async def test_it_stores_the_change_and_the_role_stays(self, groups: Directory, weak: Directory) -> None:
        team = groups.team
        admins = await groups.create_group("Admins", "ben")
        await set_rules(team, rule(admins, "admin"))

        assert (await weak.put_in(admins, "ada")).status == 200
        assert (await weak.take_out(admins, "ben")).status == 200

        assert (team.role_of("ada"), team.role_of("ben")) == ("member", "admin")
        members = (await team.request("owner", "GET", f"/groups/{admins}/members")).json["members"]
        assert [one["user_id"] for one in members] == [str(team.ids["ada"])]

    async def test_nothing_else_gives_that_role_afterwards(self, groups: Directory, weak: Directory) -> None:
        team = groups.team
        admins = await groups.create_group("Admins")
        await set_rules(team, rule(admins, "admin"))
        await weak.put_in(admins, "ada")

        await groups.put_in(admins, "ben")
        await set_rules(team, rule(admins, "admin"), rule(admins, "sales"))

        assert (team.role_of("ada"), team.role_of("ben")) == ("member", "admin")

    async def test_a_stronger_token_that_names_the_member_gives_it(self, groups: Directory, weak: Directory) -> None:
        team = groups.team
        admins = await groups.create_group("Admins")
        await set_rules(team, rule(admins, "admin"))
        await weak.put_in(admins, "ada")

        await groups.put_in(admins, "ada")
        assert team.role_of("ada") == "admin"

        # Naming the member again by the weaker one changes nothing.
        await weak.put_in(admins, "ada")
        await groups.put_in(admins, "ben")
        assert team.role_of("ada") == "admin"

    async def test_a_group_that_it_deletes_leaves_the_role_to_the_next_change(
        self, groups: Directory, weak: Directory
    ) -> None:
        team = groups.team
        admins = await groups.create_group("Admins", "ada")
        await set_rules(team, rule(admins, "admin"))

        await weak.request("DELETE", f"/Groups/{admins}")
        assert team.role_of("ada") == "admin"

        await set_rules(team, rule(await groups.create_group("Sales"), "sales"))
        assert team.role_of("ada") == "member"


class TestRefusals:
    """Rules that are refused."""

    async def test_every_problem_is_named(self, groups: Directory, world: World, subtests: pytest.Subtests) -> None:
        team = groups.team
        sales = await groups.create_group("Sales")
        other = world.team("evil")
        theirs = await insert_directory(other, WEAK_TOKEN, groups="directory").create_group("Sales")
        own = str(connection_of(team))
        for title, wanted, field in (
            ("an unknown group", rule(str(uuid4()), "sales"), "rules[0].group"),
            ("no id", rule("Sales", "sales"), "rules[0].group"),
            ("a group of another organization", rule(theirs, "sales"), "rules[0].group"),
            ("an unknown role", rule(sales, "chief"), "rules[0].role"),
            ("the owner", rule(sales, "owner"), "rules[0].role"),
            ("an unknown source", rule(sales, "sales", "ldap"), "rules[0].source"),
            ("a connection of another organization", rule("a", "sales", str(connection_of(other))), "rules[0].source"),
            ("an empty value", rule("", "sales", own), "rules[0].group"),
            ("a long value", rule("x" * 256, "sales", own), "rules[0].group"),
            ("a hidden sign", rule("Sa\u202eles", "sales", own), "rules[0].group"),
        ):
            with subtests.test(title):
                answer = await save(team, wanted)
                assert_refused(answer, 400, "BAD_REQUEST")
                assert [detail["field"] for detail in answer.json["details"]] == [field]
        with subtests.test("twice the same"):
            assert_refused(await save(team, rule(sales, "sales"), rule(sales, "sales")), 400, "BAD_REQUEST")
        assert (await team.request("owner", "GET", "/group-rules")).json == {"rules": []}

    async def test_there_are_so_many(self, groups: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(group_rules, "RULES_MAX", 1)
        sales = await groups.create_group("Sales")

        assert_refused(await save(groups.team, rule(sales, "sales"), rule(sales, "member")), 400, "BAD_REQUEST")

    async def test_an_organization_that_has_more_keeps_them_and_gets_no_further_ones(
        self, groups: Directory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        several = [rule(sales, role) for role in ("sales", "auditor", "member", "admin")]
        await set_rules(team, *several[:3])
        monkeypatch.setattr(group_rules, "RULES_MAX", 1)

        await set_rules(team, *several[1:])
        assert team.role_of("ada") == "auditor"
        refused = await save(team, *several)
        assert_refused(refused, 400, "BAD_REQUEST")
        assert "This one has 3 since an earlier version" in refused.json["details"][0]["message"]

        await set_rules(team, *several[:2])
        assert "This one has 2" in (await save(team, *several[:3])).json["details"][0]["message"]

    async def test_saving_the_same_again_leaves_nothing(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        await set_rules(team, rule(sales, "sales"))
        before = groups.left_behind()

        await set_rules(team, rule(sales, "sales"))

        assert groups.left_behind() == before

    async def test_a_role_that_a_rule_gives_is_not_deleted(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales")
        await set_rules(team, rule(sales, "sales"))

        assert_refused(await team.request("owner", "DELETE", "/roles/sales"), 409, "CONFLICT")
        await set_rules(team)
        assert (await team.request("owner", "DELETE", "/roles/sales")).status == 204


def connection_of(team: Team) -> UUID:
    """Insert a connection of an organization, and return its id."""
    connection_id = uuid4()
    team.world.connection.execute(
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at)
        VALUES (%s, %s, 'saml', 'Directory', '{}', '{}', false, false, now(), now())
        """,
        (connection_id, team.organization_id),
    )
    return connection_id


class TestWhoMayChangeRules:
    """What a caller can give or take by rules, compared with what the caller can do by hand."""

    async def test_a_key_makes_rules_for_what_it_allows_and_none_for_admins(self, groups: Directory) -> None:
        team = groups.team
        sales = await groups.create_group("Sales", "ada")
        program = insert_program(team, Capability.ORG_ROLES_MANAGE, Capability.SERVICES_VIEW, Capability.ANALYTICS_VIEW)

        refused = [
            await program.request("PUT", "/group-rules", body={"rules": [one]})
            for one in (
                rule(sales, "admin"),
                rule(sales, "auditor"),
                rule("Sales", "sales", str(connection_of(team))),
            )
        ]
        made = await program.request("PUT", "/group-rules", body={"rules": [rule(sales, "sales")]})

        assert [answer.status for answer in refused] == [403, 403, 403]
        assert (made.status, team.role_of("ada")) == (200, "sales")

    async def test_a_maker_whose_account_is_deactivated_gives_nothing(self, groups: Directory) -> None:
        team = groups.team
        admins = await groups.create_group("Admins")
        await set_rules(team, rule(admins, "admin"), name="admin")
        team.world.connection.execute("UPDATE users SET deactivated_at = now() WHERE id = %s", (team.ids["admin"],))

        await groups.put_in(admins, "ada")

        assert team.role_of("ada") == "member"

    async def test_a_rule_takes_no_role_that_its_maker_could_not_give(self, groups: Directory) -> None:
        team = groups.team
        team.custom_role("curator", "org.roles.manage")
        team.add("curator", "curator")
        team.add("boss", "admin")
        everybody = await groups.create_group("Everybody", "boss")

        saved = await save(team, rule(everybody, "member"), name="curator")
        await groups.put_in(everybody, "admin")

        assert saved.status == 200
        assert (team.role_of("boss"), team.role_of("admin")) == ("admin", "admin")

    async def test_who_removes_a_rule_takes_no_role_that_they_could_not_give(self, groups: Directory) -> None:
        team = groups.team
        team.custom_role("curator", "org.roles.manage")
        team.add("curator", "curator")
        admins = await groups.create_group("Admins", "ada")
        await set_rules(team, rule(admins, "admin"))

        await set_rules(team, name="curator")
        left = team.role_of("ada")
        explained = (await team.request("owner", "GET", "/why?email=ada@example.com")).json["role"]
        await set_rules(team)

        assert (left, team.role_of("ada")) == ("admin", "member")
        assert [one["outcome"] for one in explained["rules"]] == ["stays"]


class TestWhatAWeakTokenLeaves:
    """The maker of a token could not take the role that a rule gave, and the token took the person out of the group."""

    async def test_it_is_explained_and_taken_by_saving_the_same_rules(self, groups: Directory) -> None:
        team, weak = groups.team, weak_directory(groups)
        admins = await groups.create_group("Admins", "ada")
        await set_rules(team, rule(admins, "admin"))

        await weak.take_out(admins, "ada")
        explained = (await team.request("owner", "GET", "/why?email=ada@example.com")).json["role"]
        left = team.role_of("ada")
        await set_rules(team, rule(admins, "admin"))

        assert (left, team.role_of("ada")) == ("admin", "member")
        assert [(one["group_name"], one["outcome"]) for one in explained["rules"]] == [("Admins", "stays")]

    async def test_the_owner_changes_it_by_hand(self, groups: Directory) -> None:
        team, weak = groups.team, weak_directory(groups)
        admins = await groups.create_group("Admins", "ada")
        await set_rules(team, rule(admins, "admin"))
        path = f"/members/{team.ids['ada']}"

        held = await team.request("owner", "PATCH", path, body={"role": "member"})
        await weak.request("DELETE", f"/Groups/{admins}")
        freed = await team.request("owner", "PATCH", path, body={"role": "member"})

        assert (held.status, freed.status) == (409, 200)
        assert (team.role_of("ada"), await source_of(team, "ada")) == ("member", None)
