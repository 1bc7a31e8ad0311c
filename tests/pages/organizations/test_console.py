"""The console: one's own organizations, and the overview of one."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

import pytest
from markupsafe import escape

from core.organizations.overview import PERIOD
from core.organizations.settings.branding import Branding
from entrypoints.http.services import services
from entrypoints.pages.console.frame import Program
from entrypoints.settings import Settings
from ports.unit_of_work import UnitOfWork
from tests.application import serving
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
async def owner(world: World, visitor: Visitor) -> Visitor:
    """A browser in which the owner of Acme has signed in."""
    world.member(world.organization("acme"), world.user(), "owner")
    await visitor.sign_in()
    return visitor


async def test_one_s_organizations_are_listed_by_slug_and_found_by_a_part_of_name_or_slug(
    world: World, owner: Visitor
) -> None:
    user_id = world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    globex = world.organization("globex")
    world.member(globex, user_id, "member")
    world.connection.execute("UPDATE organizations SET name = %s WHERE id = %s", (HOSTILE, globex))
    world.organization("unrelated")

    everything = await owner.open(PAGE)
    by_name = await owner.open(f"{PAGE}?search=BOLT")
    nothing = await owner.open(f"{PAGE}?search=unrelated")

    assert everything.text.index(f'href="{PAGE}/acme"') < everything.text.index(f'href="{PAGE}/globex"')
    assert "2 found" in everything.text
    assert HOSTILE not in everything.text
    assert not shows(everything.text, "unrelated")
    assert f'href="{PAGE}/globex"' in by_name.text
    assert f'href="{PAGE}/acme"' not in by_name.text
    assert "No organization of yours has this" in nothing.text


async def test_a_long_list_goes_on_after_the_last_slug(world: World, owner: Visitor) -> None:
    user_id = world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    for number in range(30):
        world.member(world.organization(f"team-{number:02}"), user_id, "member")

    first = await owner.open(f"{PAGE}?search=team")
    second = await owner.open(f"{PAGE}?search=team&after=team-24")

    assert 'href="/app/organizations?search=team&amp;after=team-24"' in first.text
    assert "30 found" in second.text
    assert f'href="{PAGE}/team-24"' not in second.text
    assert f'href="{PAGE}/team-25"' in second.text
    assert 'href="/app/organizations?search=team"' in second.text


async def test_an_organization_is_created_and_waits_for_approval(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    overview = await visitor.submit(await visitor.open(PAGE), PAGE, name="Harbour", slug="harbour")

    assert "The organization is created." in overview.text
    assert "This organization waits for approval." in overview.text
    assert world.value("SELECT status FROM organizations WHERE slug = 'harbour'") == "pending"
    assert "GATEHOUSE_AUTO_APPROVE=on" in overview.text


async def test_a_slug_that_is_left_empty_is_made_of_the_name_and_the_page_says_which(
    world: World, visitor: Visitor
) -> None:
    world.user()
    await visitor.sign_in()

    overview = await visitor.submit(await visitor.open(PAGE), PAGE, name="Harbour & Works", slug=" ")
    refused = await visitor.submit(await visitor.open(PAGE), PAGE, name="東京", slug="")

    assert "<code>harbour-works</code>" in overview.text
    assert refused.status == 400
    assert "A slug has" in refused.text


@pytest.mark.parametrize(("slug", "problem"), [("acme", "has this slug already"), ("-", "slug"), ("api", "reserved")])
async def test_a_refused_slug_keeps_what_was_typed(owner: Visitor, slug: str, problem: str) -> None:
    page = await owner.submit(await owner.open(PAGE), PAGE, name="Harbour & Works", slug=slug)

    assert page.status in {400, 409}
    assert 'value="Harbour &amp; Works"' in page.text
    assert f'value="{slug}"' in page.text
    assert 'aria-invalid="true"' in page.text
    assert problem in page.text


async def test_the_overview_counts_sign_ins_and_says_what_is_not_set_up(world: World, owner: Visitor) -> None:
    page = await owner.open(f"{PAGE}/acme")

    assert "Sign-ins of the last 30 days" in page.text
    assert "Add a service" in page.text
    assert "curl http" in page.text
    assert "/api/organizations/acme" in page.text


async def test_the_overview_names_what_fails(world: World, owner: Visitor) -> None:
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    world.connection.execute(
        """
        INSERT INTO mail_servers (organization_id, host, port, tls, from_name, from_email, created_at, updated_at,
                                  failing_since)
        VALUES (%s, 'mail.example', 25, 'none', 'Acme', 'acme@acme.example', now(), now(), %s)
        """,
        (acme, world.clock() - PERIOD),
    )

    assert "Your mail server has refused mail since" in (await owner.open(f"{PAGE}/acme")).text


async def test_outside_of_development_no_page_tells_how_none_waits(world: World) -> None:
    acme = world.organization("acme")
    world.member(acme, world.user(), "owner")
    world.set_organization_status(acme, "pending")
    owner = Visitor(serving(replace(world.installation, settings=Settings(dev=False, base_url="https://id.example"))))
    await owner.sign_in()

    assert "GATEHOUSE_AUTO_APPROVE=on" not in (await owner.open(f"{PAGE}/acme")).text


async def test_an_organization_that_is_not_active_says_so_and_shows_no_numbers(world: World, owner: Visitor) -> None:
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    for status, sentence in (
        ("pending", "waits for approval"),
        ("rejected", "was not approved"),
        ("suspended", "is suspended"),
    ):
        world.set_organization_status(acme, status)

        page = await owner.open(f"{PAGE}/acme")

        closed = await owner.open(f"{PAGE}/acme/services")

        assert sentence in page.text
        assert closed.status == 403
        assert f'href="{PAGE}/acme"' in closed.text
        assert "Sign-ins of the last 30 days" not in page.text


async def test_a_foreign_organization_is_refused_and_an_unknown_one_is_not_found(world: World, owner: Visitor) -> None:
    world.organization("globex")

    assert (await owner.open(f"{PAGE}/globex")).status == 403
    assert (await owner.open(f"{PAGE}/nowhere")).status == 404


def test_the_call_of_a_page_is_quoted_for_a_shell() -> None:
    [route] = [one for one in services.routes.routes if one.operation_id == "services_create_service"]
    program = Program("services_create_service", "acme", query={"search": "o'neill & co", "after": ""}, body={"a": 1})

    assert program.curl(route, "https://id.example") == (
        "curl -X POST 'https://id.example/api/organizations/acme/services?search=o%27neill+%26+co' \\\n"
        '  -H "Authorization: Bearer $TOKEN" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        "  -d '{\"a\":1}'"
    )


async def test_the_pages_of_an_organization_have_its_brand_and_name_both(world: World, owner: Visitor) -> None:
    organization_id = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    world.connection.execute("UPDATE organizations SET name = %s WHERE id = %s", (HOSTILE, organization_id))
    await world.installation.database.transact(_branded, organization_id)

    page = (await owner.open(f"{PAGE}/acme/people")).text
    elsewhere = (await owner.open(PAGE)).text

    title = page.split("<title>")[1].partition("</title>")[0]
    assert title.split() == ["People", "·", "Members", "·", *str(escape(HOSTILE)).split(), "·", "Gatehouse"]
    [sheet] = re.findall(r'href="(/branding/[^"]+\.css)"', page)
    colors = (await owner.open(sheet)).text
    # Yellow itself on buttons; text in it is darkened until it is readable.
    assert "--accent: #ffee00" in colors
    assert "--accent-text: #ffee00" not in colors.partition("dark")[0]
    assert HOSTILE not in page
    assert "/branding/" not in elsewhere


async def test_an_organization_that_is_not_active_has_no_brand_in_its_console(world: World, owner: Visitor) -> None:
    organization_id = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    await world.installation.database.transact(_branded, organization_id)
    world.set_organization_status(organization_id, "suspended")

    page = await owner.open(f"{PAGE}/acme")

    assert (page.status, "/branding/" in page.text) == (200, False)


async def test_sections_that_the_role_does_not_open_stand_under_more_with_what_they_take(
    world: World, owner: Visitor
) -> None:
    everything = (await owner.open(f"{PAGE}/acme")).text
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    world.member(acme, world.user("eli@example.com"), "member")
    owner.cookies.clear()
    await owner.sign_in("eli@example.com")
    text = (await owner.open(f"{PAGE}/acme")).text.partition("<main")[0]

    more = text.partition('class="closed-sections"')[2].partition("</details>")[0]
    assert "closed-sections" not in everything
    assert "<code>webhooks.manage</code>" in more
    assert f'href="{PAGE}/acme/webhooks"' not in text
    assert f'href="{PAGE}/acme/people"' in text.replace(more, "")


def _branded(uow: UnitOfWork, organization_id: UUID) -> None:
    branding = Branding(primary_color="#ffee00", background_color="#000000", updated_at=uow.now)
    uow.branding.save(organization_id, branding)
