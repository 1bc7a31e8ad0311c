"""Adding a passkey on the host of the page: under a custom domain, passkeys of the base URL do not work."""

import json
from typing import Annotated, Final
from uuid import UUID

from quart import Response

from core.credentials import passkeys
from core.credentials.passkeys import PasskeyExists, RegistrationOver, RegistrationRefused, TooManyPasskeys
from core.errors import BadRequest, Forbidden, Refusal
from core.sessions import browser_sessions
from entrypoints.http.credentials.passkeys import NewCredential, attestation_of, transports_of
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, form_page
from entrypoints.web import browsers, hosts
from entrypoints.web.answers import Status, see_other
from entrypoints.web.browsers import ProtectedForm, recent
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.decoding import decode_body
from entrypoints.web.hosts import on_custom_hosts
from entrypoints.web.routes import Routes

routes = Routes("sign-in pages", "Signing in in a browser.", refusal_page)

PASSKEY: Final = "/app/passkey"
_DONE: Final = "/app"


class HostPasskeyForm(ProtectedForm, kw_only=True):
    """What the authenticator has made, as JSON."""

    challenge_id: str = ""
    credential: str = ""


@routes.get(PASSKEY, refuses=(TooManyPasskeys, Forbidden))
@on_custom_hosts
@in_browser
async def show_new_passkey(call: Call) -> Page:
    """Show the button that adds a passkey for this host."""
    await recent(call)
    return await _page(call)


@routes.post(PASSKEY, refuses=(TooManyPasskeys, PasskeyExists, RegistrationOver, RegistrationRefused, Forbidden))
@on_custom_hosts
@in_browser
async def add_passkey(call: Call, form: HostPasskeyForm) -> Page | Annotated[None, Status(303)]:
    """Add the passkey that the authenticator has made; programs use `POST /api/auth/passkeys/register/finish`."""
    await recent(call)
    try:
        credential = decode_body(form.credential.encode(), NewCredential)
        _, cookie = await call.transact(
            browser_sessions.and_renew,
            call.in_browser,
            passkeys.finish_registration,
            _challenge_id(form.challenge_id),
            attestation_of(credential),
            transports_of(credential),
            None,
        )
    except (BadRequest, PasskeyExists) as refusal:
        return await _page(call, refusal)
    browsers.keep_session(call, cookie)
    return see_other(_DONE)


async def _page(call: Call, refusal: Refusal | None = None) -> Response:
    started = await call.transact(passkeys.start_registration)
    return form_page(
        call,
        "new_passkey.html",
        status=refusal.code.status if refusal is not None else 200,
        has_script=True,
        challenge_id=started.challenge_id,
        options=json.dumps(started.options),
        host=hosts.origin_of(call).partition("://")[2],
        problem=_words(refusal),
    )


def _words(refusal: Refusal | None) -> str:
    if refusal is None:
        return ""
    # The user has typed none of the fields that a message about them would name.
    return RegistrationRefused.default_message if getattr(refusal, "details", ()) else refusal.message


def _challenge_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadRequest.of_field("challenge_id", "This must be an id.") from None
