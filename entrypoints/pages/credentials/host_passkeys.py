"""Adding a passkey on the host of the page: under a custom domain, passkeys of the base URL do not work."""

import json
from typing import Final

from quart import Response

from core.credentials import passkeys
from core.credentials.passkeys import PasskeyExists, RegistrationOver, RegistrationRefused, TooManyPasskeys
from core.errors import BadRequest, Forbidden, Refusal
from core.sessions import browser_sessions
from entrypoints.pages.credentials.passkeys import problem_of_registration
from entrypoints.pages.frame.forms import challenge_id_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.routes import shows_again, sign_in_pages
from entrypoints.shared.credentials.passkeys import RegistrationCredential, attestation_of, transports_of
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.serving.admission import browsers, hosts
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

PASSKEY: Final = "/app/passkey"
_DONE: Final = "/app"


class HostPasskeyForm(ProtectedForm, kw_only=True):
    """What the authenticator has made, as JSON."""

    challenge_id: str = ""
    credential: str = ""


async def _page(call: Call, refusal: Refusal | None = None) -> Response:
    started = await call.transact(passkeys.start_registration)
    return form_page(
        call,
        "credentials/host_passkeys.html",
        status=refusal.code.status if refusal is not None else 200,
        connects=True,
        challenge_id=started.challenge_id,
        options=json.dumps(started.options),
        host=hosts.origin_of(call).partition("://")[2],
        problem=problem_of_registration(refusal),
    )


@routes.get(PASSKEY, refuses=(TooManyPasskeys, Forbidden))
@on_custom_hosts
@in_browser_in_person
async def show_new_passkey(call: Call) -> Page:
    """Show the button that adds a passkey for this host."""
    await recent(call)
    return await _page(call)


@routes.post(PASSKEY, refuses=(TooManyPasskeys, PasskeyExists, RegistrationOver, RegistrationRefused, Forbidden))
@on_custom_hosts
@in_browser_in_person
@shows_again(_page, BadRequest, PasskeyExists)
async def add_passkey(call: Call, form: HostPasskeyForm) -> PageOrRedirect:
    """Add the passkey that the authenticator has made; programs use `POST /api/auth/passkeys/register/finish`."""
    await recent(call)
    credential = decode_body(form.credential.encode(), RegistrationCredential)
    _, cookie = await call.transact(
        browser_sessions.and_renew,
        call.in_browser,
        passkeys.finish_registration,
        challenge_id_of(form.challenge_id),
        attestation_of(credential),
        transports_of(credential),
        None,
    )
    browsers.keep_session(call, cookie)
    return see_other(_DONE)
