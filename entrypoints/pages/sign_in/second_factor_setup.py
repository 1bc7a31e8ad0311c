"""Setting up a second factor during a sign-in, because an organization requires it."""

from typing import Final

from quart import Response

from core.credentials import mfa
from core.credentials.mfa import MfaAlreadyEnabled, MfaNotSetUp, SetupCodeWrong
from core.errors import BadRequest, Refusal
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from entrypoints.pages import returns
from entrypoints.pages.declaring import shows_again, sign_in_pages
from entrypoints.pages.refusals import problem_of
from entrypoints.pages.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.returns import ReturnQuery, WayForm
from entrypoints.pages.sign_in.ways import SET_UP
from entrypoints.shared.credentials.mfa import QR_CODE_TITLE, SETUP_LIMITS
from entrypoints.web.serving import browsers
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import SIGN_IN_AGAIN, recent
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_in_person

routes = sign_in_pages()

CONFIRM: Final = "/app/second-factor/confirm"


class ConfirmForm(WayForm, kw_only=True):
    """The first code of the app."""

    code: str = ""


async def _code_page(
    call: Call, form: WayForm, *, secret: str = "", picture: str = "", refusal: Refusal | None = None
) -> Response:
    return form_page(
        call,
        "second_factor_code.html",
        status=400 if refusal is not None else 200,
        **await returns.context(call, form.way),
        secret=secret,
        picture=picture,
        problem=problem_of(refusal),
    )


@routes.get(SET_UP)
@in_browser_in_person
async def show_setup(call: Call, query: ReturnQuery) -> PageOrRedirect:
    """Explain what is to be set up; a user who has a second factor is asked for a code instead."""
    if (await call.read(mfa.status)).enabled:
        return see_other(query.on(SIGN_IN_AGAIN))
    confirmed_at = _confirmed_at(call, query)
    if not confirmed_at:
        await recent(call)
    return form_page(call, "second_factor_setup.html", **await returns.context(call, query), confirmed_at=confirmed_at)


@routes.post(SET_UP, limits=SETUP_LIMITS, refuses=(MfaAlreadyEnabled,))
@in_browser_in_person
async def begin_setup(call: Call, form: WayForm) -> PageOrRedirect:
    """Show the QR code for an authenticator app; programs use `POST /api/user/mfa/setup`."""
    if _confirmed_at(call, form.way):
        return see_other(form.way.on(SET_UP))
    await recent(call, page=form.way.on(SET_UP))
    setup = await call.transact(mfa.set_up)
    uri = setup.uri.reveal()
    return await _code_page(
        call,
        form,
        secret=_grouped(setup.secret.reveal()),
        picture=await call.installation.qr_codes.svg(uri, title=QR_CODE_TITLE),
    )


@routes.get(CONFIRM, status=303)
@in_browser_in_person
async def show_confirm(call: Call, query: ReturnQuery) -> None:
    """Redirect to the beginning: the QR code is shown once."""
    call.headers["Location"] = query.on(SET_UP)


@routes.post(
    CONFIRM,
    limits=(RateLimit.MFA_VERIFICATION, *SETUP_LIMITS),
    refuses=(SetupCodeWrong, MfaNotSetUp, MfaAlreadyEnabled),
)
@in_browser_in_person
@shows_again(_code_page, BadRequest, but_not=(MfaAlreadyEnabled, MfaNotSetUp))
async def confirm_setup(call: Call, form: ConfirmForm) -> Page:
    """Turn the second factor on with a code of the app, and show the backup codes.

    Programs use `POST /api/user/mfa/verify`.
    """
    enabled, cookie = await call.transact(browser_sessions.and_renew, call.in_browser, mfa.enable, form.code)
    browsers.keep_session(call, cookie)
    codes = [code.reveal() for code in enabled.codes]
    # The sign-in page leads a browser that is signed in on.
    return form_page(call, "backup_codes.html", **await returns.context(call, form.way), codes=codes)


def _confirmed_at(call: Call, way: ReturnQuery) -> str:
    """Return the sign-in that asks for a mailed code, for a session by a connection's word alone; else an empty text.

    No factor is added before (decisions 10.8).
    """
    confinement = call.in_browser.confinement
    if confinement is None or confinement.role is None:
        return ""
    return way.on("/auth/upstream", connection_id=str(confinement.connection_id))


def _grouped(secret: str) -> str:
    """Return a key in groups of four characters on lines that fit a phone; apps ignore the blanks."""
    groups = [secret[start : start + 4] for start in range(0, len(secret), 4)]
    return "\n".join(" ".join(groups[start : start + 4]) for start in range(0, len(groups), 4))
