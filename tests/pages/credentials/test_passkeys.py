"""The pages of one's own passkeys."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/passkeys"
NEW = f"{PAGE}/new"


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


async def added(ada: Visitor, authenticator: Authenticator, name: str = "Blue key") -> Answer:
    """Add a passkey as the script of the page does."""
    page = await ada.open(NEW)
    credential = authenticator.create(options_of(page))
    del credential["rawId"]
    return await ada.submit(page, NEW, credential=json.dumps(credential), name=name)


async def test_a_passkey_is_added_and_signs_in(world: World, ada: Visitor, keyring: Keyring) -> None:
    authenticator = Authenticator()

    page = await added(ada, authenticator)

    assert "The passkey is added." in page.text
    assert "Blue key" in page.text
    assert (await keyring.sign_in(authenticator)).status == 200
    assert [mail.template.value for mail in await world.mails()] == ["passkey_added"]


async def test_the_secret_of_the_cookie_changes_with_a_new_passkey(ada: Visitor) -> None:
    [before] = [value for name, value in ada.cookies.items() if "gatehouse_session" in name]

    await added(ada, Authenticator())

    [after] = [value for name, value in ada.cookies.items() if "gatehouse_session" in name]
    assert after != before


async def test_the_scripts_of_the_pages_send_requests_only_to_us(ada: Visitor) -> None:
    for path in (PAGE, NEW):
        policy = (await ada.open(path)).headers["Content-Security-Policy"]
        assert "connect-src 'self'" in policy
        assert not shows(policy, "unsafe")
    # A page without the palette sends none.
    assert not shows((await ada.open("/auth/device")).headers["Content-Security-Policy"], "connect-src")


async def test_what_no_authenticator_has_made_is_refused_on_the_page(
    world: World, ada: Visitor, subtests: pytest.Subtests
) -> None:
    for credential, told in (
        ("", "could not be registered"),
        ("{", "could not be registered"),
        ('{"id": "AA", "type": "public-key", "response": {}}', "could not be registered"),
        ("[" * 2000, "could not be registered"),
    ):
        with subtests.test(credential=credential, told=told):
            page = await ada.submit(await ada.open(NEW), NEW, credential=credential)

            assert page.status == 400
            assert told in page.text
            assert world.value("SELECT count(*) FROM passkeys") == 0


async def test_an_unknown_challenge_is_refused_on_the_page(ada: Visitor, subtests: pytest.Subtests) -> None:
    page = await ada.open(NEW)
    credential = Authenticator().create(options_of(page))

    for challenge_id in ("", "x", "0191d3c1-0000-7000-8000-00000000000f"):
        with subtests.test(challenge_id=challenge_id):
            refused = await ada.submit(page, NEW, credential=json.dumps(credential), challenge_id=challenge_id)

            assert refused.status == 400
            assert "This registration has expired or was already used." in refused.text


async def test_a_passkey_is_renamed_and_removed(world: World, ada: Visitor) -> None:
    listed = await added(ada, Authenticator())
    passkey_id = world.value("SELECT id FROM passkeys")

    refused = await ada.submit(listed, f"{PAGE}/{passkey_id}/rename", name=" ")
    renamed = await ada.submit(listed, f"{PAGE}/{passkey_id}/rename", name="<b>Red</b> key")
    removed = await ada.submit(renamed, f"{PAGE}/{passkey_id}/remove")

    assert refused.status == 400
    assert 'role="alert"' in refused.text
    assert "&lt;b&gt;Red&lt;/b&gt; key" in renamed.text
    assert "The passkey is removed." in removed.text
    assert "You have no passkey yet." in removed.text


async def test_the_only_way_to_sign_in_is_not_removed(world: World, ada: Visitor) -> None:
    listed = await added(ada, Authenticator())
    world.remove_password()
    passkey_id = world.value("SELECT id FROM passkeys")

    page = await ada.submit(listed, f"{PAGE}/{passkey_id}/remove")

    assert page.status == 400
    assert "This passkey is your only way to sign in." in page.text


async def test_the_passkey_of_another_user_is_not_found(world: World, ada: Visitor, keyring: Keyring) -> None:
    listed = await added(ada, Authenticator())
    await keyring.sign_up("bob@example.com")
    await keyring.registered()
    mine = world.value("SELECT p.id FROM passkeys p JOIN users u ON u.id = p.user_id WHERE email = %s", EMAIL)
    theirs = world.value("SELECT id FROM passkeys WHERE id <> %s", mine)
    form = listed.text.split('name="form_token" value="')[1].split('"')[0]

    page = await ada.post(f"{PAGE}/{theirs}/remove", {"form_token": form})

    assert page.status == 404
    assert world.value("SELECT count(*) FROM passkeys") == 2
