"""Signing in with a passkey on the pages; a script fills the form in, and submits it."""

from typing import Final

from core.errors import BadRequest, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import passkeys
from core.sign_in.passkeys import PasskeyRefused
from entrypoints.pages.frame.forms import challenge_id_of
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.frame.returns import AddressForm, ReturnQuery
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.login import address_page, methods_page
from entrypoints.shared.credentials.passkeys import AuthenticationCredential, assertion_of
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.serving.admission.browsers import SIGN_IN
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

PASSKEY: Final = "/app/sign-in/passkey"


class PasskeyForm(AddressForm, kw_only=True):
    """The assertion of the authenticator, as JSON; the address is the one on the page, if any."""

    challenge_id: str = ""
    credential: str = ""


@routes.get(PASSKEY, status=303)
@on_custom_hosts
@in_browser_or_not
async def show_passkey(call: Call, query: ReturnQuery) -> None:
    """Redirect to the first step: there is nothing to show here."""
    call.headers["Location"] = query.on(SIGN_IN)


@routes.post(
    PASSKEY, limits=(RateLimit.PASSKEY_SIGN_IN, RateLimit.SIGN_IN_GROUP), refuses=(PasskeyRefused, SsoRequired)
)
@on_custom_hosts
@in_browser_or_not
async def submit_passkey(call: Call, form: PasskeyForm) -> PageOrRedirect:
    """Sign in with a passkey; programs use `POST /api/auth/passkeys/authenticate/finish`."""
    try:
        outcome = await transact_counted(
            call,
            passkeys.finish,
            challenge_id_of(form.challenge_id),
            assertion_of(decode_body(form.credential.encode(), AuthenticationCredential)),
            conclusion.destination(call, form.way),
        )
    except SsoRequired as refusal:
        if not form.email:
            raise
        return await methods_page(call, form.way, form.email, refusal=refusal)
    except (PasskeyRefused, BadRequest):
        refusal = PasskeyRefused()
        if form.email:
            return await methods_page(call, form.way, form.email, refusal=refusal)
        return await address_page(call, form.way, refusal=refusal)
    return await conclusion.conclude(call, outcome, form.way)
