"""Setting up a second factor during a sign-in, because an organization requires it."""

from typing import Annotated, Final

from quart import Response

from core.credentials import mfa
from core.credentials.mfa import MfaAlreadyEnabled, MfaNotSetUp, SetupCodeWrong
from core.errors import BadRequest, Refusal
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from entrypoints.http.credentials.mfa import QR_CODE_TITLE, SETUP_LIMITS
from entrypoints.pages.refusals import message_on_page, refusal_page
from entrypoints.pages.rendering import Page, form_page
from entrypoints.pages.returns import Way, WayForm
from entrypoints.pages.sign_in.ways import SET_UP
from entrypoints.web import browsers
from entrypoints.web.answers import Status, see_other
from entrypoints.web.browsers import SIGN_IN, SIGN_IN_AGAIN, recent
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("sign-in pages", "Signing in in a browser.", refusal_page)

CONFIRM: Final = "/app/second-factor/confirm"


class ConfirmForm(WayForm, kw_only=True):
    """The first code of the app."""

    code: str = ""


@routes.get(SET_UP)
@in_browser
async def show_setup(call: Call, query: Way) -> Page | Annotated[None, Status(303)]:
    """Explain what is to be set up; a user who has a second factor is asked for a code instead."""
    if (await call.read(mfa.status)).enabled:
        return see_other(query.on(SIGN_IN_AGAIN))
    await recent(call)
    return form_page(call, "second_factor_setup.html", way=query)


@routes.post(SET_UP, limits=SETUP_LIMITS, refuses=(MfaAlreadyEnabled,))
@in_browser
async def begin_setup(call: Call, form: WayForm) -> Page:
    """Show the QR code for an authenticator app; programs use `POST /api/user/mfa/setup`."""
    await recent(call)
    setup = await call.transact(mfa.set_up)
    uri = setup.uri.reveal()
    return _code_page(
        call,
        form.way,
        secret=_grouped(setup.secret.reveal()),
        picture=await call.installation.qr_codes.svg(uri, title=QR_CODE_TITLE),
    )


@routes.get(CONFIRM, status=303)
@in_browser
async def show_confirm(call: Call) -> None:
    """Redirect to the beginning: the QR code is shown once."""
    call.headers["Location"] = SET_UP


@routes.post(
    CONFIRM,
    limits=(RateLimit.MFA_VERIFICATION, *SETUP_LIMITS),
    refuses=(SetupCodeWrong, MfaNotSetUp, MfaAlreadyEnabled),
)
@in_browser
async def confirm_setup(call: Call, form: ConfirmForm) -> Page:
    """Turn the second factor on with a code of the app, and show the backup codes.

    Programs use `POST /api/user/mfa/verify`.
    """
    try:
        enabled, cookie = await call.transact(browser_sessions.and_renew, call.in_browser, mfa.enable, form.code)
    except (MfaAlreadyEnabled, MfaNotSetUp):
        raise
    except BadRequest as refusal:
        return _code_page(call, form.way, refusal=refusal)
    browsers.keep_session(call, cookie)
    codes = [code.reveal() for code in enabled.codes]
    # The sign-in page leads a browser that is signed in on.
    return form_page(call, "backup_codes.html", codes=codes, address=form.way.on(SIGN_IN))


def _code_page(
    call: Call, way: Way, *, secret: str = "", picture: str = "", refusal: Refusal | None = None
) -> Response:
    problem = "" if refusal is None else message_on_page(refusal)
    if isinstance(refusal, BadRequest) and refusal.details:
        problem = refusal.details[0].message
    return form_page(
        call,
        "second_factor_code.html",
        status=400 if refusal is not None else 200,
        way=way,
        secret=secret,
        picture=picture,
        problem=problem,
    )


def _grouped(secret: str) -> str:
    """Return a key in groups of four characters on lines that fit a phone; apps ignore the blanks."""
    groups = [secret[start : start + 4] for start in range(0, len(secret), 4)]
    return "\n".join(" ".join(groups[start : start + 4]) for start in range(0, len(groups), 4))
