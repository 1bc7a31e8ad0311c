"""The page on which the platform finds out why any user cannot sign in, and helps them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from core.accounts import sign_in_failures
from core.accounts.sign_in_failures import FAILURES_FROM_NETWORK_MAX
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from ports.unit_of_work import UnitOfWork
from tests.application import Answer, serving_with_rate_limits
from tests.world.builder import EMAIL
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor, forms_of, without_tokens
from tests.world.world import World

PAGE = "/app/platform/why"


@pytest.fixture
def settings() -> Settings:
    """Return settings with rate limits on; without them failed sign-ins limit nothing."""
    return Settings(dev=True)


async def fail(world: World, email: str) -> None:
    """Record as many failed attempts from one network as it may have."""

    def add(uow: UnitOfWork) -> None:
        for number in range(FAILURES_FROM_NETWORK_MAX):
            attempt_id = uow.randomness.new_id()
            at = uow.now - number * timedelta(seconds=1)
            mark = sign_in_failures.hash_address(uow, email)
            uow.sign_in_failures.add(attempt_id, mark, "192.0.2.0/24", at=at, session_id=None)
            uow.sign_in_failures.fail(attempt_id)

    await world.installation.database.transact(add)


def actions(page: Any) -> set[str]:
    """Return where the forms of the page are sent."""
    return {form.action for form in forms_of(page)} - {"/app/sign-out"}


async def press(visitor: Visitor, page: Answer, word: str) -> Answer:
    """Send the form of the page whose path ends with a word, which carries the question in its address."""
    [action] = [action for action in actions(page) if action.partition("?")[0] == f"{PAGE}/{word}"]
    return await visitor.submit(page, action)


async def test_a_user_is_named_by_address_or_id(callers: Callers, platform_owner: Visitor, support: Visitor) -> None:
    user_id = callers.world.user()
    nothing = await support.open(PAGE)

    for reader in (platform_owner, support):
        for query in (f"email={EMAIL}", f"email={user_id}", f"user_id={user_id}", f"email={EMAIL}&organization=acme"):
            page = await reader.open(f"{PAGE}?{query}")

            assert page.status == 200
            assert EMAIL in page.text
            assert f'href="/app/platform/users/{user_id}"' in page.text

    assert "What you will read" in nothing.text
    assert "is recorded in the audit log" in nothing.text
    assert f"/api/platform/why?user_id={user_id}" in (await support.open(f"{PAGE}?user_id={user_id}")).text
    assert f"/api/platform/why?email={quote(EMAIL)}" in (await support.open(f"{PAGE}?email={EMAIL}")).text
    recorded = callers.world.platform_audit_entries("user.opened")
    assert [entry[2] for entry in recorded] == [{"part": "sign_in_rules"}] * 6
    assert {entry[0] for entry in recorded} == {callers.people[Caller.SUPPORT]}


async def test_a_platform_owner_looks_to_support_like_an_unknown_address(callers: Callers, support: Visitor) -> None:
    callers.world.user("chief@example.com", is_platform_owner=True)

    owner = without_tokens((await support.open(f"{PAGE}?email=chief@example.com")).text)
    unknown = without_tokens((await support.open(f"{PAGE}?email=unknown@example.com")).text)

    assert "No account has this address." in owner
    assert owner.replace("chief", "unknown") == unknown
    assert callers.world.platform_audit_entries("user.opened") == []


async def test_people_organizations_and_services_are_searched_and_chosen(
    callers: Callers, platform_owner: Visitor, support: Visitor
) -> None:
    world = callers.world
    world.user("chief@example.com", is_platform_owner=True)
    user_id = world.user("chiara@example.com")
    team = world.team("zeta")
    world.service(team.organization_id, "desk")
    pattern = 'name="email" type="radio" value="([^"]+)"'

    by_support = await support.open(f"{PAGE}?find_email=CHI&find_organization=zet&organization=zeta&service=desk")
    by_owner = await platform_owner.open(f"{PAGE}?find_email=chi")
    by_id = await support.open(f"{PAGE}?find_email={user_id}")
    chosen = await support.open(f"{PAGE}?find_email=chi&email=chiara@example.com&way=password")

    assert re.findall(pattern, by_support.text) == ["chiara@example.com"]
    assert "What you can do" not in by_support.text
    assert re.search('value="zeta" (selected|checked)', by_support.text)
    assert '<option value="desk" selected>' in by_support.text
    assert '<input id="customer" name="customer"' not in by_support.text
    assert sorted(re.findall(pattern, by_owner.text)) == ["chiara@example.com", "chief@example.com"]
    assert "chiara@example.com" in by_id.text
    assert "Nothing refuses chiara@example.com." in chosen.text
    # Support searches, and the log has it.
    assert {entry[1] for entry in world.platform_audit_entries("list.narrowed")} >= {"users"}


async def test_the_limit_of_an_address_is_ended(callers: Callers, support: Visitor) -> None:
    world = callers.world
    user_id = world.user()
    await fail(world, EMAIL)

    page = await support.open(f"{PAGE}?email={EMAIL}&way=password")
    there = await support.open(f"{PAGE}?email={EMAIL}&way=password&network=192.0.2.77")
    elsewhere = await support.open(f"{PAGE}?email={EMAIL}&way=password&network=198.51.100.1")

    assert f"{EMAIL} may be refused: it depends on what stands here." in page.text
    assert "Nothing refuses" not in page.text
    assert "It concerns attempts from 192.0.2.0/24." in page.text
    assert f"{EMAIL} cannot sign in with a password." in there.text
    assert "This ends on" in there.text
    assert actions(elsewhere) == set()
    after = await press(support, there, "lift")
    assert "The limit is ended." in after.text
    assert f"Nothing refuses {EMAIL}." in after.text
    assert 'value="192.0.2.77"' in after.text
    assert [entry[1] for entry in world.platform_audit_entries("user.limits_lifted")] == [str(user_id)]


async def test_the_limit_of_an_address_without_an_account_is_ended_too(callers: Callers, support: Visitor) -> None:
    await fail(callers.world, "unknown@example.com")

    page = await support.open(f"{PAGE}?email=Unknown@example.com&network=192.0.2.1")
    after = await press(support, page, "lift")

    assert "There were too many failed sign-ins for this address." in page.text
    assert "The limit is ended." in after.text
    assert "No account has this address." in after.text


async def test_a_verification_is_sent_again_as_often_as_mails_may_be(
    callers: Callers, platform_owner: Visitor, installation: Installation
) -> None:
    world = callers.world
    platform_owner.client = serving_with_rate_limits(installation)
    world.user(is_verified=False)

    page = await platform_owner.open(f"{PAGE}?email={EMAIL}&way=password")
    assert "Send the verification again below" in page.text
    sent = [await press(platform_owner, page, "resend") for _ in range(3)]

    assert "is on its way" in sent[0].text
    # A network causes at most two.
    assert sent[2].status == 409
    assert "No mail was sent" in sent[2].text
    assert f'value="{EMAIL}"' in sent[2].text
    assert len(await world.mails()) == 2


async def test_what_has_changed_meanwhile_is_said(callers: Callers, support: Visitor) -> None:
    world = callers.world
    world.user(is_verified=False)
    page = await support.open(f"{PAGE}?email={EMAIL}&way=password&organization=acme")

    world.connection.execute("UPDATE users SET email_verified_at = created_at WHERE email = %s", (EMAIL,))
    verified = await press(support, page, "resend")
    world.connection.execute("DELETE FROM users WHERE email = %s", (EMAIL,))
    deleted = await press(support, page, "resend")

    assert verified.status == 409
    assert "is verified already" in verified.text
    assert 'value="acme"' in verified.text
    assert deleted.status == 404
    assert "No account has this address." in deleted.text
    assert f'value="{EMAIL}"' in deleted.text


async def test_a_network_that_is_none_is_refused_and_stays(support: Visitor) -> None:
    page = await support.open(f"{PAGE}?email={EMAIL}&network=here")

    assert page.status == 400
    assert "This is no network address." in page.text
    assert 'value="here"' in page.text
    assert f'value="{EMAIL}"' in page.text


async def test_odd_input_is_no_failure(support: Visitor) -> None:
    for typed in ("%ED%A0%80", "%00", quote("<b onclick=x>'\"{{7*7}}"), "a" * 100, "%E2%80%AE"):
        for query in (f"email={typed}", f"user_id={typed}", f"email={EMAIL}&organization={typed}&service={typed}"):
            page = await support.open(f"{PAGE}?{query}")

            assert page.status in {200, 400}, query
            assert "<b onclick" not in page.text, query


async def test_the_answer_names_the_pages_of_the_organization_and_of_the_account(
    callers: Callers, platform_owner: Visitor
) -> None:
    callers.world.set_organization_status(callers.acme_id, "suspended")
    callers.world.member(callers.acme_id, callers.world.user())

    page = await platform_owner.open(f"{PAGE}?email={EMAIL}&organization=acme&service=shop")

    assert f"{EMAIL} cannot sign in in any way." in page.text
    assert "The organization is not active. <strong>Approve or activate the organization." in page.text
    assert 'href="/app/platform/organizations?search=acme"' in page.text
    # The rule that refuses stands first, before all of them in their order.
    assert "/app/platform/organizations?search=acme" in page.text.partition("<main")[2].partition("<ol")[0]
    assert len(page.text.encode()) < 40 * 1024
