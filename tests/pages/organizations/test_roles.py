"""The pages of the roles of an organization."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlencode

import pytest

from core.organizations.access import Capability
from entrypoints.pages.organizations.roles import CAPABILITIES
from tests.application import Answer
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/organizations/acme/roles"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner, a member, and a role that manages roles and reads the audit log."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    team.custom_role("chief", "org.roles.manage", "audit_logs.view")
    team.add("dora", "chief")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def sent(visitor: Visitor, page: Answer, action: str, permissions: Sequence[str], **fields: str) -> Answer:
    """Send the form of a role with these boxes ticked, and those that the page keeps."""
    form = next(form for form in forms_of(page) if form.action == action)
    rest = {name: value for name, value in form.fields.items() if name != "permissions"} | fields
    kept = re.findall('type="hidden" name="permissions" value="([^"]+)"', page.text)
    values = [*rest.items(), *(("permissions", one) for one in [*permissions, *kept])]
    answer = await visitor.send(
        "POST",
        action,
        data=urlencode(values).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    return await visitor.open(answer.headers["Location"]) if answer.status == 303 else answer


def ticked(page: Answer) -> list[str]:
    """List the boxes that are ticked on a page."""
    return re.findall(r'name="permissions" type="checkbox" value="([^"]+)" checked', page.text)


def stored(team: Team, slug: str) -> list[str] | None:
    """Return the permissions of a role; None without one."""
    return team.world.value(
        "SELECT (SELECT permissions FROM organization_roles WHERE organization_id = %s AND slug = %s)",
        team.organization_id,
        slug,
    )


def test_every_capability_has_words() -> None:
    assert list(CAPABILITIES) == list(Capability)


async def test_the_roles_are_listed_with_who_has_them_and_what_they_allow(acme: Team, ann: Visitor) -> None:
    acme.world.connection.execute("UPDATE organization_roles SET name = %s", (HOSTILE,))

    page = await ann.open(PAGE)

    assert "4 roles" in page.text
    assert HOSTILE not in page.text
    assert re.search(r'people\?role=chief">1<', page.text)
    row = page.text.partition("<code>audit_logs.view</code>")[2].partition("</tr>")[0]
    # Owner, admin, member and the custom role.
    assert re.findall("<td>(?:<[^>]+>)?(yes|no)", row) == ["yes", "yes", "no", "yes"]


async def test_a_role_is_created_from_a_copy_of_another_one(acme: Team, ann: Visitor) -> None:
    form = await ann.open(f"{PAGE}?copy=chief")

    created = await sent(ann, form, PAGE, ["audit_logs.view"], name="Clerk", slug="clerk")

    assert sorted(ticked(form)) == ["audit_logs.view", "org.roles.manage"]
    assert "The role is created." in created.text
    assert "Role: Clerk" in created.text
    assert stored(acme, "clerk") == ["audit_logs.view"]
    assert (await ann.open(f"{PAGE}?copy=nothing")).status == 404


async def test_a_role_without_a_slug_gets_one_of_its_name(acme: Team, ann: Visitor) -> None:
    created = await sent(ann, await ann.open(PAGE), PAGE, ["audit_logs.view"], name="Night Watch", slug="")

    assert "<code>night-watch</code>" in created.text
    assert stored(acme, "night-watch") == ["audit_logs.view"]


async def test_what_is_refused_of_a_new_role_is_said_and_what_was_typed_stays(ann: Visitor) -> None:
    form = await ann.open(PAGE)

    invalid = await sent(ann, form, PAGE, ["audit_logs.view"], name=" ", slug="-", description="x" * 501)
    taken = await sent(ann, form, PAGE, ["audit_logs.view"], name="Chief", slug="chief")
    odd = await sent(ann, form, PAGE, ["king"], name="Clerk", slug="clerk")

    assert invalid.status == 400
    assert invalid.text.count('aria-invalid="true"') == 3
    assert ticked(invalid) == ["audit_logs.view"]
    assert taken.status == 409
    assert "A role with this slug already exists." in taken.text
    assert 'value="Chief"' in taken.text
    assert odd.status == 400
    assert "Choose among these permissions." in odd.text


async def test_a_role_allows_at_most_what_its_maker_s_does_and_the_rest_stays_as_it_is(
    acme: Team, visitor: Visitor
) -> None:
    acme.custom_role("clerk", "billing.manage", "audit_logs.view")
    await visitor.sign_in("dora@example.com")

    beyond = await sent(visitor, await visitor.open(PAGE), PAGE, ["billing.manage"], name="King", slug="king")
    form = await visitor.open(f"{PAGE}/clerk")
    saved = await sent(visitor, form, f"{PAGE}/clerk", [])

    assert beyond.status == 403
    assert stored(acme, "king") is None
    assert "This needs <code>billing.manage</code>." in form.text
    assert "The role is saved." in saved.text
    assert stored(acme, "clerk") == ["billing.manage"]


async def test_a_role_that_was_changed_meanwhile_is_not_overwritten(acme: Team, ann: Visitor) -> None:
    form, deletion = await ann.open(f"{PAGE}/chief"), await ann.open(f"{PAGE}/chief/delete")
    acme.world.connection.execute(
        "UPDATE organization_roles SET permissions = '{}', updated_at = updated_at + interval '1 minute'"
    )
    acme.world.connection.execute("UPDATE memberships SET role = 'member' WHERE role = 'chief'")

    refused = await sent(ann, form, f"{PAGE}/chief", ["billing.manage"], name="Mine")
    kept = await ann.open(f"{PAGE}/chief/delete")
    again = await sent(ann, refused, f"{PAGE}/chief", ["billing.manage"])

    assert refused.status == 409
    assert "Another person has changed this role meanwhile." in refused.text
    assert 'value="Mine"' in refused.text
    assert ticked(refused) == ["billing.manage"]
    assert "This role is in use" in deletion.text
    assert "This role is in use" not in kept.text
    assert "The role is saved." in again.text
    acme.world.connection.execute("UPDATE organization_roles SET updated_at = updated_at + interval '2 minutes'")
    assert (await ann.submit(kept, f"{PAGE}/chief/delete")).status == 409


async def test_a_role_in_use_says_by_how_many_and_one_that_is_not_is_deleted(acme: Team, ann: Visitor) -> None:
    used = await ann.open(f"{PAGE}/chief/delete")
    acme.world.connection.execute("UPDATE memberships SET role = 'member' WHERE role = 'chief'")
    form = await ann.open(f"{PAGE}/chief/delete")
    acme.world.connection.execute("UPDATE memberships SET role = 'chief' WHERE role = 'member'")
    refused = await ann.submit(form, f"{PAGE}/chief/delete")
    acme.world.connection.execute("UPDATE memberships SET role = 'member' WHERE role = 'chief'")
    deleted = await ann.submit(form, f"{PAGE}/chief/delete")

    assert 'people?role=chief">Give these members another role' in used.text
    assert f'action="{PAGE}/chief/delete"' not in used.text
    assert refused.status == 409
    assert "Members or pending invitations have this role, or a rule gives it to a group." in refused.text
    assert "The role is deleted." in deleted.text
    assert stored(acme, "chief") is None
    gone = await ann.open(f"{PAGE}/chief")
    assert gone.status == 404
    assert f'href="{PAGE}"' in gone.text
    assert [(await ann.open(f"{PAGE}/{slug}/delete")).status for slug in ("chief", "owner")] == [404, 400]


async def test_a_page_shows_what_a_member_with_the_role_sees(acme: Team, ann: Visitor) -> None:
    role = await ann.open(f"{PAGE}/chief")
    owner = await ann.open(f"{PAGE}/owner")
    preview = role.text.partition('id="preview"')[2]

    def state(section: str) -> str:
        return re.findall(rf"<li>{section} <span[^>]*>(\w+)", preview)[0]

    assert (state("Audit log"), state("Mail server"), state("People")) == ("Opens", "Closed", "Closed")
    assert not shows(owner.text.partition('id="preview"')[2], "Closed")
    assert f'action="{PAGE}/owner"' not in owner.text


async def test_many_roles_are_paged_and_the_page_stays_small(acme: Team, ann: Visitor) -> None:
    for number in range(99):
        acme.custom_role(f"{'r' * 45}-{number:02}", *(str(one) for one in Capability))

    page, seen, sizes, totals = PAGE, set[str](), list[int](), set[bool]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        totals.add("103 roles" in answer.text)
        seen |= set(re.findall(rf'href="{PAGE}/([\w-]+)"', answer.text))
        following = re.findall(rf'href="({PAGE}\?after=[^"]+)"', answer.text)
        page = following[-1] if following else ""

    assert totals == {True}
    assert len(seen) == 103
    assert max(sizes) < 40 * 1024


async def test_who_may_not_change_roles_reads_them(acme: Team, visitor: Visitor) -> None:
    acme.custom_role("blind")
    acme.world.connection.execute("UPDATE memberships SET role = 'blind' WHERE role = 'member'")
    await visitor.sign_in("cid@example.com")

    page, role = await visitor.open(PAGE), await visitor.open(f"{PAGE}/chief")

    assert page.status == 200
    assert f'action="{PAGE}' not in page.text + role.text
    assert "This needs <code>org.roles.manage</code>." in page.text
    # This role does not see the members either.
    assert "Not shown to your role" in page.text
    assert (await visitor.open(f"{PAGE}/chief/delete")).status == 403


async def test_the_form_of_a_new_role_is_open_for_a_copy_and_after_a_refusal(ann: Visitor) -> None:
    is_open = '<details class="creating" id="new" open>'
    page = await ann.open(PAGE)
    copy = (await ann.open(f"{PAGE}?copy=member")).text
    refused = (await sent(ann, page, PAGE, [], name="", slug="")).text

    assert page.text.index('<details class="creating"') < page.text.index("<table")
    assert is_open not in page.text
    assert is_open in copy
    assert is_open in refused
