"""Where an organization requires its own sign-in, the page leads on there after the address, before any password."""

from __future__ import annotations

import pytest

from core.errors import ErrorCode
from tests.application import Answer
from tests.world.authorization import address_of
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.relying_party import insert_relying_party
from tests.world.visitor import ANOTHER_WAY, Visitor, forms_of, without_tokens
from tests.world.world import World

ADA = "ada@acme.example"
NOBODY = "nobody@acme.example"
REGISTER = "/app/register"


async def _typed(visitor: Visitor, email: str, path: str = "/app/sign-in") -> Answer:
    """Type an address on the sign-in page, and return the page that follows."""
    asked = await visitor.open(path)
    form = next(form for form in forms_of(asked) if form.action == "/app/sign-in")
    return await visitor.post(form.action, {**form.fields, "email": email})


@pytest.fixture
async def enforced(acme: Acme, world: World) -> Acme:
    """Acme, which requires its sign-in of its domain, with Ada who has a password."""
    world.member(acme.organization_id, world.user(ADA))
    await acme.enforce()
    return acme


async def test_the_page_leads_on_to_the_provider_and_keeps_one_other_link(enforced: Acme, visitor: Visitor) -> None:
    page = await _typed(visitor, ADA)

    seconds, _, address = page.headers["Refresh"].partition("; url=")
    assert (int(seconds) > 0, address) == (True, f"/auth/upstream?connection_id={enforced.connection_id}")
    assert "Continue with Acme" in page.text
    assert [form.action for form in forms_of(page)] == []
    departed = await visitor.send("GET", address)
    assert departed.headers["Location"].startswith(enforced.provider.url)
    methods = await visitor.follow(page, ANOTHER_WAY)
    assert ADA in methods.text
    assert "/app/sign-in/password" in [form.action for form in forms_of(methods)]


async def test_it_is_the_same_for_every_address_of_the_domain(enforced: Acme, world: World) -> None:
    pages = [await _typed(Visitor(world.client), email) for email in (ADA, NOBODY)]

    assert len({without_tokens(page.text).replace(ADA, NOBODY) for page in pages}) == 1
    assert len({page.headers["Refresh"] for page in pages}) == 1


async def test_the_refusal_comes_after_right_credentials_alone_and_keeps_the_way(
    enforced: Acme, visitor: Visitor
) -> None:
    methods = await visitor.follow(await _typed(visitor, ADA, "/app/organizations"), ANOTHER_WAY)

    wrong = await visitor.submit(methods, "/app/sign-in/password", password="not the password")
    right = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert wrong.status == 401
    assert right.status == ErrorCode.SSO_REQUIRED.status
    assert "/auth/upstream?return_to=%2Fapp%2Forganizations" in right.text


async def test_the_owner_signs_in_by_the_other_way(enforced: Acme, visitor: Visitor, world: World) -> None:
    world.connection.execute("UPDATE memberships SET role = 'member' WHERE role = 'owner'")
    world.connection.execute("UPDATE memberships SET role = 'owner' WHERE user_id = %s", (world.user_id(ADA),))

    methods = await visitor.follow(await _typed(visitor, ADA), ANOTHER_WAY)
    home = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert (home.status, visitor.has_session) == (200, True)


async def test_nothing_changes_on_the_way_to_a_service_of_another_organization(
    enforced: Acme, visitor: Visitor, world: World
) -> None:
    party = insert_relying_party(world, "mobile", slug="other")

    page = await _typed(visitor, ADA, address_of(party))

    assert "Refresh" not in page.headers
    assert "/app/sign-in/password" in [form.action for form in forms_of(page)]


async def test_nothing_changes_where_the_connection_is_an_offer(acme: Acme, visitor: Visitor) -> None:
    page = await _typed(visitor, ADA)

    assert "Refresh" not in page.headers
    assert "Continue with Acme" in page.text


async def test_the_other_ways_take_an_address(enforced: Acme, visitor: Visitor) -> None:
    page = await visitor.open(ANOTHER_WAY)

    assert [form.action for form in forms_of(page)][:1] == ["/app/sign-in"]


async def test_a_registration_is_told_before_a_password_is_typed(enforced: Acme, visitor: Visitor) -> None:
    await _typed(visitor, NOBODY)

    page = await visitor.open(REGISTER)

    told = page.text.partition("<template")[0]
    assert "Addresses in acme.example sign in with Acme." in told
    assert f"connection_id={enforced.connection_id}" in told


async def test_a_registration_that_was_not_told_makes_no_account(
    enforced: Acme, visitor: Visitor, world: World
) -> None:
    form = await visitor.open(REGISTER)
    assert "sign in with Acme" not in form.text

    told = await visitor.submit(form, REGISTER, email=NOBODY, password=PASSWORD, anyway="")

    assert "Addresses in acme.example sign in with Acme." in told.text
    assert PASSWORD not in told.text
    assert world.value("SELECT count(*) FROM users WHERE email = %s", NOBODY) == 0
    await visitor.submit(told, REGISTER, password=PASSWORD)
    assert world.value("SELECT count(*) FROM users WHERE email = %s", NOBODY) == 1


async def test_a_registration_elsewhere_is_told_nothing(acme: Acme, visitor: Visitor, world: World) -> None:
    await visitor.submit(await visitor.open(REGISTER), REGISTER, email=NOBODY, password=PASSWORD, anyway="")

    assert world.value("SELECT count(*) FROM users WHERE email = %s", NOBODY) == 1
