"""A person without a name is asked for one, once, on the first visit to a service that asks for `profile`."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD, Service
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ALLOW, DENY = "/auth/authorize/allow", "/auth/authorize/deny"
QUESTION = "What are you called?"
PROFILE = "openid profile"


@pytest.fixture(autouse=True)
def unasked(shop: RelyingParty, world: World) -> None:
    """The user was not asked for a name yet."""
    world.connection.execute(b"UPDATE users SET name_asked_at = NULL")


@pytest.fixture
def member(shop: RelyingParty, world: World) -> None:
    """The user belongs to the organization of the service, so that the question of a first visit is not asked."""
    world.member(shop.organization_id, world.user_id(EMAIL))


def asks(page: Answer) -> bool:
    """Return whether a page asks for a name."""
    return page.status in {200, 400} and any("name" in form.fields for form in forms_of(page))


def stored(world: World) -> tuple[str | None, bool]:
    """Return the name of the user, and whether they were asked for one and gave none."""
    [row] = world.rows("SELECT name, name_asked_at IS NOT NULL FROM users WHERE email = %s", EMAIL)
    return row


async def said(party: RelyingParty, page: Answer) -> str | None:
    """Return the name in the ID token of the code that a browser takes to the service."""
    answer = await party.redeem(led_back(page)["code"])
    assert answer.status == 200, answer.text
    return claims_of(answer.json["id_token"]).get("name")


@pytest.mark.usefixtures("member")
async def test_a_member_is_asked_on_a_page_of_its_own_once(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    other = insert_relying_party(world, slug="bolt", service_slug="desk")
    world.member(other.organization_id, world.user_id(EMAIL))
    await visitor.sign_in()

    page = await visitor.open(address_of(shop, scope=PROFILE))
    name = await said(shop, await visitor.submit(page, ALLOW, name=" Ada  "))

    assert shows(page.text, QUESTION)
    assert name == "Ada"
    assert stored(world) == ("Ada", False)
    [*_, (_, _, event)] = world.events("user.updated")
    assert event["changed"] == ["name"]
    for party in (shop, other):
        assert await said(party, await visitor.send("GET", address_of(party, scope=PROFILE))) == "Ada"


@pytest.mark.usefixtures("member")
async def test_it_may_be_left_empty_and_is_not_asked_again(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    other = insert_relying_party(world, slug="bolt", service_slug="desk")
    world.member(other.organization_id, world.user_id(EMAIL))

    page = await visitor.sign_in(path=address_of(shop, scope=PROFILE))
    assert await said(shop, await visitor.submit(page, ALLOW, name=" ")) is None

    assert stored(world) == (None, True)
    assert world.events("user.updated") == []
    assert await said(other, await visitor.send("GET", address_of(other, scope=PROFILE))) is None


async def test_the_question_of_a_first_visit_asks_beside(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await visitor.sign_in()

    page = await visitor.open(address_of(shop, scope=PROFILE))
    name = await said(shop, await visitor.submit(page, ALLOW, name="Ada"))

    assert shows(page.text, "wants to sign you in")
    assert not shows(page.text, QUESTION)
    assert asks(page)
    assert (name, stored(world)) == ("Ada", ("Ada", False))


async def test_who_signs_in_on_the_way_is_asked_after_it(shop: RelyingParty, visitor: Visitor) -> None:
    page = await visitor.sign_in(path=address_of(shop, scope=PROFILE))

    assert shows(page.text, QUESTION)
    assert await said(shop, await visitor.submit(page, ALLOW, name="Ada")) == "Ada"


async def test_nobody_is_asked_who_has_a_name_or_was_there_before(
    shop: RelyingParty, visitor: Visitor, world: World, subtests: pytest.Subtests
) -> None:
    user_id = world.user_id(EMAIL)
    world.member(shop.organization_id, user_id)
    await visitor.sign_in()
    describe = """
        INSERT INTO scim_profiles (organization_id, user_id, user_name, display_name, updated_at)
        VALUES (%s, %s, 'ada', 'Ada L.', now())
    """
    execute = world.connection.execute
    assert asks(await visitor.open(address_of(shop, scope=PROFILE)))

    with subtests.test("a service that does not ask for it"):
        assert "code" in led_back(await visitor.send("GET", address_of(shop, scope="openid email")))
    with subtests.test("one who has been at the service before"):
        assert "code" in led_back(await visitor.send("GET", address_of(shop, scope=PROFILE)))
    execute("DELETE FROM service_users")
    with subtests.test("without a page"):
        assert "code" in led_back(await visitor.send("GET", address_of(shop, scope=PROFILE, prompt="none")))
    execute("DELETE FROM service_users")
    with subtests.test("a session for one organization alone"):
        execute("UPDATE sessions SET confined_to = %s", (shop.organization_id,))
        assert "code" in led_back(await visitor.send("GET", address_of(shop, scope=PROFILE)))
        execute("UPDATE sessions SET confined_to = NULL")
    execute("DELETE FROM service_users")
    with subtests.test("whom the directory names"):
        execute(describe, (shop.organization_id, user_id))
        assert await said(shop, await visitor.send("GET", address_of(shop, scope=PROFILE))) == "Ada L."
        execute("DELETE FROM scim_profiles")
    execute("DELETE FROM service_users")
    assert stored(world) == (None, False)
    with subtests.test("who has removed the name"):
        token = (await world.sign_in()).access_token
        for name in ("Ada", None):
            assert (await world.client.patch("/api/user", token=token, body={"name": name})).status == 200
        assert await said(shop, await visitor.send("GET", address_of(shop, scope=PROFILE))) is None


@pytest.mark.usefixtures("member")
async def test_what_is_no_name_is_said_and_can_be_typed_again(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await visitor.sign_in()
    page = await visitor.open(address_of(shop, scope=PROFILE))

    refused = await visitor.submit(page, ALLOW, name='"><b>' + "x" * 100)

    assert refused.status == 400
    assert "&#34;&gt;&lt;b&gt;xxx" in refused.text
    assert 'aria-invalid="true"' in refused.text
    assert stored(world) == (None, False)
    assert await said(shop, await visitor.submit(refused, ALLOW, name="Ada")) == "Ada"


async def test_a_name_that_is_refused_beside_the_question_is_asked_for_alone(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await visitor.sign_in()

    refused = await visitor.submit(await visitor.open(address_of(shop, scope=PROFILE)), ALLOW, name="x" * 101)

    assert (refused.status, asks(refused)) == (400, True)
    assert world.value("SELECT count(*) FROM service_users") == 0
    assert await said(shop, await visitor.submit(refused, ALLOW, name="")) is None


@pytest.mark.usefixtures("member")
async def test_a_membership_that_is_confirmed_with_a_name_that_is_refused_is_confirmed_with_the_next(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL")
    await visitor.sign_in()

    refused = await visitor.submit(await visitor.open(address_of(shop, scope=PROFILE)), ALLOW, name="x" * 101)
    confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships"
    before = world.value(confirmed)
    answer = await shop.redeem(led_back(await visitor.submit(refused, ALLOW, name="Ada"))["code"])

    assert (refused.status, before, world.value(confirmed)) == (400, False, True)
    claims = claims_of(answer.json["access_token"])
    assert (claims["role"], stored(world)) == ("member", ("Ada", False))


@pytest.mark.usefixtures("member")
async def test_cancelling_leads_back_and_answers_nothing(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await visitor.sign_in()

    back = led_back(await visitor.submit(await visitor.open(address_of(shop, scope=PROFILE)), DENY))

    assert (back["error"], stored(world)) == ("access_denied", (None, False))
    assert asks(await visitor.open(address_of(shop, scope=PROFILE)))


@pytest.mark.usefixtures("member")
async def test_a_name_that_was_set_meanwhile_stays(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await visitor.sign_in()
    page = await visitor.open(address_of(shop, scope=PROFILE))
    world.connection.execute("UPDATE users SET name = 'Ada Herself' WHERE email = %s", (EMAIL,))

    assert await said(shop, await visitor.submit(page, ALLOW, name="Ada")) == "Ada Herself"


@pytest.mark.usefixtures("member")
async def test_a_session_that_became_one_for_an_organization_sets_no_name(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await visitor.sign_in()
    page = await visitor.open(address_of(shop, scope=PROFILE))
    world.connection.execute("UPDATE sessions SET confined_to = %s", (shop.organization_id,))

    assert await said(shop, await visitor.submit(page, ALLOW, name="Mallory")) is None
    assert stored(world) == (None, False)


async def test_who_comes_for_a_customer_is_asked_once_it_is_chosen(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    service = Service(id=shop.service_id, client_id=shop.client_id)
    world.serve_customers(service, "editor")
    for slug in ("globex", "initech"):
        customer = world.organization(slug)
        world.member(customer, world.user_id(EMAIL))
        chosen = world.customer(service, customer)
    await visitor.sign_in()

    choice = await visitor.open(address_of(shop, scope=PROFILE))
    page = await visitor.submit(choice, ALLOW, {"customer": str(chosen)})
    refused = await visitor.submit(page, ALLOW, name="x" * 101)
    answer = await shop.redeem(led_back(await visitor.submit(refused, ALLOW, name="Ada"))["code"])

    assert [asks(one) for one in (choice, page, refused)] == [False, True, True]
    claims = claims_of(answer.json["id_token"])
    assert (claims["name"], claims["customer"]) == ("Ada", "initech")


async def test_the_page_of_a_registration_has_asked_and_a_program_has_not(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    page = await visitor.open(address_of(shop, scope=PROFILE, prompt="create"))
    await visitor.submit(page, "/app/register", email="page@example.com", password=PASSWORD)
    mailed = await visitor.open(f"/auth/verify-email?token={(await world.mail()).values['token']}")

    assert await said(shop, await visitor.submit(mailed, "/auth/verify-email/confirm")) is None

    body = {"email": "json@example.com", "password": PASSWORD}
    assert (await world.client.post("/api/auth/register", body=body)).status in {200, 201}
    token = (await world.mail()).values["token"]
    await world.client.get(f"/auth/verify-email?token={token}", headers={"Accept": "application/json"})
    asked = await Visitor(world.client).sign_in("json@example.com", path=address_of(shop, scope=PROFILE))
    assert asks(asked)
    assert urlsplit(forms_of(asked)[0].action).path == ALLOW
