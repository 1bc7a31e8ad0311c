"""Setting up rules of groups with a setup link."""

from __future__ import annotations

import re
from html import unescape
from uuid import UUID, uuid4

import pytest

from entrypoints.pages.scim.directory_kinds import GROUP_KINDS
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.secret_watch import WATCH
from tests.shown_text import shows
from tests.world.directory import Directory, insert_directory
from tests.world.setups import Setups

GROUPS = "/app/setup/parts/groups"
CHECK = f"{GROUPS}/check"
CONNECTION = {
    "type": "oidc",
    "name": "Okta",
    "issuer": "https://idp.example",
    "client_id": "gatehouse",
    "client_secret": "the-secret-of-acme",
    "enabled": True,
}


@pytest.fixture
def directory(setups: Setups) -> Directory:
    """The directory of the team, which sends groups, and a role that it may give."""
    setups.team.custom_role("sales", "services.view", "analytics.view")
    setups.team.add("ada", "member")
    return insert_directory(setups.team, groups="directory")


async def begin(setups: Setups, *roles: str, parts: tuple[str, ...] = ("groups",), by: str = "owner") -> Answer:
    """Open a new link to groups, and return its page."""
    await setups.begin(await setups.create(*parts, by=by, roles=list(roles)))
    return await setups.open("groups")


async def add(setups: Setups, group: str, role: str, source: str = "scim") -> Answer:
    """Check a new rule and save it, as the page does; return the answer of the check."""
    page = await setups.open("groups")
    checked = await setups.visitor.submit(page, CHECK, source=source, group=group, role=role)
    if checked.status == 200:
        await setups.visitor.submit(checked, GROUPS)
    return checked


def removals(answer: Answer) -> list[str]:
    """Return the addresses at which the rules of a page are removed."""
    return re.findall(rf'href="({GROUPS}/[0-9a-f-]+/remove)"', answer.text)


async def connection_of(setups: Setups, *groups: str) -> str:
    """Make a connection by which a member has signed in who is in these groups; return its id."""
    made = await setups.team.request("owner", "POST", "/upstream-providers", body=CONNECTION)
    assert made.status == 200, made.text
    setups.team.world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, scopes, linked_at,
                                used_at, groups, confirmed_at)
        VALUES (gen_random_uuid(), %s, 'upstream', 'member', %s, %s, '{}', now(), now(), %s, now())
        """,
        (setups.team.ids["member"], setups.team.organization_id, made.json["id"], list(groups)),
    )
    return made.json["id"]


async def post(setups: Setups, page: Answer, path: str, **fields: str) -> Answer:
    """Send a form of one page to another address."""
    [token, *_] = re.findall('name="form_token" value="([^"]+)"', page.text)
    return await setups.visitor.post(path, {"form_token": token, **fields})


async def test_the_holder_picks_among_the_groups_that_arrived_and_sees_how_many_people_it_changes(
    setups: Setups, directory: Directory
) -> None:
    team = setups.team
    link = await setups.create("groups", roles=["sales"])
    await setups.begin(link)
    before = await setups.open("groups")
    group_id = await directory.create_group("Sales", "ada")

    shown = await setups.open("groups")
    checked = await setups.visitor.submit(shown, CHECK, source="scim", group="sales", role="sales")
    unchanged = team.role_of("ada")
    saved = await setups.visitor.led_on(await setups.visitor.submit(checked, GROUPS))

    assert "No group has arrived yet." in before.text
    assert '<option value="Sales">' in shown.text
    assert '<option value="admin"' not in shown.text
    assert "One person gets another role now." in checked.text
    assert (unchanged, team.role_of("ada")) == ("member", "sales")
    assert "Sales gives sales" in unescape(saved.text)
    [rule] = (await team.request("owner", "GET", "/group-rules")).json["rules"]
    assert (rule["group"], rule["role"], rule["made_by"]) == (group_id, "sales", str(team.ids["owner"]))
    recorded = setups.recorded(link, "organization.updated")
    assert [one["change"] for one in recorded if "change" in one] == ["group_rules_changed"]
    # What follows from the rule names the link too.
    assert [one["new_role"] for one in setups.recorded(link, "user.role_updated")] == ["sales"]
    events = team.world.rows(
        "SELECT actor_user_id, data->>'setup_link_id' FROM events WHERE type = 'user.role_updated'"
    )
    assert events == [(None, link["id"])]
    assert "Done. Last used on" in (await setups.visitor.open("/app/setup")).text


async def test_a_rule_that_is_there_already_is_refused_with_the_reason(setups: Setups, directory: Directory) -> None:
    await directory.create_group("Sales", "ada")
    await begin(setups, "sales")
    await add(setups, "Sales", "sales")

    again = await add(setups, "sales", "sales")

    assert again.status == 400
    assert "The same rule is there twice." in again.text


async def test_a_rule_is_removed_on_a_page_that_says_whom_it_changes(setups: Setups, directory: Directory) -> None:
    await directory.create_group("Sales", "ada")
    await begin(setups, "sales")
    await add(setups, "Sales", "sales")
    page = await setups.open("groups")
    [removal] = removals(page)

    asked = await setups.visitor.open(removal)
    kept = setups.team.role_of("ada")
    await setups.visitor.submit(asked, removal)

    assert "One person gets another role now." in asked.text
    assert (kept, setups.team.role_of("ada")) == ("sales", "member")
    assert removals(await setups.open("groups")) == []
    assert (await setups.visitor.open(removal)).status == 404
    assert (await setups.visitor.submit(asked, removal)).status == 404


async def test_a_link_gives_no_role_that_it_does_not_name_and_changes_no_other_rule(
    setups: Setups, directory: Directory
) -> None:
    team = setups.team
    admins = await directory.create_group("Admins", "ada")
    other = {"source": "scim", "group": admins, "role": "admin"}
    await team.request("owner", "PUT", "/group-rules", body={"rules": [other]})
    page = await begin(setups, "sales")
    [rule_id] = [str(one["id"]) for one in rules_of(setups)]

    refused = await add(setups, "Admins", "admin")
    unknown = await add(setups, "Nobody", "sales")
    hidden = await setups.visitor.open(f"{GROUPS}/{rule_id}/remove")
    removed = await post(setups, page, f"{GROUPS}/{rule_id}/remove")

    assert not shows(re.sub(r"<option[^>]*>", "", page.text), "Admins")
    assert (refused.status, unknown.status, hidden.status, removed.status) == (400, 400, 404, 404)
    assert "No group with this name has arrived." in unknown.text
    assert "Choose one of the roles that this link may give." in refused.text
    assert team.role_of("ada") == "admin"


async def test_a_link_makes_no_rule_give_its_role_again_that_it_does_not_name(
    setups: Setups, directory: Directory
) -> None:
    team = setups.team
    team.add("eve", "admin")
    admins = await directory.create_group("Admins")
    await directory.create_group("Sales")
    other = {"source": "scim", "group": admins, "role": "admin"}
    await team.request("eve", "PUT", "/group-rules", body={"rules": [other]})
    team.world.connection.execute("UPDATE memberships SET role = 'member' WHERE user_id = %s", (team.ids["eve"],))
    await begin(setups, "sales")

    await add(setups, "Sales", "sales")
    await directory.put_in(admins, "ada")

    assert [(one["role"], one["made_by"]) for one in rules_of(setups)] == [
        ("admin", team.ids["eve"]),
        ("sales", team.ids["owner"]),
    ]
    assert team.role_of("ada") == "member"


async def test_a_rule_of_a_link_takes_no_role_that_the_link_does_not_name(setups: Setups, directory: Directory) -> None:
    team = setups.team
    team.custom_role("support", "services.view")
    team.add("sue", "support")
    await directory.create_group("Everyone", "admin", "sue", "ada")
    await begin(setups, "member", "sales")

    checked = await add(setups, "Everyone", "sales")
    left = [team.role_of(name) for name in ("admin", "sue", "ada")]
    kept = (await team.request("owner", "GET", "/group-rules")).json["rules"]
    saved = await team.request(
        "owner", "PUT", "/group-rules", body={"rules": [{name: kept[0][name] for name in ("source", "group", "role")}]}
    )

    assert "One person gets another role now." in checked.text
    assert left == ["admin", "support", "sales"]
    # It is the rule of the link also when the owner saves it as it is.
    assert (saved.status, [team.role_of(name) for name in ("admin", "sue", "ada")]) == (200, left)


async def test_a_link_that_names_no_role_makes_rules_for_members_alone(setups: Setups, directory: Directory) -> None:
    await directory.create_group("Everyone", "ada")
    page = await begin(setups)

    refused = await add(setups, "Everyone", "sales")
    await add(setups, "Everyone", "member")

    assert '<option value="sales"' not in page.text
    assert refused.status == 400
    assert [one["role"] for one in rules_of(setups)] == ["member"]


async def test_what_a_link_saves_finishes_nothing_that_takes_another_role(setups: Setups, directory: Directory) -> None:
    team = setups.team
    weak = insert_directory(team, f"scim_live_weak00_{'w' * 43}", groups="directory", maker_role=None)
    admins = await directory.create_group("Admins", "ada")
    await team.request(
        "owner", "PUT", "/group-rules", body={"rules": [{"source": "scim", "group": admins, "role": "admin"}]}
    )
    await directory.create_group("Sales")
    await weak.take_out(admins, "ada")
    waiting = team.role_of("ada")
    await begin(setups, "sales")

    await add(setups, "Sales", "sales")

    assert (waiting, team.role_of("ada")) == ("admin", "admin")


async def test_the_group_of_a_connection_has_to_have_arrived(setups: Setups, directory: Directory) -> None:
    connection_id = await connection_of(setups, "Sales", "Interns")
    await begin(setups, "sales", "admin")

    page = await setups.open("groups")
    unknown = await add(setups, "sales", "sales", connection_id)
    foreign = await add(setups, "Sales", "sales", str(uuid4()))
    checked = await add(setups, "Sales", "sales", connection_id)
    powerful = await add(setups, "Interns", "admin", connection_id)

    assert '<option value="Interns">' in page.text
    assert (unknown.status, foreign.status) == (400, 400)
    assert "No sign-in has named this group lately." in unknown.text
    assert "also for one that gets it later" in checked.text
    assert "typed a code that is mailed" not in checked.text
    assert "typed a code that is mailed" in powerful.text
    assert setups.team.role_of("member") == "sales"


async def test_without_the_right_to_connections_only_groups_of_the_directory_are_offered(
    setups: Setups, directory: Directory
) -> None:
    team = setups.team
    connection_id = await connection_of(setups, "Interns")
    await directory.create_group("Sales")
    # A link takes `integrations.manage`; the part for groups does not.
    team.custom_role("giver", "org.roles.manage", "org.members.manage", "integrations.manage", "services.view")
    team.add("gil", "giver")
    team.custom_role("viewer", "services.view")
    await begin(setups, "viewer", by="gil")
    shown = await setups.open("groups")
    permissions = ["org.roles.manage", "org.members.manage", "services.view"]
    team.world.connection.execute("UPDATE organization_roles SET permissions = %s WHERE slug = 'giver'", (permissions,))

    narrowed = await setups.open("groups")
    refused = await setups.visitor.submit(narrowed, CHECK, source=connection_id, group="Interns", role="viewer")

    assert '<option value="Interns">' in shown.text
    assert '<option value="Interns">' not in narrowed.text
    assert refused.status == 403


async def test_the_link_is_dead_when_its_maker_may_give_one_of_its_roles_no_longer(
    setups: Setups, directory: Directory
) -> None:
    team = setups.team
    team.custom_role("giver", "org.roles.manage", "integrations.manage", "services.view", "analytics.view")
    team.add("gil", "giver")
    await directory.create_group("Sales")
    page = await begin(setups, "sales", by="gil")
    refused = await team.request("gil", "POST", "/setup-links", body={"parts": ["groups"], "roles": ["admin"]})
    team.world.connection.execute(
        "UPDATE organization_roles SET permissions = %s WHERE slug = 'giver'",
        (["org.roles.manage", "integrations.manage", "services.view"],),
    )

    dead = await setups.open("groups")
    checked = await post(setups, page, CHECK, source="scim", group="Sales", role="sales")

    assert (page.status, refused.status, dead.status, checked.status) == (200, 403, 404, 404)


async def test_a_role_that_is_made_again_is_not_the_one_that_a_link_gave(setups: Setups, directory: Directory) -> None:
    team = setups.team
    await directory.create_group("Sales")
    before = await begin(setups, "sales")
    await team.request("owner", "DELETE", "/roles/sales")
    team.custom_role("sales", "services.view")

    page = await setups.open("groups")
    refused = await post(setups, before, CHECK, source="scim", group="Sales", role="sales")

    assert re.findall('<option value="([^"]+)"[^>]*>', page.text.partition('name="role"')[2]) == ["member"]
    assert refused.status == 400
    assert rules_of(setups) == []


async def test_the_token_of_a_link_for_groups_manages_groups(setups: Setups, directory: Directory) -> None:
    await begin(setups, "sales", parts=("scim", "groups"))
    page = await setups.visitor.submit(await setups.open("scim"), "/app/setup/parts/scim")
    [token] = set(re.findall(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", page.text))
    WATCH.add(token)

    made = await Directory(setups.team, token).create_group("Support")

    assert UUID(made)


async def test_each_directory_has_its_steps_and_what_arrives(setups: Setups, directory: Directory) -> None:
    page = await begin(setups, "sales")

    for kind in GROUP_KINDS:
        shown = unescape((await setups.open(f"groups?provider={kind.word}")).text)
        assert kind.name in page.text
        assert all(step.text in shown for step in kind.steps)
        assert kind.arrives in shown


async def test_of_two_rules_that_are_saved_at_once_none_is_lost(setups: Setups, directory: Directory) -> None:
    names = ("Sales", "Support")
    for name in names:
        await directory.create_group(name)
    await begin(setups, "sales")
    checked = [
        await setups.visitor.submit(await setups.open("groups"), CHECK, source="scim", group=name, role="sales")
        for name in names
    ]

    answers = await at_once(*[lambda page=page: setups.visitor.submit(page, GROUPS) for page in checked])

    assert statuses_of(answers) == [200, 200]
    assert len(rules_of(setups)) == len(names)


def rules_of(setups: Setups) -> list[dict[str, object]]:
    """Return the stored rules in their order."""
    found = setups.team.world.rows("SELECT id, role, made_by FROM group_rules ORDER BY place")
    return [{"id": one, "role": role, "made_by": made_by} for one, role, made_by in found]
