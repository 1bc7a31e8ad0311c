"""The pages of one's own passkeys. Adding one needs a script, because only scripts can ask the browser to make one."""

import base64
from typing import Final
from uuid import UUID

import msgspec

from core.credentials import passkey_factors, passkeys
from core.credentials.passkeys import (
    LastSignInMethod,
    PasskeyExists,
    PasskeyUnknown,
    RegistrationOver,
    RegistrationRefused,
    TooManyPasskeys,
)
from core.credentials.webauthn import Attestation, Transport
from core.errors import BadRequest, Forbidden, Refusal
from core.sessions import browser_sessions
from core.sign_in import own_account
from entrypoints.pages.console.account import ACCOUNT, account_page, after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.shared.credentials.passkeys import RegistrationCredential, attestation_of, transports_of
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

PASSKEYS: Final = f"{ACCOUNT}/passkeys"
NEW: Final = f"{PASSKEYS}/new"
# After these actions the page tells the browser which passkeys still count.
_SIGNALLED: Final = frozenset({"passkey-removed", "renamed"})


class NewPasskeyForm(ProtectedForm, kw_only=True):
    """What the browser made, as JSON, and the name of the passkey."""

    challenge_id: str = ""
    credential: str = ""
    name: str = ""


class NameForm(ProtectedForm, kw_only=True):
    """The new name of a passkey or a device."""

    name: str = ""


@routes.get(PASSKEYS)
@in_browser
async def show_passkeys(call: Call, *, query: DoneQuery | None = None, refusal: Refusal | None = None) -> Page:
    """Show your passkeys."""
    mine = await call.read(passkeys.list_mine)
    ways = await call.read(own_account.read_ways)
    done = query.done if query is not None else ""
    signals = await _signals(call) if done in _SIGNALLED else ""
    return account_page(
        call,
        "credentials/passkeys.html",
        done=done,
        refusal=refusal,
        passkeys=mine,
        ways=ways,
        signals=signals,
        signals_name=done == "renamed",
    )


async def _signals(call: Call) -> str:
    """Return, as JSON, the signal for the browser about the passkeys that still count (WebAuthn Level 3, 5.1.10)."""
    known = await call.read(passkeys.known_credentials)
    told = {
        "rpId": call.installation.settings.relying_party_id,
        "userId": _encoded(known.user_handle),
        "credentialIds": [_encoded(one) for one in known.credential_ids],
        "name": call.in_browser.email,
    }
    return msgspec.json.encode(told).decode()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


async def _new_page(call: Call, refusal: Refusal | None = None) -> Page:
    started = await call.transact(passkeys.start_registration)
    return account_page(
        call,
        "credentials/passkeys_new.html",
        refusal=refusal,
        challenge_id=str(started.challenge_id),
        options=msgspec.json.encode(started.options).decode(),
    )


@routes.get(NEW, refuses=(TooManyPasskeys, Forbidden))
@in_browser_in_person
async def show_new_passkey(call: Call) -> Page:
    """Show the button that asks the browser to make a passkey."""
    await recent(call)
    return await _new_page(call)


@routes.post(NEW, refuses=(RegistrationOver, RegistrationRefused, TooManyPasskeys, PasskeyExists, Forbidden))
@in_browser_in_person
@shows_again(_new_page, BadRequest, PasskeyExists, but_not=(TooManyPasskeys,))
async def add_passkey(call: Call, form: NewPasskeyForm) -> PageOrRedirect:
    """Register the passkey that the browser made; programs use `POST /api/auth/passkeys/register/finish`."""
    await recent(call, page=NEW)
    challenge_id, (attestation, transports) = _challenge_id(form), _made(form.credential)
    _, cookie = await call.transact(
        browser_sessions.and_renew,
        call.in_browser,
        passkeys.finish_registration,
        challenge_id,
        attestation,
        transports,
        form.name or None,
    )
    browsers.keep_session(call, cookie)
    return after(PASSKEYS, "passkey-added")


@routes.post(f"{PASSKEYS}/:passkey_id/rename", refuses=(PasskeyUnknown, Forbidden))
@in_browser_in_person
@shows_again(show_passkeys, BadRequest)
async def rename_passkey(call: Call, passkey_id: UUID, form: NameForm) -> PageOrRedirect:
    """Rename one of your passkeys."""
    await recent(call, page=PASSKEYS)
    await call.transact(passkey_factors.change_mine, passkey_id, name=form.name)
    return after(PASSKEYS, "renamed")


@routes.post(f"{PASSKEYS}/:passkey_id/remove", refuses=(LastSignInMethod, PasskeyUnknown, Forbidden))
@in_browser_in_person
@shows_again(show_passkeys, LastSignInMethod)
async def remove_passkey(call: Call, passkey_id: UUID) -> PageOrRedirect:
    """Remove one of your passkeys."""
    await recent(call, page=PASSKEYS)
    await call.transact(passkeys.remove_mine, passkey_id)
    return after(PASSKEYS, "passkey-removed")


def _challenge_id(form: NewPasskeyForm) -> UUID:
    try:
        return UUID(form.challenge_id)
    except ValueError:
        raise RegistrationOver from None


def _made(credential: str) -> tuple[Attestation, list[Transport]]:
    try:
        made = decode_body(credential.encode("utf-8", "surrogatepass"), RegistrationCredential)
        return attestation_of(made), transports_of(made)
    except BadRequest:
        # The script of the page wrote it, or there is no script: no field of it means anything to a person.
        raise RegistrationRefused from None


def problem_of_registration(refusal: Refusal | None) -> str:
    """Return what was refused of a passkey that the browser made; an empty text for nothing."""
    if refusal is None:
        return ""
    # The user has typed none of the fields that a message about them would name.
    return RegistrationRefused.default_message if getattr(refusal, "details", ()) else refusal.message
