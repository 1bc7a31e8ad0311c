"""Every mail on the way to a service keeps the way, in the browser where it began, and nowhere else."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from core.accounts.one_time_tokens import TokenPurpose
from core.mail.mail import MailMessage, MailTemplate
from tests.application import Answer
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.statements import alike, recorded_statements
from tests.world.authorization import address_of, led_back, push
from tests.world.builder import EMAIL, PASSWORD
from tests.world.registrations import CHOOSE, CONFIRM, RESEND, mailed, path_of
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.visitor import Visitor
from tests.world.world import World

NEW = "new@example.com"
OTHER_PASSWORD = "a quite different one"


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service of another organization than the user's, and a user."""
    world.user(EMAIL)
    return insert_relying_party(world)


def link_of(page: Answer, path: str) -> str:
    """Return the address of the link on a page that begins with this path."""
    [address, *_] = [part.split('"')[0] for part in page.text.split('href="')[1:] if part.startswith(path)]
    return address.replace("&amp;", "&")


async def registered(visitor: Visitor, shop: RelyingParty, email: str = NEW, *, password: str = PASSWORD) -> Answer:
    """Register an address on the way to the service, and return the page that follows."""
    page = await visitor.open(link_of(await visitor.open(address_of(shop)), "/app/register"))
    return await visitor.submit(page, "/app/register", email=email, password=password)


async def latest(world: World) -> MailMessage:
    """Return the latest mail."""
    return (await world.mails())[-1]


async def sign_in_link(world: World, place: str = "Shop") -> str:
    """Return the path of the link in the latest mail, which is about an account that exists."""
    message = await latest(world)
    assert (message.template, message.values["place"]) == (MailTemplate.ACCOUNT_EXISTS, place)
    return f"/app/register/sign-in?token={message.values['token']}"


async def test_the_mail_names_the_service_and_its_link_leads_there(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await registered(visitor, shop)
    message = await latest(world)

    page = await visitor.open(path_of(message.values["token"]))
    back = led_back(await visitor.submit(page, CONFIRM))

    assert (message.template, message.values["place"]) == (MailTemplate.VERIFY_EMAIL, "Shop")
    assert "at Shop" in page.text
    assert "code" in back


async def test_a_name_that_is_an_address_of_the_web_stands_in_no_mail(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    shop.set(name="evil.example/login")
    await registered(visitor, shop)

    assert (await latest(world)).values["place"] == "a service"


async def test_the_link_leads_on_hours_later_too(
    shop: RelyingParty, visitor: Visitor, world: World, clock: SettableClock
) -> None:
    await registered(visitor, shop)
    clock.advance(timedelta(hours=20))

    page = await visitor.submit(await visitor.open(await mailed(world)), CONFIRM)

    assert "This sign-in to Shop is no longer valid" in page.text
    assert 'href="https://shop.example/"' in page.text
    assert visitor.has_session
    # Signing in there again takes no form any more but the question of a first visit.
    asked = await visitor.open(address_of(shop))
    assert "code" in led_back(await visitor.submit(asked, "/auth/authorize/allow"))


async def test_a_pushed_request_that_is_over_names_its_service(
    shop: RelyingParty, visitor: Visitor, world: World, clock: SettableClock
) -> None:
    page = await visitor.open(await push(shop, prompt="create"))
    await visitor.submit(page, "/app/register", email=NEW, password=PASSWORD)
    clock.advance(timedelta(minutes=20))

    over = await visitor.submit(await visitor.open(await mailed(world)), CONFIRM)

    assert over.status == 400
    assert "This sign-in to Shop is no longer valid" in over.text


async def test_another_browser_gets_nothing_of_the_way_and_says_where_it_goes_on(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    waiting = await registered(visitor, shop)
    phone = Visitor(world.client)

    page = await phone.open(await mailed(world))
    done = await phone.submit(page, CONFIRM, password=PASSWORD)
    methods = await visitor.submit(await visitor.open(link_of(waiting, "/app/sign-in")), "/app/sign-in", email=NEW)
    back = led_back(await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD))

    assert "To continue to Shop, go back to the browser where you began" in done.text
    assert 'href="https://shop.example/"' in done.text
    assert not shows(page.text + done.text, "return_id")
    assert phone.has_session
    assert "code" in back


async def test_a_service_whose_addresses_are_of_several_sites_has_no_button(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await registered(visitor, shop)
    phone = Visitor(world.client)
    page = await phone.open(await mailed(world))
    shop.set(redirect_uris=["https://shop.example/callback", "https://other.example/"])
    done = await phone.submit(page, CONFIRM, password=PASSWORD)

    assert "go back to the browser where you began" in done.text
    assert "Continue to Shop" not in done.text


async def test_a_mail_that_is_sent_again_keeps_the_way(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    again = await visitor.submit(await registered(visitor, shop), "/app/register/send-again")
    message = await latest(world)

    page = await visitor.open(path_of(message.values["token"]))
    back = led_back(await visitor.submit(page, CONFIRM))

    assert "Check your email" in again.text
    assert message.values["place"] == "Shop"
    assert "code" in back


async def test_a_program_that_sends_it_again_keeps_the_way(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await registered(visitor, shop)
    await world.client.post(RESEND, body={"email": NEW})

    assert "code" in led_back(await visitor.submit(await visitor.open(await mailed(world)), CONFIRM))


async def test_a_second_registration_keeps_the_way(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await registered(Visitor(world.client), shop, password=OTHER_PASSWORD)
    await registered(visitor, shop)

    assert "code" in led_back(await visitor.submit(await visitor.open(await mailed(world)), CONFIRM))


async def test_choosing_another_password_keeps_the_way(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    """A link that is sent again for one of several registrations keeps no password."""
    await registered(Visitor(world.client), shop, password=OTHER_PASSWORD)
    await visitor.submit(await registered(visitor, shop), "/app/register/send-again")
    form = await visitor.submit(await visitor.open(await mailed(world)), CHOOSE)

    saved = await visitor.submit(form, new_password=OTHER_PASSWORD, repeated=OTHER_PASSWORD)
    methods = await visitor.submit(await visitor.open(link_of(saved, "/app/sign-in")), "/app/sign-in", email=NEW)
    back = led_back(await visitor.submit(methods, "/app/sign-in/password", password=OTHER_PASSWORD))

    assert "code" in back


async def test_the_mail_about_an_account_that_exists_leads_to_the_sign_in_on_the_way(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await registered(visitor, shop, EMAIL)
    path = await sign_in_link(world)

    methods = await visitor.submit(await visitor.open(path), "/app/sign-in", email=EMAIL)
    forgot = await visitor.open(f"{path}&forgot=yes")
    back = led_back(await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD))

    assert "return_id" in forgot.text
    assert "/app/forgot-password" in forgot.text
    assert "code" in back


async def test_elsewhere_it_leads_to_the_browser_where_the_way_began(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await registered(visitor, shop, EMAIL)
    phone = Visitor(world.client)

    path = await sign_in_link(world)
    page, forgot = await phone.open(path), await phone.open(f"{path}&forgot=yes")

    assert "You have an account already" in page.text
    assert "To continue to Shop, go back to the browser where you began" in page.text
    assert 'href="/app/sign-in"' in page.text
    assert 'href="/app/forgot-password"' in forgot.text
    assert not shows(page.text, "return_id")


async def test_without_a_way_it_leads_to_the_sign_in(visitor: Visitor, world: World) -> None:
    world.user(EMAIL)
    page = await visitor.open("/app/register")
    await visitor.submit(page, "/app/register", email=EMAIL, password=PASSWORD)
    path = await sign_in_link(world, place="")

    for browser in (visitor, Visitor(world.client)):
        assert (await browser.send("GET", path)).headers["Location"] == "/app/sign-in"
    assert (await visitor.open("/app/register/sign-in?token=nonsense")).status == 400


async def test_a_forgotten_password_is_replaced_on_the_way(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    page = await visitor.open(address_of(shop))
    methods = await visitor.submit(page, "/app/sign-in", email=EMAIL)
    forgot = await visitor.open(link_of(methods, "/app/forgot-password"))
    await visitor.submit(forgot, "/app/forgot-password", email=EMAIL)
    message = await latest(world)
    path = f"/auth/reset-password?token={message.values['token']}"
    form = await visitor.open(path)
    elsewhere = await Visitor(world.client).open(path)

    saved = await visitor.submit(form, new_password=OTHER_PASSWORD, repeated=OTHER_PASSWORD)
    methods = await visitor.submit(await visitor.open(link_of(saved, "/app/sign-in")), "/app/sign-in", email=EMAIL)
    back = led_back(await visitor.submit(methods, "/app/sign-in/password", password=OTHER_PASSWORD))

    assert message.values["place"] == "Shop"
    assert "at Shop" in form.text
    assert not shows(elsewhere.text, "return_id")
    assert "code" in back


async def test_a_password_that_is_replaced_elsewhere_leads_to_the_browser_where_the_way_began(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    page = await visitor.open(link_of(await visitor.open(address_of(shop)), "/app/register"))
    query = urlsplit(link_of(page, "/app/sign-in")).query
    forgot = await visitor.open(f"/app/forgot-password?{query}")
    await visitor.submit(forgot, "/app/forgot-password", email=EMAIL)
    phone = Visitor(world.client)
    form = await phone.open(f"/auth/reset-password?token={(await latest(world)).values['token']}")

    saved = await phone.submit(form, new_password=OTHER_PASSWORD, repeated=OTHER_PASSWORD)

    assert "To continue to Shop, go back to the browser where you began" in saved.text
    assert 'href="/app/sign-in"' in saved.text


async def test_a_mailed_link_to_sign_in_names_the_service(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    methods = await visitor.submit(await visitor.open(address_of(shop)), "/app/sign-in", email=EMAIL)
    await visitor.submit(methods, "/app/sign-in/link")
    message = await latest(world)
    path = f"/auth/magic-link?token={message.values['token']}"
    elsewhere = await Visitor(world.client).open(path)

    back = led_back(await visitor.submit(await visitor.open(path)))

    assert message.values["place"] == "Shop"
    assert "sign in to Shop" in elsewhere.text
    assert "code" in back


async def test_a_browser_that_is_signed_in_keeps_the_way_of_a_new_account(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await visitor.sign_in()
    page = await visitor.open(address_of(shop, prompt="create"))
    await visitor.submit(page, "/app/register", email=NEW, password=PASSWORD)

    opened = await visitor.open(await mailed(world))
    back = led_back(await visitor.submit(opened, CONFIRM))

    assert "The password that you chose then" not in opened.text
    assert "code" in back


async def test_what_leads_nowhere_is_not_stored_with_a_link(visitor: Visitor, world: World) -> None:
    sent = {"return_to": "https://evil.example/" + "x" * 50_000, "return_id": "x" * 5_000}
    page = await visitor.open("/app/register")
    await visitor.submit(page, "/app/register", {**sent, "email": NEW, "password": PASSWORD})
    link = await mailed(world)
    await visitor.submit(await visitor.open("/app/forgot-password"), "/app/forgot-password", {**sent, "email": NEW})
    kept = world.rows("SELECT data->>'return_to', data->>'return_id' FROM one_time_tokens")

    home = await visitor.submit(await visitor.open(link), CONFIRM)

    assert set(kept) == {("", "")}
    assert "You are signed in as" in home.text


async def test_signing_out_ends_what_knew_the_browser_again(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await visitor.sign_in()
    page = await visitor.open(address_of(shop, prompt="create"))
    await visitor.submit(page, "/app/register", email=NEW, password=PASSWORD)
    assert "gatehouse_link" in visitor.cookies

    await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")

    assert "gatehouse_link" not in visitor.cookies
    assert "The password that you chose then" in (await visitor.open(await mailed(world))).text


async def test_a_deleted_service_is_named_no_more(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    await registered(visitor, shop)
    world.rows("DELETE FROM services RETURNING id")

    page = await visitor.open(await mailed(world))
    done = await visitor.submit(page, CONFIRM)

    assert not shows(page.text, "Shop")
    assert "This request is over" in done.text


async def test_a_way_that_has_ended_before_its_service_leads_to_the_account(
    shop: RelyingParty, visitor: Visitor, world: World, clock: SettableClock
) -> None:
    await registered(visitor, shop)
    clock.advance(timedelta(hours=2))
    world.rows("DELETE FROM services RETURNING id")

    assert "You are signed in as" in (await visitor.submit(await visitor.open(await mailed(world)), CONFIRM)).text


CASES = {
    "new": "first@example.com",
    "verified": EMAIL,
    "unverified": "unverified@example.com",
    "passwordless": "passwordless@example.com",
    "deactivated": "deactivated@example.com",
}


async def test_on_the_way_every_address_is_answered_alike_by_the_same_statements(
    shop: RelyingParty, world: World
) -> None:
    world.user("unverified@example.com", is_verified=False)
    world.user("passwordless@example.com", password_hash=None)
    world.user("deactivated@example.com", is_active=False)
    seen: dict[str, list[object]] = {}
    for name, email in CASES.items():
        visitor = Visitor(world.client)
        opened = await visitor.open(address_of(shop))
        [return_id] = parse_qs(urlsplit(link_of(opened, "/app/register")).query)["return_id"]
        page = await visitor.open(f"/app/register?return_id={return_id}")
        seen[name] = []
        with recorded_statements() as statements:
            sent = await visitor.submit(page, "/app/register", email=email, password=PASSWORD)
            again = await visitor.submit(sent, "/app/register/send-again")
            forgot = await visitor.open(f"/app/forgot-password?return_id={return_id}")
            reset = await visitor.submit(forgot, "/app/forgot-password", email=email)
        for answer in (sent, again, reset):
            text = answer.text.replace(email, "…").replace(return_id, "…")
            # Each form carries the token of its browser.
            fields = text.split('name="form_token" value="')
            shown = "".join([fields[0], *(part.partition('"')[2] for part in fields[1:])])
            seen[name] += [answer.status, shown]
        seen[name] += [alike(statements), sorted(visitor.cookies)]

    for name, one in seen.items():
        assert one == seen["new"], name


async def test_the_link_about_an_account_that_exists_is_valid_for_a_day() -> None:
    assert TokenPurpose.CONTINUE_SIGN_IN.lifetime == timedelta(days=1)
