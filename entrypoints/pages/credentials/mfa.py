"""The pages of one's own second factor: an authenticator app, and the backup codes beside it."""

from typing import Final

from core.credentials import mfa
from core.credentials.factors import SecondFactorNotProved
from core.credentials.mfa import MfaAlreadyEnabled, MfaNotEnabled, MfaNotSetUp, SetupCodeWrong, TotpSetup
from core.errors import BadRequest, Forbidden, Refusal
from core.rate_limits import RateLimit
from core.secrets import Secret
from core.sessions import browser_sessions
from core.sign_in import own_ways
from entrypoints.pages.account_pages import ACCOUNT, account_page, address_after
from entrypoints.pages.declaring import account_pages, shows_again
from entrypoints.pages.forms import DoneQuery
from entrypoints.pages.languages import translated
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.shared.credentials.mfa import SETUP_LIMITS
from entrypoints.web.serving import browsers
from entrypoints.web.serving.browsers import ProtectedForm, recent
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser, in_browser_in_person

routes = account_pages()

SECOND_FACTOR: Final = f"{ACCOUNT}/second-factor"
# The secret in groups, as apps show it to people who type it.
GROUP_CHARACTERS: Final = 4


class SetupCodeForm(ProtectedForm, kw_only=True):
    """The first code of the app."""

    code: str = ""


@routes.get(SECOND_FACTOR)
@in_browser
async def show_second_factor(call: Call, query: DoneQuery) -> Page:
    """Show whether signing in takes a code of an app."""
    return account_page(
        call,
        "account_second_factor.html",
        done=query.done,
        status_of_factor=await call.read(mfa.status),
        ways=await call.read(own_ways.read),
    )


@routes.post(
    f"{SECOND_FACTOR}/setup", limits=SETUP_LIMITS, refuses=(MfaAlreadyEnabled, SecondFactorNotProved, Forbidden)
)
@in_browser_in_person
async def begin_setup(call: Call) -> PageOrRedirect:
    """Show a QR code for an authenticator app; the second factor is off until its first code arrives."""
    await recent(call, page=SECOND_FACTOR)
    return await _setup_page(call, await call.transact(mfa.set_up))


async def _pending_page(call: Call, refusal: Refusal) -> Page:
    return await _setup_page(call, await call.transact(mfa.pending_setup), refusal)


@routes.post(
    f"{SECOND_FACTOR}/enable",
    limits=(RateLimit.MFA_VERIFICATION, *SETUP_LIMITS),
    refuses=(SetupCodeWrong, MfaNotSetUp, MfaAlreadyEnabled, SecondFactorNotProved, Forbidden),
)
@in_browser_in_person
@shows_again(_pending_page, SetupCodeWrong, BadRequest, but_not=(MfaAlreadyEnabled, MfaNotSetUp))
async def enable(call: Call, form: SetupCodeForm) -> PageOrRedirect:
    """Turn the second factor on with a code of the app, and show the backup codes."""
    await recent(call, page=SECOND_FACTOR)
    enabled, cookie = await call.transact(browser_sessions.and_renew, call.in_browser, mfa.enable, form.code)
    browsers.keep_session(call, cookie)
    return _codes_page(call, enabled.codes, "factor-on")


@routes.post(f"{SECOND_FACTOR}/disable", status=303, limits=SETUP_LIMITS, refuses=(SecondFactorNotProved, Forbidden))
@in_browser_in_person
async def disable(call: Call) -> None:
    """Turn the second factor off."""
    await recent(call, page=SECOND_FACTOR)
    await call.transact(mfa.disable)
    call.headers["Location"] = address_after(SECOND_FACTOR, "factor-off")


@routes.post(
    f"{SECOND_FACTOR}/backup-codes", limits=SETUP_LIMITS, refuses=(MfaNotEnabled, SecondFactorNotProved, Forbidden)
)
@in_browser_in_person
async def renew_backup_codes(call: Call) -> PageOrRedirect:
    """Show ten new backup codes; all earlier ones become invalid."""
    await recent(call, page=SECOND_FACTOR)
    return _codes_page(call, await call.transact(mfa.renew_backup_codes), "codes-renewed")


async def _setup_page(call: Call, setup: TotpSetup, refusal: Refusal | None = None) -> Page:
    title = translated(call, "QR code for your authenticator app")
    svg = await call.installation.qr_codes.svg(setup.uri.reveal(), title=title)
    secret = setup.secret.reveal()
    groups = [secret[start : start + GROUP_CHARACTERS] for start in range(0, len(secret), GROUP_CHARACTERS)]
    return account_page(
        call,
        "account_second_factor_setup.html",
        refusal=refusal,
        picture=svg,
        picture_title=title,
        secret=" ".join(groups),
        uri=setup.uri.reveal(),
    )


def _codes_page(call: Call, codes: tuple[Secret, ...], done: str) -> Page:
    return account_page(
        call,
        "account_backup_codes.html",
        done=done,
        codes=[code.reveal() for code in codes],
        email=call.in_browser.email,
    )
