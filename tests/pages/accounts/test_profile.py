"""The pages of one's own account: the overview, the address, the password, and what all of them have in common."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from tests.clock import SettableClock
from tests.shown_text import shows
from tests.statements import recorded_statements
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, without_tokens
from tests.world.world import World, assert_refused

ELEVEN_MINUTES = timedelta(minutes=11)
NEW = "another good password"
# Pages that show a form, so that the sign-in is asked for before anything is typed.
ASKING = ["/app/account/email", "/app/account/closing", "/app/account/passkeys/new"]
# Buttons that matter, with the page to which the sign-in leads back.
BUTTONS = [
    ("/app/account/email/drop", "/app/account/email"),
    ("/app/account/second-factor/setup", "/app/account/second-factor"),
    ("/app/account/second-factor/enable", "/app/account/second-factor"),
    ("/app/account/second-factor/disable", "/app/account/second-factor"),
    ("/app/account/second-factor/backup-codes", "/app/account/second-factor"),
    ("/app/account/passkeys/new", "/app/account/passkeys/new"),
    ("/app/account/passkeys/0191d3c1-0000-7000-8000-00000000000f/rename", "/app/account/passkeys"),
    ("/app/account/passkeys/0191d3c1-0000-7000-8000-00000000000f/remove", "/app/account/passkeys"),
    ("/app/account/data/download", "/app/account/data"),
    ("/app/account/closing", "/app/account/closing"),
]


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


async def token_of_forms(visitor: Visitor) -> str:
    """Return the token that the forms of this browser carry."""
    page = await visitor.open("/app/account")
    match = re.search(r'name="form_token" value="([^"]+)"', page.text)
    assert match is not None
    return match[1]


class TestEveryPage:
    """The frame of the pages, and signing in again."""

    async def test_the_overview_names_the_account_and_the_state_of_its_sections(self, ada: Visitor) -> None:
        page = await ada.open("/app/account")

        assert EMAIL in page.text
        assert "A code of an app, beside your password." in page.text
        assert '<span class="badge warning">Off</span>' in page.text

    async def test_a_page_for_a_change_that_matters_asks_for_a_recent_sign_in(
        self, ada: Visitor, clock: SettableClock
    ) -> None:
        for path in ASKING:
            clock.advance(ELEVEN_MINUTES)

            asked = await ada.send("GET", path)
            again = await ada.open(path)
            page = await ada.submit(again, "/app/sign-in-again", password=PASSWORD)

            assert asked.headers["Location"].startswith("/app/sign-in-again?"), path
            assert page.status == 200, path
            assert 'aria-current="page"' in page.text, path

    async def test_a_button_that_matters_asks_for_a_recent_sign_in_and_leads_back(
        self, world: World, ada: Visitor, clock: SettableClock, subtests: pytest.Subtests
    ) -> None:
        token = await token_of_forms(ada)
        clock.advance(ELEVEN_MINUTES)

        for action, page in BUTTONS:
            with subtests.test(action=action, page=page):
                answer = await ada.post(action, {"form_token": token}, is_followed=False)

                assert (answer.status, answer.headers["Location"].partition("?")[0]) == (303, "/app/sign-in-again")
                [(target,)] = world.rows("DELETE FROM browser_returns RETURNING target")
                assert target.startswith(f"{page}?pressed_form=")

    async def test_looking_needs_no_recent_sign_in(self, ada: Visitor, clock: SettableClock) -> None:
        clock.advance(timedelta(hours=2))

        for section in ("", "/password", "/second-factor", "/passkeys", "/devices", "/sessions", "/organizations"):
            page = await ada.send("GET", f"/app/account{section}")
            assert page.status == 200, section

    async def test_a_mistyped_address_is_answered_with_a_page_that_leads_on(self, visitor: Visitor) -> None:
        for method, path, status in [
            ("GET", "/app/acount", 404),
            ("GET", "/app/", 404),
            ("POST", "/app/account", 405),
        ]:
            answer = await visitor.client.request(method, path, headers={"Accept": "text/html"})
            assert (answer.status, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
            assert 'href="/app"' in answer.text
            answer = await visitor.client.request(method, path, headers={"Accept": "application/json"})
            assert_refused(answer, status, "NOT_FOUND" if status == 404 else "METHOD_NOT_ALLOWED")

    async def test_a_word_in_the_address_that_names_no_outcome_is_ignored(self, ada: Visitor) -> None:
        page = await ada.open("/app/account/password?done=%3Cscript%3E")

        assert page.status == 200
        assert 'role="status"' not in page.text.partition("<main")[2].partition("</main>")[0]
        assert page.text.count("<script") == 4

    async def test_the_pages_are_in_the_language_of_the_browser(self, ada: Visitor) -> None:
        page = await ada.send("GET", "/app/account/sessions", headers={"Accept-Language": "de"})

        assert "Dieser Browser" in page.text
        assert '<html lang="de"' in page.text


class TestAddress:
    """Asking for another address."""

    async def test_a_link_is_mailed_to_the_new_address_and_nothing_changes_until_it_is_opened(
        self, world: World, ada: Visitor
    ) -> None:
        page = await ada.submit(await ada.open("/app/account/email"), "/app/account/email", email="ada@new.example")

        assert "We have sent a mail to the new address." in page.text
        assert "<strong>ada@new.example</strong>" in page.text
        assert [mail.to for mail in await world.mails()] == ["ada@new.example", EMAIL]
        assert world.value("SELECT email FROM users") == EMAIL

    async def test_a_change_that_waits_can_be_dropped(self, world: World, ada: Visitor) -> None:
        asked = await ada.submit(await ada.open("/app/account/email"), "/app/account/email", email="ada@new.example")
        page = await ada.submit(asked, "/app/account/email/drop")

        assert "The change of address is dropped." in page.text
        assert "ada@new.example" not in page.text

    async def test_the_page_does_not_tell_whether_another_account_has_the_address(
        self, world: World, ada: Visitor
    ) -> None:
        world.user("bob@example.com")
        seen: list[tuple[int, str, list[str]]] = []

        for address in ("bob@example.com", "bea@example.com"):
            page = await ada.open("/app/account/email")
            with recorded_statements() as statements:
                asked = await ada.submit(page, "/app/account/email", email=address)
            seen.append((asked.status, without_tokens(asked.text.replace(address, "")), statements))
            await ada.submit(asked, "/app/account/email/drop")

        assert seen[0] == seen[1]
        assert {mail.to: mail.template for mail in await world.mails()}["bob@example.com"] == "verify_new_email"

    async def test_the_link_tells_the_owner_of_the_address_that_it_is_taken(self, world: World, ada: Visitor) -> None:
        world.user("bob@example.com")
        await ada.submit(await ada.open("/app/account/email"), "/app/account/email", email="bob@example.com")
        [token] = [mail.values["token"] for mail in await world.mails() if mail.to == "bob@example.com"]

        page = await ada.open(f"/auth/verify-email?token={token}")

        assert page.status == 400
        assert "Another account has verified this email address" in page.text

    async def test_a_refused_address_stays_in_the_field_with_the_reason(self, ada: Visitor) -> None:
        page = await ada.submit(await ada.open("/app/account/email"), "/app/account/email", email="no address")

        assert page.status == 400
        assert 'value="no address"' in page.text
        assert 'aria-invalid="true"' in page.text
        assert "email:" not in page.text


class TestPassword:
    """Setting and changing the password."""

    async def test_a_new_password_ends_the_other_sessions_and_keeps_this_one(self, world: World, ada: Visitor) -> None:
        other = await world.sign_in()

        page = await ada.submit(
            await ada.open("/app/account/password"),
            "/app/account/password",
            current_password=PASSWORD,
            new_password=NEW,
            repeated=NEW,
        )

        assert "Your new password is saved" in page.text
        assert (await world.list_sessions(other)).status == 401
        assert (await world.log_in(EMAIL, NEW)).status == 200

    async def test_a_refused_password_is_explained_at_its_field(
        self, world: World, ada: Visitor, subtests: pytest.Subtests
    ) -> None:
        for current, new, repeated, told in (
            ("wrong password", NEW, NEW, "Your current password is wrong."),
            (PASSWORD, "tiny", "tiny", "A password has at least 8 characters."),
            (PASSWORD, NEW, "something else", "The passwords do not match."),
        ):
            with subtests.test(current=current, new=new, repeated=repeated, told=told):
                page = await ada.submit(
                    await ada.open("/app/account/password"),
                    "/app/account/password",
                    current_password=current,
                    new_password=new,
                    repeated=repeated,
                )

                assert page.status in {400, 401}
                assert page.text.count(told) == 1
                assert page.text.count('aria-invalid="true"') == 1
                assert not any(shows(page.text, password) for password in (current, new, repeated))
                assert (await world.log_in()).status == 200

    async def test_an_account_without_password_sets_one_after_a_recent_sign_in(
        self, world: World, ada: Visitor, clock: SettableClock
    ) -> None:
        world.remove_password()
        form = await ada.open("/app/account/password")

        clock.advance(ELEVEN_MINUTES)
        late = await ada.submit(form, "/app/account/password", new_password=NEW, repeated=NEW, is_followed=False)
        clock.advance(-ELEVEN_MINUTES)
        page = await ada.submit(form, "/app/account/password", new_password=NEW, repeated=NEW)

        assert "Current password" not in form.text
        assert late.headers["Location"].startswith("/app/sign-in-again")
        assert "Your new password is saved" in page.text
        assert (await world.log_in(EMAIL, NEW)).status == 200


class TestClosing:
    """Closing the account on the page."""

    async def test_the_browser_is_signed_out_and_told_until_when_signing_in_opens_the_account_again(
        self, world: World, ada: Visitor
    ) -> None:
        page = await ada.submit(await ada.open("/app/account/closing"), "/app/account/closing")

        assert (
            'sign in until <time datetime="2026-02-17T04:05:06+00:00">17 February 2026, 04:05 UTC</time>' in page.text
        )
        assert not ada.has_session
        assert world.value("SELECT closed_at IS NOT NULL FROM users")
        assert EMAIL in (await ada.sign_in(path="/app/account")).text
        assert world.value("SELECT closed_at IS NULL FROM users")

    async def test_a_member_of_an_organization_is_told_to_leave_first(self, world: World, ada: Visitor) -> None:
        world.member(world.organization(), world.value("SELECT id FROM users"))

        page = await ada.submit(await ada.open("/app/account/closing"), "/app/account/closing")

        assert page.status == 403
        assert "Leave your organizations first" in page.text
        assert ada.has_session
