"""The frame of the consoles and of one's own account: the way to a page, what is to be set up, and who approves."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

from core.mail.mail import MailTemplate
from core.mail.mail_samples import OF_ACCOUNTS
from core.organizations.access import Operation
from core.organizations.organizations import OrganizationStatus
from entrypoints.pages.console.sections import OF_ACCOUNT, OF_ORGANIZATION, OF_PLATFORM
from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.visitor import Visitor
from tests.world.world import World

ACME = "/app/organizations/acme"
PEOPLE = f"{ACME}/people"
ORIGIN = "http://localhost:8000"


def way_of(page: Answer) -> list[tuple[str, str]]:
    """Return the pages above a page: the text and the address of each."""
    way = page.text.partition('<nav class="crumbs"')[2].partition("</nav>")[0]
    return [(text, href) for href, text in re.findall(r'<a href="([^"]*)">([^<]*)</a>', way)]


def steps_of(page: Answer) -> dict[str, bool]:
    """Return the steps of a checklist, and which are done."""
    part = page.text.partition('id="steps"')[2].partition("</ol>")[0]
    rows = re.findall(
        r'<span class="step-mark( done)?".*?<span class="unseen">\d+\. </span>(.*?) <span', part, re.DOTALL
    )
    return {title: bool(done) for done, title in rows}


@pytest.fixture
def acme(world: World) -> UUID:
    """An active organization of the account of the tests."""
    acme = world.organization("acme")
    world.member(acme, world.user(), "owner")
    return acme


@pytest.fixture
async def owner(acme: UUID, visitor: Visitor) -> Visitor:
    """A browser in which its owner has signed in."""
    await visitor.sign_in()
    return visitor


@pytest.fixture
async def platform_owner(world: World, visitor: Visitor) -> Visitor:
    """A browser in which a platform owner has signed in, who owns an organization that waits for approval."""
    user_id = world.user(is_platform_owner=True)
    acme = world.organization("acme", status="pending")
    world.member(acme, user_id, "owner")
    await visitor.sign_in()
    return visitor


async def test_a_page_leads_to_those_above_it_and_back_to_a_list_as_it_was_filtered(
    world: World, acme: UUID, owner: Visitor
) -> None:
    eli = world.user("eli@example.com")
    world.member(acme, eli, "member")
    base = world.installation.settings.base_url

    async def above(referrer: str) -> list[tuple[str, str]]:
        return way_of(await owner.send("GET", f"{PEOPLE}/{eli}", headers={"Referer": referrer}))

    plain = [("Acme", ACME), ("People", PEOPLE)]
    assert await above(f"{base}{PEOPLE}?search=eli%40&role=member") == [
        ("Acme", ACME),
        ("People", f"{PEOPLE}?search=eli%40&amp;role=member"),
    ]
    assert (await above(f"{base}{PEOPLE}?done=removed&search=eli"))[1] == ("People", f"{PEOPLE}?search=eli")
    assert await above(f"{base}{PEOPLE}?done=removed") == plain
    assert await above(f"{base}{PEOPLE}/{eli}?search=eli") == plain
    assert await above(f"https://elsewhere.example{PEOPLE}?search=eli") == plain
    assert await above("http://[") == plain
    assert await above("") == plain
    hostile = await owner.send("GET", f"{PEOPLE}/{eli}", headers={"Referer": f'{base}{PEOPLE}?"><script>'})
    assert '"><script>' not in hostile.text


async def test_the_sections_are_one_table_whose_groups_fold_and_the_present_one_is_marked(owner: Visitor) -> None:
    page = await owner.open(f"{ACME}/roles")

    groups = re.findall(r'<details class="section-group" open><summary>([^<]+)</summary>', page.text)
    assert groups == ["People and access", "Applications", "Sign-in", "Integrations", "Organization"]
    assert re.findall(r'<li><a href="([^"]+)" aria-current="page">', page.text) == [f"{ACME}/roles"]
    for console in (OF_ORGANIZATION, OF_PLATFORM, OF_ACCOUNT):
        paths = [section.path for group in console for section in group.sections]
        assert len(paths) == len(set(paths))
    asked = {one.asks for group in OF_ORGANIZATION for one in group.sections if one.path}
    assert None not in asked
    assert asked <= set(Operation)


async def test_a_new_organization_says_what_is_done_and_begins_with_a_kind_of_application(
    world: World, acme: UUID, owner: Visitor
) -> None:
    before = await owner.open(ACME)
    world.service(acme, "shop")
    world.connection.execute("UPDATE users SET mfa_enabled_at = %s WHERE email = %s", (world.clock(), EMAIL))
    after = await owner.open(ACME)

    assert f'href="{ACME}/services/new?kind=web"' in before.text
    assert not any(steps_of(before).values())
    assert len(steps_of(before)) == 7
    assert {title for title, is_done in steps_of(after).items() if is_done} == {
        "Add a service",
        "Protect your own account",
    }
    assert "2 of 7 done" in after.text
    assert f'href="{ACME}/services/new?kind=web"' not in after.text


async def test_a_platform_owner_approves_their_own_organization_where_it_waits(
    world: World, platform_owner: Visitor
) -> None:
    waiting = await platform_owner.open(ACME)
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    approved = await platform_owner.submit(waiting, f"/app/platform/organizations/{acme}/approve")

    assert "Approve now" in waiting.text
    assert "The organization is approved." in approved.text
    assert way_of(approved)[0][1] == "/app/organizations"
    assert "Set up your organization" in approved.text
    assert world.value("SELECT status FROM organizations") == OrganizationStatus.ACTIVE


async def test_the_overview_of_the_platform_approves_and_comes_back(world: World, platform_owner: Visitor) -> None:
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    overview = await platform_owner.open("/app/platform")
    approved = await platform_owner.submit(overview, f"/app/platform/organizations/{acme}/approve")

    assert "The organization is approved." in approved.text
    assert "Set up this installation" in approved.text
    assert "Approve now" not in approved.text


async def test_who_may_not_approve_is_offered_nothing(world: World, acme: UUID, owner: Visitor) -> None:
    world.set_organization_status(acme, "pending")

    assert "Approve now" not in (await owner.open(ACME)).text


async def test_a_new_installation_says_what_is_done(world: World, platform_owner: Visitor) -> None:
    before = steps_of(await platform_owner.open("/app/platform"))
    acme = world.value("SELECT id FROM organizations WHERE slug = 'acme'")
    service = world.service(acme, "shop").id
    world.connection.execute(
        "INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)"
        " SELECT %s, %s, id, now(), now() FROM users",
        (service, acme),
    )
    world.connection.execute("INSERT INTO recovery_runs (kind, succeeded_at) VALUES ('backup', now())")
    world.connection.execute("UPDATE users SET mfa_enabled_at = now()")
    after = steps_of(await platform_owner.open("/app/platform"))

    assert [title for title, is_done in before.items() if is_done] == ["Create your organization"]
    assert {title for title in after if after[title] and not before[title]} == {
        "Protect your own account",
        "Connect an application",
        "See a first sign-in",
        "Make a backup",
    }


async def test_a_founder_is_asked_for_an_organization_first_and_a_user_of_an_application_is_not(
    world: World, visitor: Visitor
) -> None:
    world.user()
    await visitor.sign_in()

    account = await visitor.open("/app/account")
    created = await visitor.submit(account, "/app/organizations", name="Harbour & Works")
    later = await visitor.open("/app/account")

    assert account.text.index("Create your organization") < account.text.index('class="entries"')
    assert "<code>harbour-works</code>" in created.text
    assert "Create your organization" not in later.text


async def test_every_mail_is_previewed_with_the_brand_where_it_has_one(owner: Visitor) -> None:
    for mail in MailTemplate:
        shown = await owner.open(f"{ACME}/branding/preview?view=mail&mail={mail.value}")

        assert shown.status == 200, mail
        assert "<h1" in shown.text, mail
    editor = await owner.open(f"{ACME}/branding")

    assert editor.text.count('<option value="') >= len(MailTemplate)
    assert set(MailTemplate) > OF_ACCOUNTS
    assert shows(
        (await owner.open(f"{ACME}/branding/preview?view=mail&mail=password_changed")).text, "look of the platform"
    )


async def test_a_page_shows_its_calls_with_its_ids_also_after_a_refusal(
    world: World, acme: UUID, owner: Visitor
) -> None:
    world.service(acme, "shop")
    mail = await owner.open(f"{ACME}/mail")
    refused = await owner.submit(mail, f"{ACME}/mail", host="")

    tested = ("/docs/reference/mail-server#mail_server_test_mail_server", "POST /api/organizations/acme/smtp/test")
    assert calls_of(mail) == [tested]
    assert (refused.status, calls_of(refused)) == (400, [tested])
    assert [call for _, call in calls_of(await owner.open(f"{ACME}/services/shop"))] == [
        "PATCH /api/organizations/acme/services/shop"
    ]
    # What is shown as a command is not named again.
    assert "/api/organizations/acme/invitations" in (await owner.open(f"{PEOPLE}/invited")).text
    assert calls_of(await owner.open(f"{PEOPLE}/invited")) == []
    assert calls_of(await owner.open(f"{ACME}/analytics")) == []


def calls_of(page: Answer) -> list[tuple[str, str]]:
    """Return the address and the text of each further call of a page."""
    part = page.text.partition('<ul class="calls">')[2].partition("</ul>")[0]
    return [
        (address, f"{method} {path}")
        for calls, path in re.findall(r"<li>(.*?) ([^ <]+)</li>", part)
        for address, method in re.findall(r'<a href="([^"]+)">([^<]+)</a>', calls)
    ]
