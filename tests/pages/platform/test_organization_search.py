"""The searches of an organization's console and of one's own account."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

ACME = "/app/organizations/acme"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, a member, and things to find; another one has things with the same names."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    globex = world.organization("globex")
    world.member(globex, world.user("bobby@example.com"), "owner")
    for slug, organization_id in (("acme", team.organization_id), ("globex", globex)):
        service = world.service(organization_id, f"harbour-{slug}", name=f"Harbour {slug}")
        world.link(organization_id, service.id, world.user(f"eli@{slug}.example"))
        world.custom_role(organization_id, f"clerk-{slug}", "org.members.view")
        world.mail_domain(organization_id, f"mail.{slug}.example")
        world.connection.execute(
            """
            INSERT INTO webhooks (id, organization_id, name, url, events, is_active, secret_sealed, created_at,
                                  updated_at)
            SELECT gen_random_uuid(), %s, %s, 'https://hooks.example/', '{user.created}', true, '', now(), now()
            """,
            (organization_id, f"Hook {slug}"),
        )
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def led_to(visitor: Visitor, text: str, page: str = f"{ACME}/search") -> str | None:
    """Return the address to which a search leads at once; None when it shows its page."""
    answer = await visitor.send("GET", f"{page}?q={quote(text)}")
    assert answer.status in {200, 303}
    return answer.headers["Location"] if answer.status == 303 else None


async def test_what_fits_exactly_or_alone_is_opened_at_once(
    people: Team, ann: Visitor, subtests: pytest.Subtests
) -> None:
    bob = people.world.value("SELECT id FROM users WHERE email = 'bob@example.com'")
    eli = people.world.value("SELECT id FROM users WHERE email = 'eli@acme.example'")

    for text, page in (
        (" Webhooks ", "/webhooks"),
        ("logo", "/branding"),
        ("BOB@example.com", f"/people/{bob}"),
        ("eli@", f"/people/end-users/{eli}"),
        ("harbour", "/services/harbour-acme"),
        ("clerk-acme", "/roles/clerk-acme"),
        ("two-factor", "/sign-in/second-factors"),
        ("transfer", "/settings/ownership"),
    ):
        with subtests.test(text=text):
            assert await led_to(ann, text) == ACME + page


async def test_several_hits_are_listed_by_kind_with_the_documentation(ann: Visitor) -> None:
    text = (await ann.open(f"{ACME}/search?q=mail")).text

    assert f'href="{ACME}/mail"' in text
    assert "mail.acme.example" in text
    assert "mail.globex.example" not in text
    assert 'href="/docs/reference/' in text
    assert 'value="mail"' in text


async def test_nothing_of_another_organization_is_found(ann: Visitor) -> None:
    for text in ("globex", "eli@globex.example", "harbour-globex", "clerk-globex", "Hook globex", "bobby@example.com"):
        assert "Nothing is called" in (await ann.open(f"{ACME}/search?q={quote(text)}")).text


async def test_another_organization_of_one_s_own_is_found_by_name(people: Team, ann: Visitor) -> None:
    world = people.world
    user_id = world.value("SELECT id FROM users WHERE email = 'ann@example.com'")
    world.member(world.organization("quarry", name="Stone Works"), user_id, "member")

    assert await led_to(ann, "stone w") == "/app/organizations/quarry"
    assert await led_to(ann, "quarry", "/app/account/search") == "/app/organizations/quarry"


async def test_a_role_finds_only_what_its_lists_show(people: Team, ann: Visitor) -> None:
    assert await led_to(ann, "Hook acme") is not None
    ann.cookies.clear()
    await ann.sign_in("bob@example.com")

    for text in ("Hook acme", "mail.acme.example", "branding", "webhooks"):
        page = (await ann.open(f"{ACME}/search?q={quote(text)}")).text
        assert f'href="{ACME}/branding"' not in page
        assert f'href="{ACME}/webhooks' not in page
        assert not shows(page, "mail-domains")
    assert await led_to(ann, "harbour") == f"{ACME}/services/harbour-acme"


async def test_an_organization_that_is_not_active_has_its_sections_alone(people: Team, ann: Visitor) -> None:
    people.world.set_organization_status(
        people.world.value("SELECT id FROM organizations WHERE slug = 'acme'"), "suspended"
    )

    assert "Nothing is called" in (await ann.open(f"{ACME}/search?q=harbour")).text
    assert await led_to(ann, "settings") == f"{ACME}/settings"


async def test_a_stranger_finds_nothing(people: Team, visitor: Visitor) -> None:
    people.world.user("dora@example.com")
    await visitor.sign_in("dora@example.com")

    for text in ("", "people", "harbour"):
        assert (await visitor.send("GET", f"{ACME}/search?q={text}")).status == 403


async def test_sections_are_found_in_the_language_of_the_page(people: Team, ann: Visitor) -> None:
    german = {"Accept-Language": "de"}
    answers = [
        await ann.send("GET", f"{page}?q={quote(text)}", headers=german)
        for page, text in ((f"{ACME}/search", "Mitarbeiter"), ("/app/account/search", "Kennwort"))
    ]

    assert [answer.headers.get("Location") for answer in answers] == [f"{ACME}/people", "/app/account/password"]


async def test_any_text_is_only_a_text(people: Team, ann: Visitor) -> None:
    for text in ("", " ", "%", "_", "'", HOSTILE, "x" * 254, ".", "a/b", "\\", "(", "ß"):
        for page in (f"{ACME}/search", "/app/account/search"):
            answer = await ann.open(f"{page}?q={quote(text)}")
            assert answer.status == 200
            assert "<b onclick" not in answer.text
    assert (await ann.send("GET", f"{ACME}/search?q={'x' * 255}")).status == 400
