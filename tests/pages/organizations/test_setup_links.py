"""The pages of the setup links of an organization."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.organizations.choices import CHOICES_MAX
from tests.application import Answer
from tests.secret_watch import WATCH
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/setup-links"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner, an admin, and a member who looks after integrations alone."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.custom_role("tech", "integrations.manage")
    team.add("cid", "tech")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def made(visitor: Visitor, *parts: str, **fields: str) -> Answer:
    """Make a link by the form of the page."""
    page = await visitor.open(PAGE)
    token = re.findall('name="form_token" value="([^"]+)"', page.text)[0]
    sent = [("form_token", token), *(("parts", part) for part in parts), *fields.items()]
    answer = await visitor.send(
        "POST",
        PAGE,
        data="&".join(f"{name}={value}" for name, value in sent).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    return await visitor.led_on(answer)


def link_in(answer: Answer) -> str:
    """Return the path of the link that a page shows."""
    [link] = set(re.findall(r"http://localhost:8000(/app/setup/[\w-]+)", unescape(answer.text)))
    WATCH.add(link.rpartition("/")[2])
    return link


async def test_a_link_is_shown_once_with_a_text_for_the_customer_and_opens(acme: Team, ann: Visitor) -> None:
    acme.world.connection.execute("UPDATE organizations SET name = %s", (HOSTILE,))

    form = (await ann.open(PAGE)).text
    answer = await made(ann, "domain", "scim", expires_in_days="3")
    link = link_in(answer)
    listed = await ann.open(PAGE)

    assert answer.status == 200
    assert '<option value="7" selected' in form
    assert '<option value="30"' in form
    assert HOSTILE not in answer.text
    assert "Copy the link now. It is shown only once." in answer.text
    assert "- Provisioning by SCIM\n- Your own domain" in answer.text
    assert link not in listed.text
    assert "One valid link" in listed.text
    assert "by ann@example.com" in listed.text
    assert "Not opened yet" in listed.text
    customer = Visitor(client=ann.client)
    assert (await customer.submit(await customer.open(link), link)).status == 200
    assert "Opened" in (await ann.open(PAGE)).text


@pytest.mark.parametrize(
    ("parts", "fields", "problem"),
    [
        ((), {}, "Name at least one of these parts"),
        (("king",), {}, "Name at least one of these parts"),
        (("saml",), {}, "Name a service with the part saml"),
        (("saml",), {"service_slug": "nothing"}, "has no service with that slug"),
        (("groups",), {"roles": "king"}, "must be admin, member, or the slug"),
        (("scim",), {"expires_in_days": "31"}, "Choose one of the numbers of days."),
        (("scim",), {"expires_in_days": "x"}, "Choose one of the numbers of days."),
    ],
)
async def test_what_is_refused_is_said_at_its_field_and_the_choice_stays(
    ann: Visitor, parts: tuple[str, ...], fields: dict[str, str], problem: str
) -> None:
    refused = await made(ann, *parts, **fields)

    assert refused.status == 400
    assert problem in refused.text
    assert refused.text.count('name="parts" type="checkbox"') == 6
    assert refused.text.count(" checked") >= len(set(parts) - {"king"})


async def test_the_service_of_a_link_is_chosen_and_searched_where_there_are_many(acme: Team, ann: Visitor) -> None:
    acme.world.service(acme.organization_id, "shop")

    few = await ann.open(PAGE)
    await made(ann, "domain")
    for number in range(CHOICES_MAX):
        acme.world.service(acme.organization_id, f"desk-{number}", name=f"<i>Desk {number}</i>")
    many = await ann.open(f"{PAGE}?parts=saml&expires_in_days=3&find_service_slug=DESK+49")
    nothing = await ann.open(f"{PAGE}?service_slug=shop&find_service_slug=none")

    assert '<option value="shop">Shop (shop)</option>' in few.text
    assert re.findall('name="service_slug" type="radio" value="([^"]*)"', many.text) == ["", "desk-49"]
    assert "<i>Desk" not in many.text
    assert '<details class="creating" id="new" open>' in many.text
    assert re.search('name="parts" type="checkbox" value="saml" checked', many.text)
    assert '<option value="3" selected>' in many.text
    assert 'type="radio" value="shop" checked' in nothing.text
    form = many.text.partition(f'action="{PAGE}"')[2].partition("</form>")[0]
    assert re.findall(r"<(\w+)[^>]* name=\"form_token\"", form) == ["button"]


async def test_who_sees_no_services_types_the_slug(acme: Team, visitor: Visitor) -> None:
    acme.world.service(acme.organization_id, "shop")
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(f"{PAGE}?find_service_slug=shop")

    assert '<input id="service_slug" name="service_slug" type="text" value=""' in page.text
    assert ">Shop (shop)<" not in page.text


async def test_a_link_to_saml_names_its_service(acme: Team, ann: Visitor) -> None:
    acme.world.service(acme.organization_id, "shop")

    await made(ann, "saml", service_slug="shop")

    assert "(<code>shop</code>)" in (await ann.open(PAGE)).text


async def test_a_link_to_groups_names_the_roles_that_they_may_give(acme: Team, ann: Visitor) -> None:
    made_link = await made(ann, "groups", roles="tech")
    listed = await ann.open(PAGE)

    assert "- Roles by groups" in made_link.text
    assert "Roles by groups (tech)" in listed.text
    assert acme.world.value("SELECT roles FROM setup_links") == ["tech"]


async def test_a_link_to_groups_without_roles_is_for_members(acme: Team, ann: Visitor) -> None:
    await made(ann, "groups")

    assert "Roles by groups (member)" in (await ann.open(PAGE)).text
    assert acme.world.value("SELECT roles FROM setup_links") == []


async def test_a_link_is_revoked_on_a_page_that_says_what_ends(acme: Team, ann: Visitor) -> None:
    link = link_in(await made(ann, "domain"))
    listed = await ann.open(PAGE)
    [revocation] = re.findall(rf'href="({PAGE}/[\w-]+/revoke)"', listed.text)

    asked = await ann.open(revocation)
    revoked = await ann.submit(asked, revocation)
    again = await ann.submit(asked, revocation)

    assert "It was never opened." in asked.text
    assert "The setup link is revoked" in revoked.text
    assert "No setup link is valid at present." in revoked.text
    assert again.status == 404
    assert "This organization has no such setup link." in again.text
    assert (await ann.open(revocation)).status == 404
    assert (await Visitor(client=ann.client).open(link)).status == 404


async def test_a_part_beyond_one_s_role_is_closed_and_refused(acme: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(PAGE)
    refused = await made(visitor, "domain")

    assert page.text.count(" disabled") == 5
    assert "This needs <code>org.settings.manage</code>." in page.text
    assert refused.status == 403
    assert acme.world.value("SELECT count(*) FROM setup_links") == 0


async def test_a_link_whose_maker_may_no_longer_set_its_parts_is_shown_as_not_usable(acme: Team, ann: Visitor) -> None:
    bob = Visitor(client=ann.client)
    await bob.sign_in("bob@example.com")
    await made(bob, "siem")
    demoted = "UPDATE memberships SET role = 'tech' WHERE user_id = %s"
    gone = "DELETE FROM memberships WHERE user_id = %s"

    before = await ann.open(PAGE)
    acme.world.connection.execute(demoted, (acme.ids["bob"],))
    after = await ann.open(PAGE)
    acme.world.connection.execute(gone, (acme.ids["bob"],))
    without = await ann.open(PAGE)

    assert "Not usable" not in before.text
    assert "Not usable" in after.text
    assert "by bob@example.com" in after.text
    assert "Not usable" in without.text
    assert "by a former member" in without.text
    assert "bob@example.com" not in without.text
