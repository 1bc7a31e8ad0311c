"""The page that asks for the second factor: a passkey, a code of the app, or a backup code.

A passkey needs a script. Without it the page has the field for the code alone, and says so.
"""

from contextlib import suppress
from typing import Annotated
from uuid import UUID

import msgspec
from quart import Response

from core.credentials.webauthn import PasskeyAssertion
from core.errors import BadRequest, Refusal, SsoRequired, TokenExpired, TokenInvalid
from core.rate_limits import RateLimit
from core.sign_in import second_factor
from core.sign_in.second_factor import (
    CodeWrong,
    NoPasskeyFactor,
    PasskeyWrong,
    PreAuthExpired,
    PreAuthInvalid,
    PreAuthOver,
    TooManyWrongCodes,
)
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.conclusion import SECOND_FACTOR
from entrypoints.shared.credentials.passkeys import AuthenticationCredential, assertion_of
from entrypoints.shared.sessions import token_answers
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.admitting import admit_pre_auth_token
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()


class SecondFactorQuery(ReturnQuery, kw_only=True):
    """Where the sign-in leads, and whether the browser is to stay signed in."""

    stay: Annotated[str, msgspec.Meta(description="Whether the browser stays signed in.")] = ""


class CodeForm(WayForm, kw_only=True):
    """The code, or what a passkey has signed, as JSON; `trust` and `stay` are boxes to tick."""

    code: str = ""
    credential: str = ""
    trust: str = ""
    stay: str = ""


@routes.get(SECOND_FACTOR)
@on_custom_hosts
@in_browser_or_not
async def show_second_factor(call: Call, query: SecondFactorQuery) -> Page:
    """Ask for the second factor of a sign-in that waits for it."""
    token = cookie_of(call.request, browsers.cookie_name(call, conclusion.PRE_AUTH_COOKIE))
    if token is None:
        return await over_page(call, query, status=200)
    # A token that is no longer valid is refused with the code.
    with suppress(TokenExpired, TokenInvalid):
        await admit_pre_auth_token(call, token)
    return await code_page(call, query, stay=query.stay)


@routes.post(
    SECOND_FACTOR,
    limits=(RateLimit.MFA_VERIFICATION, RateLimit.SIGN_IN_GROUP),
    refuses=(CodeWrong, SsoRequired, TooManyWrongCodes, PreAuthOver, PreAuthExpired, PreAuthInvalid),
)
@on_custom_hosts
@in_browser_or_not
async def submit_code(call: Call, form: CodeForm) -> PageOrRedirect:
    """Finish a sign-in with a code or a passkey; programs use `POST /api/auth/mfa/verify`."""
    token = cookie_of(call.request, browsers.cookie_name(call, conclusion.PRE_AUTH_COOKIE))
    if token is None:
        return await over_page(call, form.way)
    try:
        await admit_pre_auth_token(call, token)
        verified = await token_answers.transact_counted(
            call,
            second_factor.verify,
            UUID(call.claims["sub"]),
            UUID(call.claims["challenge"]),
            _signed(form.credential) if form.credential else form.code,
            network=call.throttled_network,
            client=conclusion.destination(call, form.way, stays_signed_in=bool(form.stay)),
            trust_device=bool(form.trust),
        )
    except (TooManyWrongCodes, PreAuthOver, TokenExpired, TokenInvalid):
        return await over_page(call, form.way)
    except (CodeWrong, BadRequest) as refusal:
        return await code_page(call, form.way, stay=form.stay, trust=form.trust, refusal=refusal)
    return await conclusion.complete(call, verified.completed, form.way)


async def code_page(
    call: Call, way: ReturnQuery, *, stay: str, trust: str = "", refusal: Refusal | None = None
) -> Response:
    """Return the page that asks for a passkey, if the user has one for it, and for a code, and what was refused."""
    is_of_passkey = isinstance(refusal, PasskeyWrong)
    return form_page(
        call,
        "sign_in/second_factor.html",
        status=refusal.code.status if refusal is not None else 200,
        **await returns.context(call, way),
        options=await _options(call),
        problem="" if is_of_passkey else problem_of(refusal),
        passkey_problem=problem_of(refusal) if is_of_passkey else "",
        stay=stay,
        trust=trust,
    )


async def _options(call: Call) -> str:
    """Return the options for a passkey that finishes the sign-in, as JSON; empty where none does."""
    if not call.claims.get(token_answers.PASSKEY_CLAIM):
        return ""
    try:
        options = await call.transact(
            second_factor.ask_passkey,
            UUID(call.claims["sub"]),
            UUID(call.claims["challenge"]),
            token_answers.destination(call),
        )
    except (NoPasskeyFactor, PreAuthOver):
        return ""
    return msgspec.json.encode(options).decode()


def _signed(credential: str) -> PasskeyAssertion:
    try:
        return assertion_of(decode_body(credential.encode("utf-8", "surrogatepass"), AuthenticationCredential))
    except BadRequest:
        # The script of the page wrote it: no field of it means anything to a person.
        raise PasskeyWrong from None


async def over_page(call: Call, way: ReturnQuery, *, status: int = 401) -> Response:
    """Return the page of a sign-in that waits for no code, or no longer."""
    call.forget_cookie(browsers.cookie_name(call, conclusion.PRE_AUTH_COOKIE))
    return form_page(
        call,
        "sign_in/second_factor_over.html",
        status=status,
        **await returns.context(call, way),
        request_id=call.request_id if status >= 400 else None,
    )
