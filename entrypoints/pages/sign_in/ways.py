"""Where a sign-in leads, through all its pages, and what completes it (decisions 12.4)."""

from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec
from quart import Response

from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.conclusion import SecondFactorPending, SignInCompleted
from core.sign_in.mfa_challenges import LIFETIME as CHALLENGE_LIFETIME
from core.sign_in.proofs import Destination, InBrowser
from entrypoints.http.sessions import token_answers
from entrypoints.web import browsers
from entrypoints.web.answers import see_other
from entrypoints.web.browsers import ProtectedForm
from entrypoints.web.calls import Call
from entrypoints.web.decoding import Query

HOME: Final = "/app"
SECOND_FACTOR: Final = "/app/second-factor"
# Carries the pre-auth token from the first factor to the second.
PRE_AUTH_COOKIE: Final = "gatehouse_pre_auth"


class Way(Query, kw_only=True):
    """Where a sign-in leads: a path without parameters, or the id of one that is kept."""

    return_to: Annotated[str, msgspec.Meta(description="A path of Gatehouse, to open after signing in.")] = ""
    return_id: Annotated[str, msgspec.Meta(description="The id of a kept path, valid once.")] = ""

    def on(self, address: str, **more: str) -> str:
        """Return the address of another page of the same sign-in."""
        named = {name: value for name, value in {**asdict(self), **more}.items() if value}
        return f"{address}?{urlencode(named)}" if named else address


class WayForm(ProtectedForm, kw_only=True):
    """A form of a page of a sign-in."""

    return_to: str = ""
    return_id: str = ""

    @property
    def way(self) -> Way:
        """Where the sign-in leads."""
        return Way(return_to=self.return_to, return_id=self.return_id)


def asdict(way: Way) -> dict[str, str]:
    """Return the fields of a way."""
    return {"return_to": way.return_to, "return_id": way.return_id}


async def kept_return(call: Call, way: Way) -> BrowserReturn | None:
    """Return what the id of a way stands for, without using it up; None without one."""
    return await call.read(browser_returns.find, way.return_id) if way.return_id else None


async def place(call: Call, way: Way) -> str:
    """Return the name of the organization or service that the sign-in is for, if it names one."""
    found = await kept_return(call, way)
    return found.place if found is not None else ""


async def go_on(call: Call, way: Way) -> Response:
    """Lead the browser to where the sign-in was to lead; what is no path of Gatehouse is ignored."""
    kept = await call.transact(browser_returns.use, way.return_id) if way.return_id else None
    if kept is not None:
        return see_other(kept.target)
    return see_other(browser_returns.safe_path(way.return_to) or HOME)


def destination(call: Call, *, stays_signed_in: bool = False, is_again: bool = False) -> Destination:
    """Return the destination of a sign-in on a page: the platform, in this browser."""
    return Destination(
        device_token=token_answers.destination(call).device_token,
        browser=InBrowser(present=call.browser, stays_signed_in=stays_signed_in, is_again=is_again),
    )


async def send_to_sign_in(
    call: Call, *, return_to: str, organization: str | None = None, service: str | None = None
) -> Response:
    """Lead a browser to the sign-in and then to a path of Gatehouse, which may have a query.

    A browser that is signed in is asked to sign in again. The pages show the name of the organization or service, given
    by their slugs.
    """
    wanted = BrowserReturn(target=return_to, organization_slug=organization, service_slug=service)
    page = browsers.SIGN_IN if call.browser is None else browsers.SIGN_IN_AGAIN
    return see_other(await browsers.sign_in_address(call, wanted, page=page))


async def conclude(
    call: Call, outcome: SignInCompleted | SecondFactorPending, way: Way, *, stays_signed_in: bool = False
) -> Response:
    """Answer a sign-in: lead on, or to the page of the second factor."""
    if isinstance(outcome, SecondFactorPending):
        token = token_answers.pre_auth_token(call, outcome.challenge)
        call.set_cookie(browsers.cookie_name(call, PRE_AUTH_COOKIE), token, lifetime=CHALLENGE_LIFETIME)
        return see_other(way.on(SECOND_FACTOR, stay="on" if stays_signed_in else ""))
    return await complete(call, outcome, way)


async def complete(call: Call, completed: SignInCompleted, way: Way) -> Response:
    """Keep the session of a completed sign-in in the browser, and lead on."""
    assert completed.cookie is not None, "a sign-in on a page has begun no browser session"
    browsers.begin_session(call, completed.cookie)
    call.forget_cookie(browsers.cookie_name(call, PRE_AUTH_COOKIE))
    token_answers.remember_device(call, completed.grant)
    return await go_on(call, way)
