"""Setting up a second factor during a sign-in, because an organization requires it."""

from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from quart import Response

from core.credentials import factors, mfa
from core.credentials.mfa import MfaAlreadyEnabled, MfaNotSetUp, SetupCodeWrong
from core.errors import BadRequest, Refusal
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from core.sessions.shown_secrets import ToShow
from core.sign_in.browser_returns import CONFIRMED
from entrypoints.pages.credentials.mfa import SECOND_FACTOR
from entrypoints.pages.credentials.mfa import SETUP_CODES as CODES
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.next_steps import CONFIRM_ADDRESS
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import shows_again, sign_in_pages
from entrypoints.pages.sessions.shown_secrets import leading_to, made_to_show, shown_once
from entrypoints.pages.sign_in.conclusion import SET_UP
from entrypoints.shared.credentials.mfa import QR_CODE_TITLE, SETUP_LIMITS
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import SIGN_IN, SIGN_IN_AGAIN, recent
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

CONFIRM: Final = "/app/second-factor/confirm"


class ConfirmForm(WayForm, kw_only=True):
    """The first code of the app."""

    code: str = ""


async def _page(
    call: Call, way: ReturnQuery, secret: str = "", uri: str = "", *, refusal: Refusal | None = None
) -> Response:
    """Return the page with the QR code; without a secret, the one that takes the code of an app which has it."""
    return form_page(
        call,
        "sign_in/second_factor_setup_code.html",
        status=400 if refusal is not None else 200,
        **await returns.context(call, way),
        secret=_grouped(secret),
        picture=await call.installation.qr_codes.svg(uri, title=QR_CODE_TITLE) if uri else "",
        uri=uri,
        problem=problem_of(refusal),
    )


async def _code_page(call: Call, form: WayForm, *, refusal: Refusal) -> Response:
    return await _page(call, form.way, refusal=refusal)


@routes.get(SET_UP)
@in_browser_in_person
async def show_setup(call: Call, query: ReturnQuery) -> PageOrRedirect:
    """Explain what is to be set up; a user who has a second factor is asked for it instead."""
    lacking = await call.read(factors.to_set_up)
    if lacking.has_factor and not lacking.takes_passkey:
        return see_other(query.on(SIGN_IN_AGAIN))
    confirmed_at = _confirmed_at(call, query)
    if lacking.takes_passkey:
        proved_at = _mailed_proof_at(call) if not (confirmed_at or lacking.has_mailed_proof) else ""
        return form_page(
            call,
            "sign_in/second_factor_setup_passkey.html",
            connects=True,
            **await returns.context(call, query),
            confirmed_at=confirmed_at,
            proved_at=proved_at,
            lacking=lacking,
        )
    if not confirmed_at:
        await recent(call)
    return form_page(
        call, "sign_in/second_factor_setup.html", **await returns.context(call, query), confirmed_at=confirmed_at
    )


@routes.post(SET_UP, makes_secret=True, limits=SETUP_LIMITS, refuses=(MfaAlreadyEnabled,))
@in_browser_in_person
async def begin_setup(call: Call, form: WayForm) -> PageOrRedirect:
    """Lead to the QR code for an authenticator app; programs use `POST /api/user/mfa/setup`."""
    if _confirmed_at(call, form.way):
        return see_other(form.way.on(SET_UP))
    return await leading_to(
        call,
        mfa.set_up,
        lambda made: ToShow(page=CONFIRM, secrets=(made.secret, made.uri)),
        query=form.way.fields,
    )


@routes.get(f"{CONFIRM}/shown/:shown_id", shows_secret=True)
@in_browser_in_person
async def show_code(call: Call, shown_id: UUID, query: ReturnQuery) -> Page:
    """Show the QR code once, in the browser that asked for it."""
    return await _page(call, query, *await shown_once(call, shown_id))


@routes.get(CONFIRM, status=303)
@in_browser_in_person
async def show_confirm(call: Call, query: ReturnQuery) -> None:
    """Redirect to the beginning: the QR code is shown once."""
    call.headers["Location"] = query.on(SET_UP)


@routes.post(
    CONFIRM,
    makes_secret=True,
    limits=(RateLimit.MFA_VERIFICATION, *SETUP_LIMITS),
    refuses=(SetupCodeWrong, MfaNotSetUp, MfaAlreadyEnabled),
)
@in_browser_in_person
@shows_again(_code_page, BadRequest, but_not=(MfaAlreadyEnabled, MfaNotSetUp))
async def confirm_setup(call: Call, form: ConfirmForm) -> PageOrRedirect:
    """Turn the second factor on with a code of the app, and lead to the backup codes.

    Programs use `POST /api/user/mfa/verify`.
    """
    (_, cookie), response = await made_to_show(
        call,
        lambda uow: browser_sessions.and_renew(uow, call.in_browser, mfa.enable, form.code),
        # Beside another factor there are none, and the sign-in page redirects to the target.
        lambda made: ToShow(page=CODES if made[0].codes else SIGN_IN, secrets=made[0].codes),
        query=form.way.fields,
    )
    browsers.keep_session(call, cookie)
    return response


@routes.get(f"{CODES}/shown/:shown_id", shows_secret=True)
@in_browser_in_person
async def show_codes(call: Call, shown_id: UUID, query: ReturnQuery) -> Page:
    """Show the backup codes once, in the browser that made them."""
    codes = await shown_once(call, shown_id)
    # The sign-in page leads a browser that is signed in on.
    return form_page(
        call, "sign_in/second_factor_setup_backup_codes.html", **await returns.context(call, query), codes=codes
    )


def _confirmed_at(call: Call, way: ReturnQuery) -> str:
    """Return the sign-in that asks for a mailed code, for a session by a connection's assertion alone; else "".

    It adds no factor before, because the connection does not vouch for the account outside its organization.
    """
    confinement = call.in_browser.confinement
    if confinement is None or confinement.role is None:
        return ""
    if not way.return_id and way.return_to in {"", SECOND_FACTOR, SET_UP}:
        return f"{CONFIRM_ADDRESS}?page=second-factor"
    return way.on("/auth/upstream", connection_id=str(confinement.connection_id))


def _mailed_proof_at(call: Call) -> str:
    """Return the sign-in by the connection that asks for a mailed code; an empty text for another session.

    Where the connection is required, a mailed link alone signs no one in.
    """
    confinement = call.in_browser.confinement
    if confinement is None or confinement.connection_id is None:
        return ""
    named = {"connection_id": str(confinement.connection_id), "return_to": f"{CONFIRMED}/passkeys"}
    return f"/auth/upstream?{urlencode(named)}"


def _grouped(secret: str) -> str:
    """Return a key in groups of four characters on lines that fit a phone; apps ignore the blanks."""
    groups = [secret[start : start + 4] for start in range(0, len(secret), 4)]
    return "\n".join(" ".join(groups[start : start + 4]) for start in range(0, len(groups), 4))
