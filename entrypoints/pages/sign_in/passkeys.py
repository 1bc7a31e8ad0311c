"""Signing in with a passkey on the pages; a script fills the form in, and submits it."""

from typing import Annotated, Final
from uuid import UUID

from core.errors import BadRequest, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import passkeys
from core.sign_in.passkeys import PasskeyRefused
from entrypoints.http.credentials.passkeys import Credential, assertion_of
from entrypoints.http.sessions.token_answers import transact_counted
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.pages.sign_in import ways
from entrypoints.pages.sign_in.sign_in import AddressForm, address_page, methods_page
from entrypoints.web.answers import Status
from entrypoints.web.browsers import SIGN_IN
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser_or_not
from entrypoints.web.decoding import decode_body
from entrypoints.web.hosts import on_custom_hosts
from entrypoints.web.routes import Routes

routes = Routes("sign-in pages", "Signing in in a browser.", refusal_page)

PASSKEY: Final = "/app/sign-in/passkey"


class PasskeyForm(AddressForm, kw_only=True):
    """What the authenticator has signed, as JSON; the address is that of the page, if it has one."""

    challenge_id: str = ""
    credential: str = ""


@routes.get(PASSKEY, status=303)
@on_custom_hosts
@in_browser_or_not
async def show_passkey(call: Call) -> None:
    """Redirect to the first step: there is nothing to show here."""
    call.headers["Location"] = SIGN_IN


@routes.post(
    PASSKEY, limits=(RateLimit.PASSKEY_SIGN_IN, RateLimit.SIGN_IN_GROUP), refuses=(PasskeyRefused, SsoRequired)
)
@on_custom_hosts
@in_browser_or_not
async def submit_passkey(call: Call, form: PasskeyForm) -> Page | Annotated[None, Status(303)]:
    """Sign in with a passkey; programs use `POST /api/auth/passkeys/authenticate/finish`."""
    try:
        outcome = await transact_counted(
            call,
            passkeys.finish,
            _challenge_id(form.challenge_id),
            assertion_of(decode_body(form.credential.encode(), Credential)),
            ways.destination(call, form.way),
        )
    except (PasskeyRefused, BadRequest):
        refusal = PasskeyRefused()
        if form.email:
            return await methods_page(call, form.way, form.email, refusal=refusal)
        return await address_page(call, form.way, refusal=refusal)
    return await ways.conclude(call, outcome, form.way)


def _challenge_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadRequest.of_field("challenge_id", "This must be an id.") from None
