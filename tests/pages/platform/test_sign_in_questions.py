"""The page on which an organization finds out why a member or end user cannot sign in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from core.organizations.choices import CHOICES_MAX
from core.platform.sign_in_checks import RuleVerdict, SignInWay
from core.rate_limits import RateLimit
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from core.sign_in.upstream.provider_problems import ProviderProblem
from entrypoints.installation import Installation
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.sign_in import rules
from tests.application import Answer, serving_with_rate_limits
from tests.world.builder import EMAIL
from tests.world.team import Team
from tests.world.visitor import Visitor, without_tokens
from tests.world.world import World

PAGE = "/app/organizations/acme/why"
HOSTILE = "<b onclick=alert(1)>'\"{{7*7}}"


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner, a member, a service and a custom role."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    world.service(team.organization_id, "shop")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def people_in(text: str) -> list[str]:
    """Return the addresses that a page lets its reader choose from."""
    return re.findall('name="email" type="radio" value="([^"]+)"', text)


def execute(world: World, statement: Any, *values: object) -> None:
    """Change the tables."""
    world.connection.execute(statement, values)


def words_of_rules() -> Iterator[str]:
    """Return every text of a rule and of what it answers."""
    for rule in Rule:
        yield rules.SETTINGS[rule]
        yield from (rules.title_of(rule, way) for way in SignInWay)
        for reason in (None, *SignInReason):
            yield rules.because(rule, reason)
            yield from (rules.next_step(rule, reason, is_platform=one) for one in (False, True))
    yield from (rules.problem_text(problem) for problem in ProviderProblem)
    yield from (rules.VERDICTS[verdict][1] for verdict in RuleVerdict)
    yield from (rules.WAYS[way] for way in SignInWay)


def test_every_rule_reason_and_problem_has_words_in_every_language() -> None:
    texts = set(words_of_rules()) - {""}

    assert {rules.because(Rule.ACCOUNT, reason) for reason in SignInReason} <= texts
    for tag in LANGUAGES.keys() - {"en"}:
        # A word may be the same in both.
        same = {text for text in texts if LANGUAGES[tag].known(text) == text}
        assert same <= {"Passkey"}, tag


async def test_the_page_begins_with_an_example(ann: Visitor) -> None:
    page = await ann.open(PAGE)

    assert page.status == 200
    assert "What you will read" in page.text
    assert '<option value="shop">Shop (shop)</option>' in page.text
    assert "/api/organizations/acme/why?email=ann%40example.com" in page.text
    assert "What you can do" not in page.text


async def test_it_says_which_rule_refuses_and_what_to_do(world: World, acme: Team, ann: Visitor) -> None:
    execute(world, "UPDATE users SET password_hash = NULL WHERE email = 'cid@example.com'")
    await world.log_in("cid@example.com", "wrong", org_slug="acme")

    one = (await ann.open(f"{PAGE}?email=%20CID@example.com&way=password&service=shop")).text
    every = (await ann.open(f"{PAGE}?email=cid@example.com")).text

    assert "cid@example.com cannot sign in with a password." in one
    assert "The account has no password. <strong>Ask the user to choose one" in one
    assert "Not reached" in one
    assert "email=CID%40example.com&amp;service=shop&amp;way=password" in one
    assert "Nothing refuses cid@example.com by these ways: Mailed link or code." in every
    assert "A password was given, and the account has none." in every
    assert "The account has no passkey." in every
    assert f"{PAGE.removesuffix('/why')}/people/invited?search=cid%40example.com" in every
    assert "What these rules depend on" in every
    assert 'href="/app/organizations/acme/services">Services</a>' in one
    assert len(every.encode()) < 40 * 1024


async def test_the_rule_that_refuses_is_first_what_passed_is_folded_and_what_is_not_shown_is_one_line(
    world: World, acme: Team, ann: Visitor
) -> None:
    execute(world, "UPDATE users SET password_hash = NULL WHERE email = 'cid@example.com'")
    world.member(acme.organization_id, world.user(), is_confirmed=False)

    refused = _panel(await ann.open(f"{PAGE}?email=cid@example.com&way=password"))
    passing = _panel(await ann.open(f"{PAGE}?email=cid@example.com&way=link"))
    untold = _panel(await ann.open(f"{PAGE}?email={EMAIL}&way=password"))

    assert re.search(r'<ul class="checks telling">\s*<li>[^/]*>Refuses<', refused)
    assert ">Passes<" not in refused.partition("<details")[0]
    folded = int(re.findall(r"<summary>(\d+) rules pass</summary>", refused)[0])
    assert folded == refused.count(">Passes<") > 1
    assert "checks telling" not in passing
    assert passing.count(">Passes<") == int(re.findall(r"(\d+) rules pass", passing)[0])
    assert untold.count(">Not shown<") == 1
    assert re.search(r"\d+ rules that concern the account alone", untold)


def _panel(page: Answer) -> str:
    """Return the panel of the first way."""
    return page.text.partition('id="way-1"')[2].partition("</section>")[0]


async def test_it_says_that_nothing_refuses(world: World, acme: Team, ann: Visitor) -> None:
    page = await ann.open(f"{PAGE}?email=cid@example.com&way=link")

    assert "Nothing refuses cid@example.com." in page.text
    assert "No attempt that concerns your organization is recorded." in page.text
    nothing = await ann.open(f"{PAGE}?email=cid@example.com&way=connection")
    assert "Your organization has no connection." in nothing.text
    any_way = await ann.open(f"{PAGE}?email=cid@example.com&way=knocking")
    assert "Refused" in any_way.text


async def test_one_reason_for_all_ways_is_said_once(world: World, acme: Team, ann: Visitor) -> None:
    execute(world, "UPDATE users SET deactivated_at = created_at WHERE email = 'cid@example.com'")

    page = await ann.open(f"{PAGE}?email=cid@example.com")

    assert "cid@example.com cannot sign in in any way." in page.text
    answer = page.text.partition("What you can do")[0]
    assert "<li>Password, Mailed link or code: The account is deactivated." in answer
    assert answer.count("The account is deactivated.") == 1


@pytest.mark.parametrize("query", ["", "&service=shop", "&way=passkey", "&service=none"])
async def test_the_address_of_another_tenant_and_an_unknown_one_look_alike(
    world: World, acme: Team, ann: Visitor, query: str
) -> None:
    other = world.organization("bolt")
    world.member(other, world.user("member@bolt.example"))
    world.user("closed@bolt.example", is_active=False)
    world.user("unproved@bolt.example", is_verified=False)
    await world.log_in("member@bolt.example", "wrong", org_slug="bolt")
    await world.log_in("member@bolt.example", "wrong")

    def masked(text: str, email: str) -> str:
        for one in (email, quote(email), quote(email, safe="")):
            text = text.replace(one, "X")
        return text

    pages = set[str]()
    for email in ("member@bolt.example", "closed@bolt.example", "unproved@bolt.example", "unknown@bolt.example"):
        page = await ann.open(f"{PAGE}?email={email}{query}")
        assert page.status == 200
        assert email in page.text
        pages.add(masked(without_tokens(page.text), email))

    assert len(pages) == 1
    assert "acme has no member and no end user with the address X." in pages.pop().replace("Acme", "acme")


async def test_of_a_person_who_has_confirmed_nothing_the_account_is_not_shown(
    world: World, acme: Team, ann: Visitor
) -> None:
    world.member(acme.organization_id, world.user(), is_confirmed=False)
    before = without_tokens((await ann.open(f"{PAGE}?email={EMAIL}")).text)
    execute(world, "UPDATE users SET deactivated_at = created_at, password_hash = NULL WHERE email = %s", EMAIL)

    after = without_tokens((await ann.open(f"{PAGE}?email={EMAIL}")).text)

    assert after == before
    assert "This person has not confirmed that they belong to your organization." in after
    assert "Not shown" in after


@pytest.mark.parametrize(
    "email",
    [
        "j%C3%B6rg@b%C3%BCcher.example",
        "a@xn--.example",
        quote(HOSTILE),
        "%ED%A0%80",
        "%00",
        "%E2%80%AE@example.com",
        "0191d3c1-0000-7000-8000-00000000000f",
        "a" * 254,
        "'%3B%20DROP%20TABLE%20users--",
    ],
)
async def test_odd_addresses_and_services_are_no_failure(ann: Visitor, email: str) -> None:
    for query in (f"email={email}", f"email=cid@example.com&service={email[:90]}"):
        page = await ann.open(f"{PAGE}?{query}")

        assert page.status in {200, 400}
        assert "<b onclick" not in page.text


async def test_an_account_in_an_international_domain_is_found(world: World, acme: Team, ann: Visitor) -> None:
    world.member(acme.organization_id, world.user("jorg@xn--bcher-kva.example"))

    page = await ann.open(f"{PAGE}?email={quote('Jorg@bücher.example')}&way=password")

    assert "Nothing refuses jorg@xn--bcher-kva.example." in page.text


async def test_hostile_names_and_user_agents_are_text(world: World, acme: Team, ann: Visitor) -> None:
    execute(world, "UPDATE services SET name = %s", HOSTILE)
    await world.client.request(
        "POST",
        "/api/auth/login",
        body={"email": "cid@example.com", "password": "wrong", "org_slug": "acme", "service_slug": "shop"},
        headers={"User-Agent": HOSTILE},
    )

    page = await ann.open(f"{PAGE}?email=cid@example.com")

    assert "The password was wrong." in page.text
    assert "<b onclick" not in page.text
    assert "&lt;b onclick" in page.text


async def test_the_page_is_in_german(world: World, acme: Team, ann: Visitor) -> None:
    execute(world, "UPDATE users SET password_hash = NULL WHERE email = 'cid@example.com'")

    page = await ann.send("GET", f"{PAGE}?email=cid@example.com", headers={"Accept-Language": "de"})

    assert "Nichts lehnt cid@example.com auf diesen Wegen ab" in page.text
    assert "Das Konto hat kein Passwort." in page.text


async def test_a_role_without_the_capability_is_refused(world: World, acme: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    assert (await visitor.open(f"{PAGE}?email=ann@example.com")).status == 403


async def test_a_role_sees_which_capability_opens_the_members(world: World, acme: Team, visitor: Visitor) -> None:
    acme.custom_role("desk", "end_users.manage")
    acme.add("dora", "desk")
    await visitor.sign_in("dora@example.com")

    page = await visitor.open(f"{PAGE}?email=cid@example.com")

    assert "(needs <code>org.members.view</code>)" in page.text
    assert "(needs <code>org.members.manage</code>)" in page.text
    assert "/people?search" not in page.text
    assert '<input id="service"' in page.text


async def test_a_service_is_chosen_and_searched_where_there_are_very_many(
    world: World, acme: Team, ann: Visitor
) -> None:
    chosen = (await ann.open(f"{PAGE}?service=shop")).text
    unknown = (await ann.open(f"{PAGE}?service=sh")).text
    for number in range(CHOICES_MAX):
        world.service(acme.organization_id, f"service-{number}")
    many = (await ann.open(f"{PAGE}?service=shop")).text
    searched = (await ann.open(f"{PAGE}?find_service=SERVICE-4&service=shop")).text

    assert '<select id="service"' in chosen
    assert '<option value="shop" selected>Shop (shop)</option>' in chosen
    # What the address of the page says stays.
    assert '<option value="sh" selected>sh</option>' in unknown
    assert '<select id="service"' not in many
    assert 'name="service" type="radio" value="shop" checked' in many
    assert searched.count('name="service" type="radio" value="service-4') == 10
    assert "There are more." in searched
    assert 'name="service" type="radio" value="shop" checked' in searched


async def test_people_are_found_by_a_part_of_the_address_and_asked_about_when_chosen(
    world: World, acme: Team, ann: Visitor
) -> None:
    shop = world.rows("SELECT id FROM services")[0][0]
    world.link(acme.organization_id, shop, world.user("cindy@example.com"))
    world.member(world.organization("bolt"), world.user("cicero@example.com"))

    found = (await ann.open(f"{PAGE}?find_email=CI&service=shop")).text
    chosen = (await ann.open(f"{PAGE}?find_email=CI&email=cid@example.com&way=password")).text
    other = (await ann.open(f"{PAGE}?find_email=cin&email=cid@example.com")).text
    whole = (await ann.open(f"{PAGE}?find_email=cid@example.com")).text
    stranger = (await ann.open(f"{PAGE}?find_email=cicero")).text

    assert people_in(found) == ["cid@example.com", "cindy@example.com"]
    assert "What you can do" not in found
    assert '<option value="shop" selected>' in found
    assert "Nothing refuses cid@example.com." in chosen
    # A search for another person is no question about the one before.
    assert people_in(other) == ["cindy@example.com"]
    assert "What you can do" not in other
    assert "Nothing refuses cid@example.com by these ways" in whole
    assert people_in(stranger) == []
    assert "Nothing that you may see has this" in stranger


async def test_who_sees_neither_members_nor_end_users_types_what_is_asked(
    world: World, acme: Team, visitor: Visitor
) -> None:
    acme.custom_role("desk", "end_users.manage")
    acme.add("dora", "desk")
    await visitor.sign_in("dora@example.com")

    page = await visitor.open(f"{PAGE}?find_email=cid&service=shop")
    whole = await visitor.open(f"{PAGE}?find_email=cid@example.com&service=shop")

    assert people_in(page.text) == []
    assert '<input id="service" name="service" value="shop"' in page.text
    assert '<input id="customer" name="customer"' in page.text
    assert "What you can do" in whole.text


async def test_questions_on_the_page_and_of_programs_have_one_limit(
    installation: Installation, acme: Team, ann: Visitor
) -> None:
    ann.client = serving_with_rate_limits(installation)
    statuses = [(await ann.open(f"{PAGE}?email=cid@example.com")).status for _ in range(RateLimit.EXPLANATION.burst)]

    assert set(statuses) == {200}
    assert (await ann.open(f"{PAGE}?email=cid@example.com")).status == 429
    # The page without a question costs nothing.
    assert (await ann.open(PAGE)).status == 200
