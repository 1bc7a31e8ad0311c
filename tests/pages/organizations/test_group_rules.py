"""The pages of groups, and of the rules by which they give roles."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.application import Answer
from tests.world.directory import Directory, insert_directory
from tests.world.team import Team
from tests.world.visitor import FORM, Visitor, forms_of

GROUPS = "/app/organizations/acme/people/groups"
RULES = f"{GROUPS}/rules"


@pytest.fixture
def groups(team: Team) -> Directory:
    """The directory of an organization with a role of its own."""
    team.custom_role("sales", "services.view")
    team.add("ada", "member")
    return insert_directory(team, groups="directory")


async def signed_in(team: Team, name: str) -> Visitor:
    visitor = Visitor(team.world.client)
    await visitor.sign_in(f"{name}@example.com")
    return visitor


async def press(visitor: Visitor, page: Answer, action: str, **fields: str) -> Answer:
    """Submit the form of a page with all its rules, and these fields filled in."""
    form = next(form for form in forms_of(page) if form.action == action)
    inside = page.text.partition(f'action="{action}"')[2].partition("</form>")[0]
    rules = [("rules", unescape(rule)) for rule in re.findall(r'name="rules" value="([^"]+)"', inside)]
    others = {name: value for name, value in (form.fields | fields).items() if name != "rules"}
    sent = urlencode([*others.items(), *rules]).encode()
    return await visitor.led_on(await visitor.send("POST", action, data=sent, headers={"Content-Type": FORM}))


async def test_a_rule_is_made_after_a_look_at_whom_it_changes(groups: Directory) -> None:
    sales = await groups.create_group("Sales", "ada")
    owner = await signed_in(groups.team, "owner")

    shown = await owner.open(f"{GROUPS}/{sales}")
    assert "ada@example.com" in shown.text
    check = await press(owner, await owner.open(RULES), f"{RULES}/check", source="scim", group="sales", role="sales")
    assert "ada@example.com" in check.text
    assert groups.team.role_of("ada") == "member"
    saved = await press(owner, check, RULES)

    assert "The rules are saved" in saved.text
    assert groups.team.role_of("ada") == "sales"
    person = await owner.open(f"/app/organizations/acme/people/{groups.team.ids['ada']}")
    assert "by the group Sales of your directory" in person.text
    listed = await owner.open("/app/organizations/acme/people/members.csv")
    assert "scim,Sales" in listed.text


async def test_rules_are_moved_and_removed(groups: Directory) -> None:
    sales, audit = await groups.create_group("Sales", "ada"), await groups.create_group("Audit", "ada")
    body = {
        "rules": [
            {"source": "scim", "group": sales, "role": "sales"},
            {"source": "scim", "group": audit, "role": "admin"},
        ]
    }
    assert (await groups.team.request("owner", "PUT", "/group-rules", body=body)).status == 200
    owner = await signed_in(groups.team, "owner")

    check = await press(owner, await owner.open(RULES), f"{RULES}/check", change="up 1")
    await press(owner, check, RULES)
    assert groups.team.role_of("ada") == "admin"

    check = await press(owner, await owner.open(RULES), f"{RULES}/check", change="remove 0")
    await press(owner, check, RULES)
    assert groups.team.role_of("ada") == "sales"


async def test_a_damaged_form_changes_nothing(groups: Directory) -> None:
    sales = await groups.create_group("Sales")
    body = {"rules": [{"source": "scim", "group": sales, "role": "sales"}]}
    await groups.team.request("owner", "PUT", "/group-rules", body=body)
    owner = await signed_in(groups.team, "owner")

    for change in ("up 0", "down 1", "up x", "move 0", "remove 7"):
        page = await press(owner, await owner.open(RULES), f"{RULES}/check", change=change)

        assert "This form is damaged" in page.text, change


async def test_rules_that_were_changed_meanwhile_are_shown_again(groups: Directory) -> None:
    sales = await groups.create_group("Sales", "ada")
    owner = await signed_in(groups.team, "owner")
    check = await press(owner, await owner.open(RULES), f"{RULES}/check", source="scim", group=sales, role="sales")
    body = {"rules": [{"source": "scim", "group": sales, "role": "member"}]}
    await groups.team.request("owner", "PUT", "/group-rules", body=body)

    page = await press(owner, check, RULES)

    assert "Another person has changed the rules meanwhile" in page.text
    assert groups.team.role_of("ada") == "member"


async def test_a_member_reads_and_cannot_change(groups: Directory) -> None:
    await groups.create_group("Sales", "ada")
    member = await signed_in(groups.team, "member")

    page = await member.open(RULES)
    listed = await member.open(GROUPS)

    assert (page.status, listed.status) == (200, 200)
    assert "You cannot change these rules." in page.text
    assert (await member.send("POST", RULES)).status in {400, 403}


async def test_a_role_of_a_rule_has_no_form_on_the_page_of_the_person(groups: Directory) -> None:
    sales = await groups.create_group("Sales", "ada")
    owner = await signed_in(groups.team, "owner")
    path = f"/app/organizations/acme/people/{groups.team.ids['ada']}"
    before = await owner.open(path)
    body = {"rules": [{"source": "scim", "group": sales, "role": "sales"}]}
    await groups.team.request("owner", "PUT", "/group-rules", body=body)

    refused = await owner.submit(before, path, role="admin")

    assert refused.status == 409
    assert "A rule gives this member the role" in refused.text
    assert groups.team.role_of("ada") == "sales"


async def test_rules_that_were_changed_before_the_look_are_shown_again(groups: Directory) -> None:
    sales = await groups.create_group("Sales", "ada")
    owner = await signed_in(groups.team, "owner")
    page = await owner.open(RULES)
    body = {"rules": [{"source": "scim", "group": sales, "role": "member"}]}
    await groups.team.request("owner", "PUT", "/group-rules", body=body)

    shown = await press(owner, page, f"{RULES}/check", source="scim", group=sales, role="sales")

    assert "Another person has changed the rules meanwhile" in shown.text


async def test_groups_are_found_by_their_name_and_downloaded(groups: Directory) -> None:
    sales = await groups.create_group("Sales", "ada", "member", externalId="00g1")
    await groups.create_group("Interns")
    owner = await signed_in(groups.team, "owner")

    found = await owner.open(f"{GROUPS}?search=SAL")
    file = await owner.open(f"{GROUPS}/groups.csv")
    members = await owner.open(f"{GROUPS}/{sales}/members.csv")
    unknown = await owner.open(f"{GROUPS}/{groups.organization_id}")

    assert ("Sales" in found.text, "Interns" in found.text) == (True, False)
    assert [line.split(",")[1] for line in file.text.splitlines()] == ["name", "Sales", "Interns"]
    assert sorted(line.partition(",")[0] for line in members.text.splitlines()) == [
        "ada@example.com",
        "email",
        "member@example.com",
    ]
    assert unknown.status == 404


async def test_the_members_of_a_large_group_are_on_several_pages(groups: Directory) -> None:
    names = [f"person{number:02}" for number in range(26)]
    for name in names:
        groups.team.add(name, "member")
    group_id = await groups.create_group("Sales", *names)
    owner = await signed_in(groups.team, "owner")

    first = await owner.open(f"{GROUPS}/{group_id}")
    second = await owner.follow(first, f"{GROUPS}/{group_id}")

    assert "26" in first.text
    shown = [sum(f"{name}@example.com" in page.text for name in names) for page in (first, second)]
    assert shown == [25, 1]


async def test_why_says_what_becomes_of_each_rule_that_fits(groups: Directory) -> None:
    team = groups.team
    team.custom_role("auditor", "audit_logs.view")
    weak = insert_directory(team, f"scim_live_xyz789_{'u' * 43}", groups="directory", maker_role=None)
    names = ("Dead", "Weak", "Sales", "Later")
    ids = [await groups.create_group(name) for name in names]
    roles = ("auditor", "admin", "sales", "member")
    rules = [{"source": "scim", "group": group, "role": role} for group, role in zip(ids, roles, strict=True)]
    await team.request("admin", "PUT", "/group-rules", body={"rules": rules[:1]})
    others = {"source": "scim", "group": await groups.create_group("Others"), "role": "admin"}
    await team.request("owner", "PUT", "/group-rules", body={"rules": [others, *rules]})
    await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body={"role": "member"})
    for name, directory, group in zip(names, (groups, weak, groups, groups), ids, strict=True):
        assert (await directory.put_in(group, "ada")).status == 200, name

    answer = (await team.request("owner", "GET", "/why?email=ada@example.com")).json["role"]
    stranger = (await team.request("owner", "GET", "/why?email=nobody@example.com")).json
    owner = await signed_in(team, "owner")
    page = await owner.open("/app/organizations/acme/why?email=ada@example.com")

    assert (answer["role"], answer["role_source"]) == ("sales", {"source": "scim", "group": ids[2]})
    assert [(rule["group_name"], rule["outcome"]) for rule in answer["rules"]] == [
        ("Dead", "maker_lost_right"),
        ("Weak", "token_may_not"),
        ("Sales", "gives"),
        ("Later", "earlier_rule"),
    ]
    assert answer["groups_overage"] is False
    assert stranger["role"] is None
    assert "Role by groups" in page.text


async def test_why_has_no_rules_for_who_is_in_no_group(groups: Directory) -> None:
    answer = (await groups.team.request("owner", "GET", "/why?email=ada@example.com")).json["role"]

    assert answer == {"role": "member", "role_source": None, "rules": [], "groups_overage": False}
