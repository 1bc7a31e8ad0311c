"""The pages of the applications that one has signed in to."""

from __future__ import annotations

from uuid import uuid4

import pytest

from core.services.applications import APPLICATIONS_MAX
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back, sign_in
from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/account/applications"


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service, and a user."""
    world.user()
    return insert_relying_party(world)


def path_of(world: World) -> str:
    """Return the page of the only service."""
    return f"{PAGE}/{world.value('SELECT id FROM services')}"


async def disconnect(world: World, visitor: Visitor) -> Answer:
    """Disconnect the only service on its page."""
    path = path_of(world)
    return await visitor.submit(await visitor.open(path), f"{path}/disconnect")


async def test_an_application_is_shown_with_what_it_has(world: World, shop: RelyingParty, visitor: Visitor) -> None:
    back = await sign_in(visitor, shop, scope="openid offline_access")
    await shop.redeem(back["code"])

    listed, shown = await visitor.open(PAGE), await visitor.open(path_of(world))

    assert "Shop of Acme" in listed.text
    assert "One session" in listed.text
    for words in ("your email address", "your name", "while you are not there", "Disconnect"):
        assert words in shown.text


async def test_disconnecting_ends_its_sessions_and_the_consent(
    world: World, shop: RelyingParty, visitor: Visitor
) -> None:
    tokens = (await shop.redeem((await sign_in(visitor, shop))["code"])).json
    mobile = await world.sign_in(org_slug="acme", service_slug="shop")

    page = await disconnect(world, visitor)
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    assert "The application is disconnected" in page.text
    assert "Shop of Acme" not in page.text
    assert not shop.is_live(tokens)
    assert (await world.list_sessions(mobile)).status == 401
    assert silent["error"] == "consent_required"
    [(details,)] = world.audit_entries("user.removed", "details")
    assert details["left"] is True
    [(_, _, revoked)] = world.events("session.revoked")
    assert (revoked["sessions"], revoked["service_id"]) == (2, details["service_id"])


async def test_what_a_membership_gave_stays(world: World, shop: RelyingParty, visitor: Visitor) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    await sign_in(visitor, shop)

    page = await disconnect(world, visitor)
    shown = await visitor.open(path_of(world))

    assert "Not signed in at present" in page.text
    assert "There is nothing to end." in shown.text
    assert "code" in led_back(await visitor.send("GET", address_of(shop, prompt="none")))
    assert world.audit_entries("user.removed") == []


async def test_a_subscription_keeps_the_access(world: World, shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)
    world.subscription(world.value("SELECT id FROM plans"), world.user_id(EMAIL))

    shown = await visitor.open(path_of(world))
    page = await disconnect(world, visitor)

    assert "Your subscription stays" in shown.text
    assert "Shop of Acme" in page.text
    assert world.value("SELECT count(*) FROM subscriptions WHERE status = 'active'") == 1


async def test_what_has_ended_is_forgotten_with_the_link(world: World, shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)
    world.subscription(world.value("SELECT id FROM plans"), world.user_id(EMAIL), "cancelled")

    await disconnect(world, visitor)

    assert world.value("SELECT count(*) FROM service_users") == 0
    assert world.value("SELECT count(*) FROM subscriptions") == 0


async def test_an_application_of_another_person_is_not_found(
    world: World, shop: RelyingParty, visitor: Visitor
) -> None:
    world.user("bob@example.com")
    bob = await world.sign_in("bob@example.com", org_slug="acme", service_slug="shop")
    world.link(shop.organization_id, world.value("SELECT id FROM services"), world.user_id(EMAIL))
    await visitor.sign_in()
    fields = forms_of(await visitor.open(PAGE))[0].fields

    for path in (path_of(world), f"{PAGE}/{uuid4()}"):
        assert (await visitor.open(path)).status == 404
        assert (await visitor.post(f"{path}/disconnect", fields)).status == 404
    assert (await world.list_sessions(bob)).status == 200
    # A person that an organization has linked is no user of the service before the first sign-in.
    assert "You have not signed in to an application yet." in (await visitor.open(PAGE)).text


async def test_a_confined_session_shows_and_ends_those_of_its_organization(
    world: World, shop: RelyingParty, visitor: Visitor
) -> None:
    other = insert_relying_party(world, slug="globex", service_slug="app")
    await sign_in(visitor, shop)
    await visitor.submit(await visitor.open(address_of(other)), "/auth/authorize/allow")
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s FROM browser_sessions WHERE session_id = id", (shop.organization_id,)
    )
    foreign = world.value("SELECT id FROM services WHERE organization_id = %s", other.organization_id)

    page = await visitor.open(PAGE)
    fields = forms_of(page)[0].fields

    assert "Shop of Acme" in page.text
    assert not shows(page.text, "Globex")
    assert (await visitor.open(f"{PAGE}/{foreign}")).status == 404
    assert (await visitor.post(f"{PAGE}/{foreign}/disconnect", fields)).status == 404
    assert (await visitor.post(f"/app/account/sessions/at/{foreign}/end", fields)).status == 404


async def test_of_several_requests_to_disconnect_one_does(world: World, shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)
    path = path_of(world)
    fields = forms_of(await visitor.open(path))[0].fields

    answers = await at_once(*[lambda: visitor.post(f"{path}/disconnect", fields, is_followed=False) for _ in range(4)])

    assert set(statuses_of(answers)) <= {303, 404}
    assert len(world.audit_entries("user.removed")) == 1


async def test_what_is_exchanged_or_renewed_while_it_is_disconnected_is_ended_too(
    world: World, shop: RelyingParty, visitor: Visitor
) -> None:
    for _ in range(5):
        first = (await shop.redeem((await sign_in(visitor, shop, scope="openid offline_access"))["code"])).json
        code = led_back(await visitor.send("GET", address_of(shop)))["code"]
        path = path_of(world)
        fields = forms_of(await visitor.open(path))[0].fields

        answers = await at_once(
            lambda code=code: shop.redeem(code),
            lambda path=path, fields=fields: visitor.post(f"{path}/disconnect", fields, is_followed=False),
            lambda first=first: shop.token("refresh_token", refresh_token=first["refresh_token"]),
        )

        assert 303 in statuses_of(answers)
        given = [one.json for one in answers if one.status == 200]
        assert not any(shop.is_live(tokens) for tokens in [first, *given])
        for tokens in given:
            assert (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).status == 400
        assert world.value("SELECT count(*) FROM service_users") == 0
        visitor.cookies.clear()


async def test_very_many_are_counted(world: World, shop: RelyingParty, visitor: Visitor) -> None:
    for number in range(APPLICATIONS_MAX + 1):
        service = world.service(shop.organization_id, f"app-{number}")
        world.link(shop.organization_id, service.id, world.user_id(EMAIL))
    world.connection.execute("UPDATE service_users SET last_login_at = first_login_at")
    await visitor.sign_in()

    page = await visitor.open(PAGE)

    assert f"there are {APPLICATIONS_MAX + 1}." in page.text
    assert f"{APPLICATIONS_MAX + 1} applications" in (await visitor.open("/app/account")).text
