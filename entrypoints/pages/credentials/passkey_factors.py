"""Adding a passkey during a sign-in, because an organization accepts nothing else as a second factor."""

from typing import Final

import msgspec
from quart import Response

from core.credentials import passkey_factors, passkeys
from core.credentials.passkeys import PasskeyExists, RegistrationOver, RegistrationRefused, TooManyPasskeys
from core.errors import BadRequest, Forbidden, Refusal
from core.sessions import browser_sessions
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.credentials.mfa import SETUP_CODES
from entrypoints.pages.credentials.passkeys import problem_of_registration
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.forms import challenge_id_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import shows_again, sign_in_pages
from entrypoints.pages.sessions.shown_secrets import made_to_show
from entrypoints.shared.credentials.passkeys import RegistrationCredential, attestation_of, transports_of
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import SIGN_IN, recent
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

PASSKEY: Final = "/app/second-factor/passkey"


class PasskeyFactorForm(WayForm, kw_only=True):
    """What the authenticator has made, as JSON."""

    challenge_id: str = ""
    credential: str = ""


async def _page(call: Call, way: ReturnQuery, refusal: Refusal | None = None) -> Response:
    started = await call.transact(passkeys.start_registration)
    return form_page(
        call,
        "credentials/passkey_factors.html",
        status=refusal.code.status if refusal is not None else 200,
        **await returns.context(call, way),
        challenge_id=started.challenge_id,
        options=msgspec.json.encode(started.options).decode(),
        problem=problem_of_registration(refusal),
    )


async def _shown_again(call: Call, form: WayForm, *, refusal: Refusal) -> Response:
    return await _page(call, form.way, refusal)


@routes.get(PASSKEY, refuses=(TooManyPasskeys, Forbidden))
@in_browser_in_person
async def show_passkey_setup(call: Call, query: ReturnQuery) -> Page:
    """Show the button that asks the browser to make a passkey."""
    await recent(call)
    return await _page(call, query)


@routes.post(
    PASSKEY,
    makes_secret=True,
    refuses=(TooManyPasskeys, PasskeyExists, RegistrationOver, RegistrationRefused, Forbidden),
)
@in_browser_in_person
@shows_again(_shown_again, BadRequest, PasskeyExists, but_not=(TooManyPasskeys,))
async def set_passkey_up(call: Call, form: PasskeyFactorForm) -> PageOrRedirect:
    """Add the passkey that the browser made as a second factor, and lead to the backup codes, or on.

    Programs use `POST /api/auth/passkeys/register/finish` and `PATCH /api/auth/passkeys/:id`.
    """
    credential = decode_body(form.credential.encode("utf-8", "surrogatepass"), RegistrationCredential)
    challenge_id, attestation = challenge_id_of(form.challenge_id), attestation_of(credential)
    (_, cookie), response = await made_to_show(
        call,
        lambda uow: browser_sessions.and_renew(
            uow,
            call.in_browser,
            passkey_factors.register,
            challenge_id,
            attestation,
            transports_of(credential),
            None,
        ),
        lambda made: ToShow(page=SETUP_CODES if made[0].codes else SIGN_IN, secrets=made[0].codes),
        query=form.way.fields,
    )
    browsers.keep_session(call, cookie)
    return response
