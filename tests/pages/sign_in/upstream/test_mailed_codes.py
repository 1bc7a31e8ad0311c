"""An identity that a connection's word alone has linked opens few roles before its person types a mailed code."""

from __future__ import annotations

import re
from html import unescape

import pytest
from pyotp.totp import TOTP

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme, command_line_token
from tests.world.saml import SamlWorld
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import assert_refused

ADA = "ada@acme.example"
CODE = "/app/sign-in/code"
SET_UP = "/app/second-factor/set-up"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def appoint(acme: Acme, role: str) -> None:
    """Give Ada's unproved account a role in Acme; make the account if it does not exist."""
    world = acme.world
    if world.value("SELECT count(*) FROM users WHERE email = %s", ADA) == 0:
        world.user(ADA)
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE email = %s", (ADA,))
    world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (world.user_id(ADA),))
    world.member(acme.organization_id, world.user_id(ADA), role, is_confirmed=False)


async def mailed_code(acme: Acme) -> str:
    """Open the link of the mail on another device, as its reader does, and return the code that it shows."""
    [mail] = [one for one in await acme.world.mails() if one.template == "magic_link"]
    assert mail.to == ADA
    device = Visitor(acme.world.client)
    shown = await device.submit(await device.open(f"/auth/magic-link?token={mail.values['token']}"))
    [code] = _UUID.findall(shown.text)
    return code


def assert_code_is_asked_for(acme: Acme, page: Answer) -> None:
    """Assert that a page asks for the mailed code, and that no session has begun."""
    assert CODE in page.text, page.text
    assert (acme.live_sessions, acme.visitor.has_session) == (0, False)


@pytest.mark.parametrize("role", ["admin", "auditor"])
async def test_a_role_that_the_connection_does_not_give_takes_a_mailed_code_once(acme: Acme, role: str) -> None:
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view")
    appoint(acme, role)

    page = await acme.sign_in()
    assert_code_is_asked_for(acme, page)
    home = await acme.visitor.submit(page, CODE, code=await mailed_code(acme))

    assert ADA in home.text
    assert acme.live_sessions == 1
    assert acme.world.value("SELECT confirmed_at IS NOT NULL FROM identities")
    acme.visitor.cookies.clear()
    await acme.sign_in()
    assert acme.live_sessions == 2


async def test_the_digits_of_the_mail_do_what_the_code_of_its_page_does(acme: Acme) -> None:
    appoint(acme, "admin")
    await acme.enforce()

    page = await acme.sign_in()
    [mail] = [one for one in await acme.world.mails() if one.template == "magic_link"]
    await acme.visitor.submit(page, CODE, code=mail.values["code"])

    assert acme.live_sessions == 1
    assert acme.world.value("SELECT confirmed_at IS NOT NULL FROM identities")


async def test_the_code_suffices_where_the_connection_is_required(acme: Acme) -> None:
    appoint(acme, "admin")
    await acme.enforce()

    page = await acme.sign_in()
    await acme.visitor.submit(page, CODE, code=await mailed_code(acme))

    assert acme.live_sessions == 1


async def test_an_account_without_a_password_is_linked_by_a_mailed_code_where_the_connection_is_required(
    acme: Acme,
) -> None:
    acme.world.user(ADA)
    acme.world.remove_password(ADA)
    await acme.enforce()

    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, "/app/sign-in", email=ADA)
    page = await acme.visitor.submit(methods, "/app/sign-in/link")
    await acme.visitor.submit(page, CODE, code=await mailed_code(acme))

    assert acme.live_sessions == 1
    assert acme.world.value("SELECT confirmed_at IS NOT NULL FROM identities")


@pytest.mark.parametrize("role", ["member", "auditor"])
async def test_the_roles_that_a_connection_may_give_take_no_code(acme: Acme, role: str) -> None:
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view")
    await acme.change(joins_as="auditor")
    appoint(acme, role)

    await acme.sign_in()

    assert acme.live_sessions == 1


async def test_a_password_does_not_take_the_place_of_the_code(acme: Acme) -> None:
    appoint(acme, "admin")
    page = await acme.sign_in()
    acme.world.connection.execute(
        "UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'owner@acme.example')"
        " WHERE email = %s",
        (ADA,),
    )
    [link] = re.findall(r'name="return_id" value="([^"]+)"', page.text)
    methods = await acme.visitor.submit(
        await acme.visitor.open(f"/app/sign-in?return_id={link}"), "/app/sign-in", email=ADA
    )

    again = await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert CODE in again.text
    assert acme.live_sessions == 0
    assert not acme.world.value("SELECT confirmed_at IS NOT NULL FROM identities")


async def test_another_person_than_the_reader_of_the_mail_does_not_get_in(acme: Acme) -> None:
    appoint(acme, "admin")
    page = await acme.sign_in()

    refused = await acme.visitor.submit(page, CODE, code="6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11")

    assert refused.status == 401
    assert_code_is_asked_for(acme, refused)


async def test_who_is_promoted_later_opens_nothing_with_it_before_the_code(acme: Acme, saml: SamlWorld) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    appoint(acme, "admin")
    service = await saml.service(acme.organization_id, "acme")

    choice = await acme.visitor.open("/app/choose-organization")
    at_service = await acme.visitor.open(service.sso())

    assert not shows(at_service.text, "SAMLResponse")
    assert choice.status == 200
    acme.visitor.cookies.clear()
    page = await acme.sign_in()
    assert CODE in page.text


async def test_a_session_by_a_connections_word_alone_opens_no_new_role_of_its_user(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    tokens = await command_line_token(acme)
    client, token = acme.world.client, tokens["access_token"]
    # Its context is the organization, as in a session of its services.
    acme.world.connection.execute(
        "UPDATE sessions SET organization_id = %s WHERE id = %s",
        (acme.organization_id, claims_of(token)["sid"]),
    )
    refreshed = await acme.world.refresh(tokens["refresh_token"])
    assert claims_of(refreshed.json["access_token"])["role"] == "member"

    appoint(acme, "admin")

    refused = await client.get("/api/organizations/acme", token=token)
    assert_refused(refused, 403, "FORBIDDEN")
    assert "a code that is mailed to you confirms it" in refused.json["error"]
    assert_refused(await acme.world.refresh(refreshed.json["refresh_token"]), 401, "UNAUTHORIZED")


async def test_a_session_by_a_connections_word_alone_adds_no_other_way_to_sign_in(acme: Acme) -> None:
    await acme.sign_in()
    token = (await command_line_token(acme))["access_token"]
    client = acme.world.client

    for method, path, body in (
        ("POST", "/api/user/set-password", {"new_password": PASSWORD}),
        ("POST", "/api/auth/passkeys/register/start", {}),
        ("PATCH", "/api/user", {"email": "other@acme.example"}),
    ):
        assert_refused(await client.request(method, path, token=token, body=body), 403, "FORBIDDEN")
    await acme.sign_in_confirmed()
    token = (await command_line_token(acme))["access_token"]
    assert (await client.post("/api/user/set-password", token=token, body={"new_password": PASSWORD})).status == 200


async def require_mfa(acme: Acme) -> None:
    """Let Acme require a second factor of its members; Ada is one."""
    appoint(acme, "member")
    acme.world.connection.execute("UPDATE organizations SET mfa_required = true WHERE id = %s", (acme.organization_id,))


async def set_up_factor(acme: Acme, page: Answer) -> Answer:
    """Set an authenticator app up, beginning with the page that leads there, and return the page that follows."""
    shown = await acme.visitor.submit(page, SET_UP)
    secret = "".join(re.findall(r">([A-Z2-7 \n]{32,})<", shown.text)[0].split())
    return await acme.visitor.submit(shown, "/app/second-factor/confirm", code=TOTP(secret).at(acme.world.clock()))


@pytest.mark.parametrize("is_enforced", [True, False])
async def test_who_has_to_set_up_a_second_factor_types_a_mailed_code_before(acme: Acme, *, is_enforced: bool) -> None:
    if is_enforced:
        await acme.enforce()
    await require_mfa(acme)

    page = await acme.sign_in()
    assert_code_is_asked_for(acme, page)
    await acme.visitor.submit(page, CODE, code=await mailed_code(acme))
    enabled = await set_up_factor(acme, await acme.visitor.open(SET_UP))

    assert "backup code" in enabled.text.lower()
    assert acme.world.value("SELECT mfa_enabled_at IS NOT NULL FROM users WHERE email = %s", ADA)


async def test_a_session_from_before_the_rule_is_led_from_the_setup_to_the_mailed_code_and_back(acme: Acme) -> None:
    await acme.sign_in()
    await require_mfa(acme)

    explained = await acme.visitor.open(f"{SET_UP}?return_to=/app/account/second-factor")
    assert "confirm it first" in explained.text
    assert "Show the QR code" not in explained.text
    arrived = await confirm(acme, explained)

    assert "Two-step" in arrived.text or "second factor" in arrived.text.lower()
    assert "Show the QR code" in (await acme.visitor.open(SET_UP)).text


async def test_no_form_of_an_older_page_sets_a_second_factor_up_before_the_code(acme: Acme) -> None:
    await acme.sign_in()
    await acme.sign_in_confirmed()
    await require_mfa(acme)
    page = await acme.visitor.open(SET_UP)
    acme.world.connection.execute("UPDATE sessions SET confined_to_role = 'member' WHERE revoked_at IS NULL")

    answered = await acme.visitor.submit(page, SET_UP)

    assert "confirm it first" in answered.text
    assert acme.world.value("SELECT count(*) FROM totp_secrets") == 0


async def test_who_has_a_second_factor_or_is_trusted_with_it_types_no_code(acme: Acme) -> None:
    await acme.change(trust_mfa=True)
    await require_mfa(acme)

    await acme.sign_in()

    assert acme.live_sessions == 1


async def confirm(acme: Acme, page: Answer) -> Answer:
    """Follow the way of a page to the mailed code, type it, and return the page that follows."""
    [address] = {unescape(one) for one in re.findall(r'href="(/app/account/confirm-address[^"]*)"', page.text)}
    departed = await acme.visitor.send("GET", (await acme.visitor.send("GET", address)).headers["Location"])
    asked = await acme.visitor.open(acme.provider.sign_in(departed.headers["Location"]))
    assert CODE in asked.text, asked.text
    return await acme.visitor.submit(asked, CODE, code=await mailed_code(acme))


@pytest.mark.parametrize("is_enforced", [True, False])
@pytest.mark.parametrize(
    ("path", "refused_with", "arrives_at"),
    [
        ("/app/account/second-factor", None, "/app/account/second-factor/setup"),
        (SET_UP, None, "/app/account/second-factor/setup"),
        ("/app/account/passkeys", None, "Add a passkey"),
        ("/app/account/password", None, 'action="/app/account/password"'),
        ("/app/account/email", None, 'action="/app/account/email"'),
        ("/app/account/closing", "/app/account/closing", 'action="/app/account/closing"'),
        ("/app/account", None, "How you sign in"),
    ],
)
async def test_a_plain_member_confirms_the_address_by_a_mailed_code_and_comes_back(
    acme: Acme, *, path: str, refused_with: str | None, arrives_at: str, is_enforced: bool
) -> None:
    if is_enforced:
        await acme.enforce()
    await acme.sign_in()
    page = await acme.visitor.open(path)
    if refused_with is not None:
        page = await acme.visitor.submit(page, refused_with)
        assert page.status == 403

    arrived = await confirm(acme, page)

    # Where the connection is required, a password or passkey is of no use, so none is offered.
    is_needless = is_enforced and path in {"/app/account/password", "/app/account/passkeys"}
    assert is_needless or arrives_at in arrived.text, arrived.text
    assert "confirm-address" not in arrived.text
    assert acme.world.value("SELECT confirmed_at IS NOT NULL FROM identities")
    assert acme.world.value("SELECT bool_and(confined_to_role IS NULL) FROM sessions WHERE revoked_at IS NULL")


async def test_who_has_confirmed_the_address_is_led_back_without_another_code(acme: Acme) -> None:
    await acme.sign_in()
    await acme.sign_in_confirmed()

    confirmed = await acme.visitor.send("GET", "/app/account/confirm-address?page=passkeys")
    unknown = await acme.visitor.send("GET", "/app/account/confirm-address/sessions")

    assert confirmed.headers["Location"] == "/app/account/passkeys"
    assert unknown.headers["Location"] == "/app/account"


async def test_a_sign_in_by_the_connection_begins_no_row_of_wrong_codes_anew(acme: Acme) -> None:
    # The organization can sign in so as often as it likes: it would guess 100 codes after each.
    appoint(acme, "member")
    await acme.sign_in()
    acme.world.connection.execute("UPDATE users SET wrong_mailed_codes = 100 WHERE email = %s", (ADA,))

    await acme.sign_in_confirmed()

    assert acme.live_sessions > 0
    assert acme.world.value("SELECT wrong_mailed_codes FROM users WHERE email = %s", ADA) == 100


@pytest.mark.parametrize("is_confirmed", [False, True])
async def test_who_signs_in_by_a_required_connection_adds_a_passkey_after_a_mailed_code(
    acme: Acme, is_confirmed: bool
) -> None:
    appoint(acme, "member")
    if is_confirmed:
        await acme.sign_in()
        acme.world.connection.execute("UPDATE identities SET confirmed_at = now()")
        acme.visitor.cookies.clear()
    await acme.enforce()
    acme.world.connection.execute("UPDATE organizations SET mfa_required = true, mfa_methods = 'phishing_resistant'")

    page = await acme.sign_in()
    if is_confirmed:
        setup = await acme.visitor.open(SET_UP)
        [way] = re.findall(r'href="(/auth/upstream[^"]*)"', setup.text)
        assert (await acme.visitor.open("/app/second-factor/passkey")).status == 403
        gone = await acme.visitor.send("GET", unescape(way))
        page = await acme.visitor.open(acme.provider.sign_in(gone.headers["Location"]))
    [mail] = [one for one in await acme.world.mails() if one.template == "magic_link"]
    await acme.visitor.submit(page, CODE, code=mail.values["code"])

    assert (await acme.visitor.open("/app/second-factor/passkey")).status == 200
