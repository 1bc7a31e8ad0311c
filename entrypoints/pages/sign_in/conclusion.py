"""What completes a sign-in on the pages, and leads the browser on."""

from dataclasses import replace
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from quart import Response

from core.accounts import return_targets
from core.accounts.return_targets import ReturnTarget
from core.organizations.session_strength import SecondFactorRequired
from core.sign_in import browser_returns, places
from core.sign_in.browser_returns import BrowserReturn, organization_of_page
from core.sign_in.mfa_challenges import LIFETIME as CHALLENGE_LIFETIME
from core.sign_in.mfa_challenges import SecondFactorPending, SignInCompleted
from core.sign_in.proofs import Destination, InBrowser
from entrypoints.pages.accounts.passwords import PASSWORD_NOTICE
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.interrupted_sign_ins import over_page
from entrypoints.pages.frame.returns import REGISTER, ReturnQuery
from entrypoints.shared.sessions import token_answers
from entrypoints.web.serving.admission import browsers, pressed_forms
from entrypoints.web.serving.admission.browsers import HOME
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

SECOND_FACTOR: Final = "/app/second-factor"
UPSTREAM: Final = "/auth/upstream"
SET_UP: Final = "/app/second-factor/set-up"
CHOOSE_ORGANIZATION: Final = "/app/choose-organization"
# Carries the pre-auth token from the first factor to the second.
PRE_AUTH_COOKIE: Final = "gatehouse_pre_auth"


async def go_on(call: Call, way: ReturnQuery, *, is_organization_chosen: bool = False) -> Response:
    """Lead the browser to where the sign-in was to lead; what is no path of Gatehouse is ignored.

    A sign-in for an organization leads to its choice first, which checks what the organization requires.
    """
    kept = await returns.kept_return(call, way)
    if kept is None:
        place = await _lapsed_place(call, way)
        return (
            see_other(browser_returns.safe_path(way.return_to) or HOME)
            if place is None
            else await over_page(call, place)
        )
    if kept.organization_slug is not None and kept.service_slug is None and not is_organization_chosen:
        return see_other(way.on(CHOOSE_ORGANIZATION))
    used = await call.transact(browser_returns.use, way.return_id)
    return see_other(pressed_forms.address_of(used.target) if used is not None else HOME)


async def _lapsed_place(call: Call, way: ReturnQuery) -> ReturnTarget | None:
    """Return the service that has waited for a sign-in too long; None when none has."""
    lapsed = await call.read(browser_returns.find_lapsed, way.return_id) if way.return_id else None
    if lapsed is None or lapsed.service_slug is None:
        return None
    place = await call.read(
        return_targets.recall, {"org_slug": lapsed.organization_slug, "service_slug": lapsed.service_slug}
    )
    return place if place.service is not None else None


def destination(call: Call, way: ReturnQuery, *, stays_signed_in: bool = False, is_again: bool = False) -> Destination:
    """Return the destination of a sign-in on a page: the platform, in this browser.

    `way` is what the form of the sign-in carried, so that the sign-in counts for the request that waits there, and for
    no other one. From here on the request acts for the user who signs in, and not for one who is signed in already.
    """
    if not is_again:
        call.session_id = None
    return Destination(
        device_token=token_answers.destination(call).device_token,
        browser=InBrowser(
            present=call.browser,
            stays_signed_in=stays_signed_in,
            is_again=is_again,
            upstream_binding=browsers.upstream_binding(call),
            return_id=way.return_id,
            organization_slug=organization_of_page(way.return_to),
        ),
    )


async def goes_on(call: Call, way: ReturnQuery) -> bool:
    """Return whether the session of a signed-in browser is enough for the target; else its user signs in for it."""
    browser = call.in_browser
    kept = await returns.kept_return(call, way)
    if kept is not None and kept.not_in_session == browser.session_id:
        return False
    if browser.confinement is None:
        return browser.goes_to(None, None)
    target = await call.read(places.target_of_way, way.return_id, organization_of_page(way.return_to))
    return browser.goes_to(target.organization_id, target.service_id)


async def sign_in_page(call: Call, organization: str | None, service: str | None) -> str:
    """Return the page that signs in for a place: again in the session of the browser, if that may go there."""
    browser = call.browser
    if browser is None:
        return browsers.SIGN_IN
    target = await call.read(places.target_of, browser.user_id, organization, service)
    return browsers.SIGN_IN_AGAIN if browser.goes_to(target.organization_id, target.service_id) else browsers.SIGN_IN


async def send_to_sign_in(call: Call, wanted: BrowserReturn, *, is_for_new_account: bool = False) -> Response:
    """Lead a browser to the sign-in and then to a path of Gatehouse, which may have a query.

    A browser that is signed in is asked to sign in again, or anew where its session does not go. The pages show the
    name of the organization or service. With `is_for_new_account` the page that creates an account comes first, where
    there is one.
    """
    wanted = replace(wanted, language=call.language)
    if wanted.not_in_session is not None:
        page = browsers.SIGN_IN
    else:
        page = await sign_in_page(call, wanted.organization_slug, wanted.service_slug)
    if is_for_new_account and call.custom_host is None:
        page = REGISTER
    return see_other(await browsers.sign_in_address(call, wanted, page=page))


async def send_to_connection(call: Call, wanted: BrowserReturn, connection_id: UUID) -> Response:
    """Lead a browser to the connection by which its user signs in, and then to a path of Gatehouse."""
    address = await browsers.sign_in_address(call, replace(wanted, language=call.language), page=UPSTREAM)
    return see_other(f"{address}&{urlencode({'connection_id': connection_id})}")


async def send_to_set_up(
    call: Call, *, return_to: str, organization: str | None = None, service: str | None = None
) -> Response:
    """Lead a browser that is signed in to set up a second factor, which an organization requires, and then to a path.

    Raise `SecondFactorRequired` at a custom domain, where there are no pages of the account.
    """
    if call.custom_host is not None:
        raise SecondFactorRequired
    wanted = BrowserReturn(
        target=return_to, organization_slug=organization, service_slug=service, language=call.language
    )
    return see_other(await browsers.sign_in_address(call, wanted, page=SET_UP))


async def conclude(
    call: Call, outcome: SignInCompleted | SecondFactorPending, way: ReturnQuery, *, stays_signed_in: bool = False
) -> Response:
    """Answer a sign-in: redirect to its target, or to the page of the second factor."""
    if isinstance(outcome, SecondFactorPending):
        token = token_answers.pre_auth_token(call, outcome)
        call.set_cookie(browsers.cookie_name(call, PRE_AUTH_COOKIE), token, lifetime=CHALLENGE_LIFETIME)
        return see_other(way.on(SECOND_FACTOR, stay="on" if stays_signed_in else ""))
    return await complete(call, outcome, way)


async def complete(call: Call, completed: SignInCompleted, way: ReturnQuery) -> Response:
    """Keep the session of a completed sign-in in the browser, and redirect to the target."""
    assert completed.cookie is not None, "a sign-in on a page has begun no browser session"
    browsers.begin_session(call, completed.cookie)
    call.forget_cookie(browsers.cookie_name(call, PRE_AUTH_COOKIE))
    assert completed.grant.device_token is not None, "the grant of a sign-in has no device token"
    token_answers.remember_device(call, completed.grant.device_token)
    if token_answers.has_breached_password(call, completed):
        return see_other(way.on(PASSWORD_NOTICE))
    return await go_on(call, way)
