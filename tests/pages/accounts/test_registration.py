"""Registering on the pages, which answer alike for every address, and resetting a password."""

from __future__ import annotations

from dataclasses import replace

from core.mail.mail import MailTemplate
from core.secrets import Secret
from entrypoints.installation import Installation
from entrypoints.web.input.languages import LANGUAGE_COOKIE
from tests.application import Answer, serving, with_mail_limits
from tests.statements import alike, recorded_statements
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of, without_tokens
from tests.world.world import World

CASES = {
    "new": "new@example.com",
    "verified": "verified@example.com",
    "unverified": "unverified@example.com",
    "deactivated": "deactivated@example.com",
    "passwordless": "passwordless@example.com",
}


def insert_cases(world: World) -> None:
    """Insert an account in every state."""
    world.user(CASES["verified"])
    world.user(CASES["unverified"], is_verified=False)
    world.user(CASES["deactivated"], is_active=False)
    world.user(CASES["passwordless"], password_hash=None)


async def register(visitor: Visitor, email: str) -> Answer:
    """Submit the form."""
    return await visitor.submit(await visitor.open("/app/register"), email=email, password=PASSWORD)


def shown(answer: Answer, email: str) -> tuple[int, str]:
    """Return the status and the page, without the address and the token of the browser."""
    return answer.status, without_tokens(answer.text.replace(email, ""))


async def test_a_registration_leads_by_the_mailed_link_to_the_account(world: World, visitor: Visitor) -> None:
    page = await register(visitor, EMAIL)
    link = await world.mail()
    asked = await visitor.open(f"/auth/verify-email?token={link.values['token']}")
    home = await visitor.submit(asked, "/auth/verify-email/confirm")

    assert "Check your email" in page.text
    assert "You are signed in as" in home.text
    assert "You are signed in as" in (await Visitor(world.client).sign_in()).text


async def test_where_one_develops_without_a_mail_server_the_pages_of_mails_lead_to_the_mailbox(world: World) -> None:
    for settings, links in (
        (world.installation.settings, 1),
        (replace(world.installation.settings, smtp_url=Secret("smtp://localhost")), 0),
        (replace(world.installation.settings, dev=False), 0),
    ):
        visitor = Visitor(serving(replace(world.installation, settings=settings)))
        forgotten = await visitor.submit(await visitor.open("/app/forgot-password"), email=EMAIL)
        for page in (await register(visitor, EMAIL), forgotten):
            assert "Check your email" in page.text
            assert page.text.count('<a href="/dev/mailbox">') == links


async def test_an_account_keeps_the_language_in_which_it_registers_or_which_its_user_has_chosen(
    world: World, visitor: Visitor
) -> None:
    visitor.headers["Accept-Language"] = "de-AT, en;q=0.5"
    await register(visitor, EMAIL)
    registered_in = world.value("SELECT language FROM users")

    reader = Visitor(world.client)
    reader.cookies[LANGUAGE_COOKIE] = "en"
    asked = await reader.open(f"/auth/verify-email?token={(await world.mail()).values['token']}")
    await reader.submit(asked, "/auth/verify-email/confirm", password=PASSWORD)

    assert (registered_in, world.value("SELECT language FROM users")) == ("de", "en")


async def test_every_address_gets_the_same_page_and_the_same_cookies(world: World) -> None:
    insert_cases(world)
    seen: dict[str, tuple[tuple[int, str], set[str]]] = {}

    for name, email in CASES.items():
        visitor = Visitor(world.client)
        seen[name] = shown(await register(visitor, email), email), set(visitor.cookies)

    for name, one in seen.items():
        assert one == seen["new"], name


async def test_every_address_takes_the_same_statements(world: World) -> None:
    insert_cases(world)
    executed: dict[str, list[str]] = {}
    for name, email in CASES.items():
        page = await (visitor := Visitor(world.client)).open("/app/register")
        with recorded_statements() as statements:
            await visitor.submit(page, email=email, password=PASSWORD)
        executed[name] = alike(statements)

    assert len(executed["new"]) >= 5
    for name, statements in executed.items():
        assert statements == executed["new"], name


async def test_only_the_mail_tells_the_owner_of_the_address_apart(world: World) -> None:
    insert_cases(world)
    for email in CASES.values():
        await register(Visitor(world.client), email)

    mails = {message.to: message.template for message in await world.mails()}

    assert mails == {
        CASES["new"]: MailTemplate.VERIFY_EMAIL,
        CASES["verified"]: MailTemplate.ACCOUNT_EXISTS,
        CASES["unverified"]: MailTemplate.VERIFY_EMAIL,
        CASES["passwordless"]: MailTemplate.ACCOUNT_EXISTS,
    }


async def test_one_network_leaves_mails_about_an_account_that_exists_to_others(
    world: World, installation: Installation
) -> None:
    insert_cases(world)
    client = serving(with_mail_limits(installation))

    for address in (*["192.0.2.1"] * 5, "198.51.100.1"):
        await register(Visitor(client, address=address), CASES["verified"])

    mails = world.rows("SELECT template FROM mails WHERE state <> 'discarded'")
    assert mails == [(MailTemplate.ACCOUNT_EXISTS,)] * 3


async def test_a_registration_changes_nothing_about_an_account_that_exists(world: World) -> None:
    insert_cases(world)
    # The newest password of an address that is not proved opens nothing, and only tells its user to verify the address.
    accounts = "SELECT * FROM (SELECT (u #- '{password_hash}')::text FROM users, to_jsonb(users) u) a ORDER BY 1"
    proved = "SELECT * FROM users WHERE email_verified_at IS NOT NULL ORDER BY id"
    before = world.rows(accounts), world.rows(proved)

    for name in ("verified", "unverified", "deactivated", "passwordless"):
        await register(Visitor(world.client), CASES[name])

    assert (world.rows(accounts), world.rows(proved)) == before
    assert world.rows("SELECT email FROM open_registrations") == [(CASES["unverified"],)]
    assert world.events("user.signup.success") == []


async def test_every_invalid_field_is_named(world: World, visitor: Visitor) -> None:
    page = await visitor.submit(await visitor.open("/app/register"), email="ada", password="short")

    assert page.status == 400
    assert page.text.count('aria-invalid="true"') == 2
    assert await world.mails() == []


async def test_the_mail_is_sent_again_alike_for_every_address(world: World) -> None:
    insert_cases(world)
    seen: list[tuple[int, str]] = []
    for name in ("verified", "unverified", "deactivated"):
        visitor = Visitor(world.client)
        page = await register(visitor, "other@example.com")
        seen.append(shown(await visitor.submit(page, "/app/register/send-again", email=CASES[name]), CASES[name]))

    assert seen[0] == seen[1] == seen[2]


async def test_a_forgotten_password_is_answered_alike_and_replaced_by_the_mailed_link(world: World) -> None:
    insert_cases(world)
    pages: dict[str, tuple[tuple[int, str], set[str]]] = {}
    for name in ("verified", "new", "deactivated", "unverified", "passwordless"):
        visitor = Visitor(world.client)
        page = await visitor.open("/app/forgot-password")
        answer = await visitor.submit(page, email=CASES[name])
        pages[name] = shown(answer, CASES[name]), set(visitor.cookies)
    [token] = [mail.values["token"] for mail in await world.mails() if mail.to == CASES["verified"]]
    visitor = Visitor(world.client)

    form = await visitor.open(f"/auth/reset-password?token={token}")
    saved = await visitor.submit(form, new_password="another long password", repeated="another long password")

    assert all(page == pages["new"] for page in pages.values())
    assert 'href="/app/sign-in"' in saved.text
    home = await visitor.sign_in(CASES["verified"], "another long password")
    assert "You are signed in as" in home.text


async def test_what_is_no_address_is_refused_on_the_page(visitor: Visitor) -> None:
    for path in ("/app/forgot-password", "/app/sign-in"):
        page = await visitor.submit(await visitor.open(path), email="<script>alert(1)</script>")

        assert page.status == 400, path
        assert 'aria-invalid="true"' in page.text, path
        assert "<script>alert" not in page.text, path
        assert forms_of(page)[0].fields["email"] == "<script>alert(1)</script>", path
