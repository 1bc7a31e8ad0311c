"""Passkeys as second factors on the pages: made one, asked for at a sign-in, required by an organization."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from pyotp.totp import TOTP

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.clock import SettableClock
from tests.pages.credentials.test_mfa import codes_of, secret_of
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/account/second-factor"
PASSKEYS = "/app/account/passkeys"
NEW = f"{PASSKEYS}/new"
RULE = "/app/organizations/acme/sign-in/second-factors"
SET_UP = "/app/second-factor/set-up"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


def options_of(page: Answer) -> dict[str, Any]:
    """Return the options that the page gives its script."""
    match = re.search(r'data-options="([^"]+)"', page.text)
    assert match is not None
    return json.loads(html.unescape(match[1]))


def signed(authenticator: Authenticator, page: Answer) -> str:
    """Return what the script of the page sends for a passkey."""
    credential = authenticator.get(options_of(page))
    return json.dumps({name: credential[name] for name in ("id", "type", "response")})


async def added(ada: Visitor, authenticator: Authenticator, path: str = NEW) -> Answer:
    """Add a passkey as the script of the page does."""
    page = await ada.open(path)
    credential = authenticator.create(options_of(page))
    del credential["rawId"]
    return await ada.submit(page, path.partition("?")[0], credential=json.dumps(credential))


def passkey_id(world: World) -> str:
    """Return the id of the newest passkey."""
    return str(world.value("SELECT id FROM passkeys ORDER BY created_at DESC, id DESC LIMIT 1"))


async def made_factor(world: World, ada: Visitor, authenticator: Authenticator) -> Answer:
    """Add a passkey, and make it a second factor; return the page that follows."""
    await added(ada, authenticator)
    return await ada.submit(await ada.open(PAGE), f"{PAGE}/passkeys/{passkey_id(world)}")


async def asked(visitor: Visitor) -> Answer:
    """Sign in anew by password, and return the page that asks for the second factor."""
    visitor.cookies.clear()
    return await visitor.sign_in()


async def test_the_first_factor_shows_the_codes_once_and_a_further_one_none(
    world: World, ada: Visitor, clock: SettableClock
) -> None:
    shown = await made_factor(world, ada, Authenticator())
    assert len(codes_of(shown)) == 10
    assert "Second factor</span>" in (await ada.open(PASSKEYS)).text

    setup = await ada.submit(await ada.open(PAGE), f"{PAGE}/setup")
    after = await ada.submit(setup, f"{PAGE}/enable", code=TOTP(secret_of(setup)).at(clock()))

    assert codes_of(after) == []
    assert "The second factor is on." in after.text
    assert "Remove the app" in after.text


async def test_factors_are_removed_one_by_one_and_the_last_turns_it_off(
    world: World, ada: Visitor, clock: SettableClock
) -> None:
    await made_factor(world, ada, Authenticator())
    # Removing an app that is not there changes nothing.
    fields = {"form_token": forms_of(await ada.open(PAGE))[0].fields["form_token"]}
    assert (await ada.post(f"{PAGE}/remove-app", fields)).status == 200
    assert world.value("SELECT mfa_enabled_at IS NOT NULL FROM users") is True
    setup = await ada.submit(await ada.open(PAGE), f"{PAGE}/setup")
    await ada.submit(setup, f"{PAGE}/enable", code=TOTP(secret_of(setup)).at(clock()))

    without_app = await ada.submit(await ada.open(PAGE), f"{PAGE}/remove-app")
    still_on = world.value("SELECT mfa_enabled_at IS NOT NULL FROM users")
    none = await ada.submit(without_app, f"{PAGE}/passkeys/{passkey_id(world)}/remove")

    assert "The authenticator app is removed." in without_app.text
    assert still_on is True
    assert "is a second factor no longer" in none.text
    assert world.value("SELECT mfa_enabled_at IS NULL FROM users") is True


async def test_a_sign_in_offers_the_passkey_and_without_scripts_the_code(world: World, ada: Visitor) -> None:
    passkey = Authenticator()
    [code, *_] = codes_of(await made_factor(world, ada, passkey))

    page = await asked(ada)
    assert "data-passkey" in page.text
    assert "Another way" in page.text
    assert "You can also use your passkey here if your browser runs scripts." in page.text
    home = await ada.submit(page, "/app/second-factor", credential=signed(passkey, page))
    assert ada.has_session
    assert home.status == 200

    page = await asked(ada)
    assert (await ada.submit(page, "/app/second-factor", code=code)).status == 200
    assert ada.has_session


async def test_a_passkey_that_is_refused_is_asked_for_again(world: World, ada: Visitor) -> None:
    passkey = Authenticator()
    await made_factor(world, ada, passkey)
    page = await asked(ada)

    strange = await ada.submit(page, "/app/second-factor", credential=signed(Authenticator(), page))
    broken = await ada.submit(strange, "/app/second-factor", credential="{")
    right = await ada.submit(broken, "/app/second-factor", credential=signed(passkey, broken))

    for refused in (strange, broken):
        assert (refused.status, "This passkey was not accepted." in refused.text) == (401, True)
    assert right.status == 200
    assert ada.has_session


async def test_a_sign_in_that_is_over_offers_nothing(world: World, ada: Visitor) -> None:
    await made_factor(world, ada, Authenticator())
    await asked(ada)
    world.connection.execute("UPDATE mfa_challenges SET used_at = now()")

    page = await ada.open("/app/second-factor")

    assert page.status == 200
    assert not shows(page.text, "data-passkey")


async def test_the_browser_is_told_which_passkeys_still_count(world: World, ada: Visitor) -> None:
    await added(ada, Authenticator())
    kept = Authenticator()
    await added(ada, kept)
    first = str(world.value("SELECT id FROM passkeys ORDER BY created_at, id LIMIT 1"))

    page = await ada.submit(await ada.open(PASSKEYS), f"{PASSKEYS}/{first}/remove")

    match = re.search(r'data-signals="([^"]+)"', page.text)
    assert match is not None
    told = json.loads(html.unescape(match[1]))
    assert (told["rpId"], told["name"], len(told["credentialIds"])) == ("localhost", EMAIL, 1)
    assert "signal_passkeys" in page.text
    assert not shows((await ada.open(PASSKEYS)).text, "data-signals")


async def test_password_managers_find_the_pages(world: World) -> None:
    answer = await world.client.get("/.well-known/passkey-endpoints")

    assert answer.json == {
        "enroll": f"{world.installation.settings.base_url}{NEW}",
        "manage": f"{world.installation.settings.base_url}{PASSKEYS}",
    }


class TestRequired:
    """An organization that accepts passkeys alone."""

    @pytest.fixture
    async def owner(self, world: World, ada: Visitor) -> Visitor:
        """The owner of an organization that requires a second factor, with a colleague."""
        organization_id = world.organization("acme", mfa_required=True)
        world.member(organization_id, world.user_id(EMAIL), "owner")
        world.member(organization_id, world.user("bob@example.com"), "member")
        return ada

    async def test_it_is_switched_on_after_showing_who_would_be_asked(self, world: World, owner: Visitor) -> None:
        await added(owner, Authenticator())

        page = await owner.open(RULE)
        after = await owner.submit(page, RULE)

        assert "One of your 2 members has neither" in page.text
        assert "bob@example.com" in page.text
        assert after.status == 200
        assert world.value("SELECT mfa_methods FROM organizations") == "phishing_resistant"
        off = await owner.submit(await owner.open(RULE), RULE)
        assert off.status == 200
        assert world.value("SELECT mfa_methods FROM organizations") == "any"

    async def test_who_may_not_view_members_learns_how_many_would_be_asked(self, world: World, owner: Visitor) -> None:
        await added(owner, Authenticator())
        world.custom_role(world.value("SELECT id FROM organizations"), "keeper", "org.settings.manage")
        world.connection.execute("UPDATE memberships SET role = 'keeper' WHERE role = 'owner'")

        page = await owner.open(RULE)

        assert "One of your 2 members has neither" in page.text
        assert "bob@example.com" not in page.text

    async def test_another_s_change_meanwhile_and_a_wrong_word_are_refused(self, world: World, owner: Visitor) -> None:
        await added(owner, Authenticator())
        page = await owner.open(RULE)
        world.connection.execute("UPDATE organizations SET mfa_methods = 'phishing_resistant'")

        assert (await owner.submit(page, RULE)).status == 409
        assert (await owner.submit(page, RULE, mfa_methods="none")).status == 400

    async def test_a_member_without_one_adds_it_after_a_mailed_proof(self, world: World, owner: Visitor) -> None:
        world.connection.execute("UPDATE organizations SET mfa_methods = 'phishing_resistant'")

        refused = await owner.open("/app/organizations/acme/people")
        assert refused.status == 403
        [address] = re.findall(r'href="(/app/second-factor/set-up\?[^"]+)"', refused.text)
        page = await owner.open(html.unescape(address))
        assert not shows(page.text, "data-passkey")
        closed = await owner.open("/app/second-factor/passkey")
        assert closed.status == 403

        await owner.submit(page, "/app/sign-in/link")
        [link] = [mail.values["token"] for mail in await world.mails() if mail.template == "magic_link"]
        await owner.submit(await owner.open(f"/auth/magic-link?token={link}"), "/auth/magic-link")
        page = await owner.open(html.unescape(address))
        [add] = re.findall(r'href="(/app/second-factor/passkey[^"]*)"', page.text)
        other = Authenticator(origin="https://copy.example")
        assert "could not be registered" in (await added(owner, other, html.unescape(add))).text
        shown = await added(owner, Authenticator(is_user_verified=False), html.unescape(add))

        assert len(codes_of(shown)) == 10
        assert (await owner.open("/app/organizations/acme/people")).status == 200

    async def test_a_member_with_one_uses_it(self, world: World, owner: Visitor, clock: SettableClock) -> None:
        passkey = Authenticator()
        await made_factor(world, owner, passkey)
        setup = await owner.submit(await owner.open(PAGE), f"{PAGE}/setup")
        secret = secret_of(setup)
        await owner.submit(setup, f"{PAGE}/enable", code=TOTP(secret).at(clock()))
        world.connection.execute("UPDATE organizations SET mfa_methods = 'phishing_resistant'")
        page = await asked(owner)
        await owner.submit(page, "/app/second-factor", code=TOTP(secret).at(clock()))

        refused = await owner.open("/app/organizations/acme/people")
        page = await owner.open(f"{SET_UP}?return_to=/app/organizations/acme/people")

        assert refused.status == 403
        assert "Use your passkey" in page.text
        assert "A mail to" in page.text

    async def test_a_session_that_has_not_tried_its_factor_is_asked_for_that(
        self, world: World, owner: Visitor
    ) -> None:
        await made_factor(world, owner, Authenticator(is_user_verified=False))
        world.connection.execute("UPDATE organizations SET mfa_methods = 'phishing_resistant'")

        page = await owner.open(SET_UP)

        assert "Sign in again" in page.text
        assert (await owner.submit(page, "/app/sign-in-again", password=PASSWORD)).status == 200
