"""The pages of one's own second factors: an authenticator app, passkeys, and the backup codes beside them."""

from typing import Final
from uuid import UUID

from core.credentials import mfa, passkey_factors, passkeys
from core.credentials.factors import SecondFactorNotProved
from core.credentials.mfa import MfaAlreadyEnabled, MfaNotEnabled, MfaNotSetUp, SetupCodeWrong
from core.credentials.passkey_factors import PasskeyOfDomain
from core.credentials.passkeys import PasskeyUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from core.sessions.shown_secrets import ToShow
from core.sign_in import own_account
from entrypoints.pages.console.account import ACCOUNT, account_page, address_after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import translated
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.pages.sessions.shown_secrets import leading_to, made_to_show, shown_once
from entrypoints.shared.credentials.mfa import SETUP_LIMITS
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

SECOND_FACTOR: Final = f"{ACCOUNT}/second-factor"
SETUP: Final = f"{SECOND_FACTOR}/setup"
CODES: Final = f"{SECOND_FACTOR}/backup-codes"
# Where they are shown during a sign-in.
SETUP_CODES: Final = "/app/second-factor/backup-codes"
# The secret in groups, as apps show it to people who type it.
GROUP_CHARACTERS: Final = 4


class SetupCodeForm(ProtectedForm, kw_only=True):
    """The first code of the app."""

    code: str = ""


@routes.get(SECOND_FACTOR)
@in_browser
async def show_second_factor(call: Call, query: DoneQuery) -> Page:
    """Show the second factors, and what can become one."""
    own = await call.read(mfa.list_own)
    return account_page(
        call,
        "credentials/mfa.html",
        done=query.done,
        status_of_factor=own.status,
        has_app=own.has_app,
        passkeys=await call.read(passkeys.list_mine),
        ways=await call.read(own_account.read_ways),
    )


@routes.post(
    SETUP, makes_secret=True, limits=SETUP_LIMITS, refuses=(MfaAlreadyEnabled, SecondFactorNotProved, Forbidden)
)
@in_browser_in_person
async def begin_setup(call: Call) -> PageOrRedirect:
    """Lead to a QR code for an authenticator app; the second factor is off until its first code arrives."""
    return await leading_to(call, mfa.set_up, lambda made: ToShow(page=SETUP, secrets=(made.secret, made.uri)))


@routes.get(f"{SETUP}/shown/:shown_id", shows_secret=True)
@in_browser_in_person
async def show_setup(call: Call, shown_id: UUID) -> Page:
    """Show the QR code once, in the browser that asked for it."""
    return await _setup_page(call, *await shown_once(call, shown_id))


async def _code_page(call: Call, refusal: Refusal) -> Page:
    # Without an app that waits for its code there is nothing to type.
    await call.transact(mfa.pending_setup)
    return await _setup_page(call, refusal=refusal)


@routes.post(
    f"{SECOND_FACTOR}/enable",
    makes_secret=True,
    limits=(RateLimit.MFA_VERIFICATION, *SETUP_LIMITS),
    refuses=(SetupCodeWrong, MfaNotSetUp, MfaAlreadyEnabled, SecondFactorNotProved, Forbidden),
)
@in_browser_in_person
@shows_again(_code_page, SetupCodeWrong, BadRequest, but_not=(MfaAlreadyEnabled, MfaNotSetUp))
async def enable(call: Call, form: SetupCodeForm) -> PageOrRedirect:
    """Turn the second factor on with a code of the app, and lead to the backup codes."""
    (_, cookie), response = await made_to_show(
        call,
        lambda uow: browser_sessions.and_renew(uow, call.in_browser, mfa.enable, form.code),
        # Beside another factor there are none.
        lambda made: ToShow(page=CODES if made[0].codes else SECOND_FACTOR, secrets=made[0].codes),
        query={"done": "factor-on"},
    )
    browsers.keep_session(call, cookie)
    return response


@routes.post(f"{SECOND_FACTOR}/disable", status=303, limits=SETUP_LIMITS, refuses=(SecondFactorNotProved, Forbidden))
@in_browser_in_person
async def disable(call: Call) -> None:
    """Turn every second factor off."""
    await recent(call, page=SECOND_FACTOR)
    await call.transact(mfa.disable)
    call.headers["Location"] = address_after(SECOND_FACTOR, "factor-off")


@routes.post(f"{SECOND_FACTOR}/remove-app", status=303, limits=SETUP_LIMITS, refuses=(SecondFactorNotProved, Forbidden))
@in_browser_in_person
async def remove_app(call: Call) -> None:
    """Remove the app; passkeys that are second factors stay."""
    await recent(call, page=SECOND_FACTOR)
    await call.transact(mfa.remove_app)
    call.headers["Location"] = address_after(SECOND_FACTOR, "app-removed")


@routes.post(
    f"{SECOND_FACTOR}/passkeys/:passkey_id",
    makes_secret=True,
    limits=SETUP_LIMITS,
    refuses=(PasskeyOfDomain, PasskeyUnknown, SecondFactorNotProved, Forbidden),
)
@in_browser_in_person
async def add_passkey_factor(call: Call, passkey_id: UUID) -> PageOrRedirect:
    """Make one of your passkeys a second factor, and lead to the backup codes if it is the first one."""
    return await leading_to(
        call,
        lambda uow: passkey_factors.change_mine(uow, passkey_id, is_second_factor=True),
        lambda made: ToShow(page=CODES if made.codes else SECOND_FACTOR, secrets=made.codes),
        query={"done": "factor-on"},
    )


@routes.post(
    f"{SECOND_FACTOR}/passkeys/:passkey_id/remove",
    status=303,
    limits=SETUP_LIMITS,
    refuses=(PasskeyUnknown, SecondFactorNotProved, Forbidden),
)
@in_browser_in_person
async def remove_passkey_factor(call: Call, passkey_id: UUID) -> None:
    """Make a passkey a second factor no longer; it still signs in."""
    await recent(call, page=SECOND_FACTOR)
    await call.transact(passkey_factors.change_mine, passkey_id, is_second_factor=False)
    call.headers["Location"] = address_after(SECOND_FACTOR, "factor-removed")


@routes.post(CODES, makes_secret=True, limits=SETUP_LIMITS, refuses=(MfaNotEnabled, SecondFactorNotProved, Forbidden))
@in_browser_in_person
async def renew_backup_codes(call: Call) -> PageOrRedirect:
    """Make ten new backup codes and lead to them; all earlier ones become invalid."""
    return await leading_to(
        call, mfa.renew_backup_codes, lambda codes: ToShow(page=CODES, secrets=codes), query={"done": "codes-renewed"}
    )


@routes.get(f"{CODES}/shown/:shown_id", shows_secret=True)
@in_browser_in_person
async def show_backup_codes(call: Call, shown_id: UUID, query: DoneQuery) -> Page:
    """Show new backup codes once, in the browser that made them."""
    codes = await shown_once(call, shown_id)
    return account_page(
        call,
        "credentials/mfa_backup_codes.html",
        # What was done is said once as well.
        done=query.done if codes else "",
        codes=codes,
        email=call.in_browser.email,
    )


async def _setup_page(call: Call, secret: str = "", uri: str = "", *, refusal: Refusal | None = None) -> Page:
    """Return the page with the QR code; without a secret, the one that takes the code of an app which has it."""
    title = translated(call, "QR code for your authenticator app")
    groups = [secret[start : start + GROUP_CHARACTERS] for start in range(0, len(secret), GROUP_CHARACTERS)]
    return account_page(
        call,
        "credentials/mfa_setup.html",
        refusal=refusal,
        picture=await call.installation.qr_codes.svg(uri, title=title) if uri else "",
        picture_title=title,
        secret=" ".join(groups),
        uri=uri,
    )
