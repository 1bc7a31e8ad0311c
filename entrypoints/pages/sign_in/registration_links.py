"""Confirming a registration on the page of its link, which signs in; `accounts/verification.py` shows the page."""

import trio
from quart import Response

from core.accounts import email_verification
from core.accounts.email_verification import UnprovedAddress
from core.accounts.links import LinkUnusable
from core.accounts.return_targets import ReturnTarget
from core.errors import ServiceUnavailable, SsoRequired
from core.limits import PASSWORD_CHARACTERS_MAX
from core.rate_limits import RateLimit
from core.sign_in import registration_links
from core.sign_in.mfa_challenges import SecondFactorPending, SignInCompleted
from core.sign_in.proofs import Destination
from core.sign_in.reasons import SignInRefused
from core.sign_in.registration_links import RegistrationPasswordWrong
from entrypoints.pages.accounts.email_verification import RegistrationLinkForm, show
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.interrupted_sign_ins import place_page, where_it_goes_on
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.rendering import PageOrRedirect, page
from entrypoints.pages.frame.returns import ReturnQuery, read_in
from entrypoints.pages.frame.routes import registration_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.web.serving.admission.browsers import HOME, SIGN_IN
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.calls import Call, shielded

routes = registration_pages()


class RegistrationConfirmationForm(RegistrationLinkForm, kw_only=True):
    """The button of the page, with the password of the registration in any other browser."""

    password: str = ""


@routes.post(
    "/auth/verify-email/confirm",
    limits=(RateLimit.LOGIN,),
    refuses=(LinkUnusable, SignInRefused, RegistrationPasswordWrong, SsoRequired),
)
@in_browser_or_not
async def confirm_registration(call: Call, form: RegistrationConfirmationForm) -> PageOrRedirect:
    """Verify the address of a registration and sign in; programs send `Accept: application/json` with the link's GET.

    The browser in which it was registered needs no password.
    """
    found = await call.read(email_verification.inspect_unproved, form.token)
    read_in(call, found.back)
    # Elsewhere the registration says nothing about what waits in this browser.
    way = returns.way_of(call, found.registering_browser)
    wanted = conclusion.destination(call, way or ReturnQuery())
    call.repeats_at = (way or ReturnQuery()).on(SIGN_IN)
    if way is not None:
        outcome = await transact_counted(call, registration_links.confirm, form.token, wanted)
        return await _lead_on(call, outcome, found, way)
    try:
        outcome = await _authenticate(call, form, wanted)
    except SignInRefused as refusal:
        return await show(call, form.token, found, refusal=refusal)
    return await _lead_on(call, outcome, found, None)


async def _authenticate(
    call: Call, form: RegistrationConfirmationForm, wanted: Destination
) -> SignInCompleted | SecondFactorPending:
    """Sign in with the password of a registration, or raise the refusal; `login.py` explains the order."""
    attempt = await call.transact(registration_links.begin, form.token, call.throttled_network)
    encoded = attempt.password_hash if len(form.password) <= PASSWORD_CHARACTERS_MAX else None
    try:
        verdict = await call.installation.passwords.verify(form.password[:PASSWORD_CHARACTERS_MAX], encoded)
    except (ServiceUnavailable, trio.Cancelled):
        with shielded():
            await call.transact(registration_links.give_up, attempt)
        raise
    if not verdict.is_right:
        # Recorded also when the client has hung up, because a password was compared.
        with shielded():
            return await transact_counted(call, registration_links.finish, attempt, form.token, wanted, is_right=False)
    return await transact_counted(call, registration_links.finish, attempt, form.token, wanted, is_right=True)


async def _lead_on(
    call: Call, outcome: SignInCompleted | SecondFactorPending, found: UnprovedAddress, way: ReturnQuery | None
) -> Response:
    """Complete the sign-in, and redirect to where the registration came from; `way` is None in another browser."""
    led_on = await conclusion.conclude(call, outcome, way or ReturnQuery())
    back, email = found.back, found.user.email
    if back.redirect_uri is not None:
        return await _back_page(call, email, back)
    if way is None and found.browser is not None and found.place.name:
        signed_in = translated(call, "You are signed in with %(email)s now.", email=email)
        text = " ".join((signed_in, where_it_goes_on(call, found.place)))
        return await place_page(
            call,
            found.place,
            heading=translated(call, "Your email address is verified"),
            text=text,
        )
    return led_on


async def _back_page(call: Call, email: str, back: ReturnTarget) -> Response:
    """Return the page with the button to the service; a form cannot redirect to another site."""
    return page(
        call,
        "frame/message.html",
        heading=translated(call, "Your email address is verified"),
        text=translated(call, "You are signed in with %(email)s now.", email=email),
        back=back,
        next=(marked("Your account"), HOME),
        request_id=None,
        brand=await brand_of(call, back.organization_id),
    )
