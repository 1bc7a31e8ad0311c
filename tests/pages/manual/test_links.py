"""The reference, the errors and the consoles lead to the page of the manual that tells of them."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import ErrorCode
from entrypoints.pages.console import sections
from entrypoints.pages.console.sections import SectionGroup
from entrypoints.pages.manual import links
from entrypoints.pages.manual.contents import pages
from entrypoints.web.serving.application import Application
from tests.application import Client
from tests.world.team import Team
from tests.world.visitor import Visitor

# They have nothing to explain.
WITHOUT_PAGE = {"", "/my-applications", "/name", "/email"}


def in_navigation(groups: tuple[SectionGroup, ...]) -> set[str]:
    return {one.path for group in groups for one in group.sections if not one.is_within}


def targets() -> Iterator[str]:
    yield from links.OF_CAPABILITIES.values()
    yield from (page for page in (links.OF_CODES.get(code) for code in ErrorCode) if page is not None)
    for of_console in (links.OF_ORGANIZATION, links.OF_PLATFORM, links.OF_ACCOUNT):
        yield from of_console.values()


def test_every_target_is_a_page_and_a_section() -> None:
    for target in targets():
        slug, _, anchor = target.partition("#")
        assert not anchor or anchor in {one.heading.anchor for one in pages()[slug].sections}, target


def test_every_capability_has_a_page(application: Application) -> None:
    assert {route.capability for route in application.paths.routes} == set(links.OF_CAPABILITIES)


def test_every_section_of_the_consoles_has_a_page() -> None:
    assert in_navigation(sections.OF_ORGANIZATION) - set(links.OF_ORGANIZATION) == set()
    assert in_navigation(sections.OF_PLATFORM) - set(links.OF_PLATFORM) == set()
    assert in_navigation(sections.OF_ACCOUNT) - set(links.OF_ACCOUNT) == WITHOUT_PAGE


async def test_operations_and_errors_lead_to_the_manual(client: Client) -> None:
    area = (await client.get("/docs/reference/webhooks")).text
    with_page = (await client.get("/docs/errors/RATE_LIMIT_EXCEEDED")).text
    without = (await client.get("/docs/errors/GONE")).text

    assert area.count('href="/docs/manual/webhooks"') > 5
    assert 'href="/docs/manual/limits"' in with_page
    assert "/docs/manual/" not in without


async def test_the_pages_of_the_consoles_lead_to_the_manual_of_this_version(team: Team, visitor: Visitor) -> None:
    await visitor.sign_in("owner@example.com")

    for page, target in (
        ("organizations/acme/webhooks", "webhooks"),
        ("organizations/acme/webhooks/new", "webhooks"),
        ("organizations/acme/sign-in", "single-sign-on#the-identity-provider-of-an-organization"),
        ("account/passkeys", "sign-in#passkeys"),
    ):
        html = (await visitor.open(f"/app/{page}")).text
        assert f'href="/docs/manual/{target}">More in the manual of version ' in html


async def test_the_search_of_a_console_finds_the_manual_last(team: Team, visitor: Visitor) -> None:
    await visitor.sign_in("owner@example.com")

    html = (await visitor.open("/app/organizations/acme/search?q=webhook")).text

    assert 'href="/docs/manual/webhooks#creating-a-webhook"' in html
    assert html.rindex('href="/docs/manual/webhooks#') > html.rindex('href="/docs/reference/')
