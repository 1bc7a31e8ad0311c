"""The target of a sign-in, carried from page to page and from form to form: a path of ours, any other is ignored.

A page of a sign-in shows `returns.context(call, way)` and renders `{{ ui.cancel_button(form_token, way, cancel) }}`.
"""

import re
from typing import Annotated, Any, Final
from urllib.parse import parse_qs, quote, unquote, urlencode
from uuid import UUID

import msgspec

from core.accounts.return_targets import RequestingBrowser, ReturnTarget, requesting
from core.limits import EMAIL_CHARACTERS_MAX
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call

# The page that creates an account; there is none at a custom domain.
REGISTER: Final = "/app/register"
# Where a sign-in with a provider continues, after a sign-in to the account that the identity will be linked to.
UPSTREAM_CONTINUE: Final = "/auth/upstream/continue"
# The paths on which requests of applications and devices continue after a sign-in, and the paths that cancel them.
_CANCELLED_AT: Final = {
    "/auth/authorize/resume": "/auth/authorize/cancel",
    "/auth/authorize/continue": "/auth/authorize/cancel",
    "/auth/device": "/auth/device/cancel",
}
_SAML: Final = re.compile("/saml/[^/]+/[^/]+/authenticate")


class ReturnQuery(Query, kw_only=True):
    """Where a sign-in leads: a path without parameters, or the id of one that is kept."""

    return_to: Annotated[str, msgspec.Meta(description="A path of Gatehouse, to open after signing in.")] = ""
    return_id: Annotated[str, msgspec.Meta(description="The id of a kept path, valid once.")] = ""

    @property
    def fields(self) -> dict[str, str]:
        """The values of its fields."""
        return {"return_to": self.return_to, "return_id": self.return_id}

    def on(self, address: str, **more: str) -> str:
        """Return the address of another page of the same sign-in."""
        named = {name: value for name, value in {**self.fields, **more}.items() if value}
        return f"{address}?{urlencode(named)}" if named else address


class WayForm(ProtectedForm, kw_only=True):
    """A form of a page of a sign-in."""

    return_to: str = ""
    return_id: str = ""

    @property
    def way(self) -> ReturnQuery:
        """Where the sign-in leads."""
        return ReturnQuery(return_to=self.return_to, return_id=self.return_id)


class AddressForm(WayForm, kw_only=True):
    """The address with which a person signs in, registers or recovers an account."""

    email: str = ""


async def kept_return(call: Call, way: ReturnQuery) -> BrowserReturn | None:
    """Return the stored return of a form or address, without using it up; None without one.

    The page that follows is in the language that it names, and shows the brand of its organization.
    """
    kept = await call.read(browser_returns.find, way.return_id) if way.return_id else None
    if kept is not None:
        call.language = kept.language
        # A custom domain shows its own organization alone, whatever the return names.
        if call.custom_host is None:
            call.brand = call.brand or kept.brand
    return kept


async def requesting_browser(call: Call, way: ReturnQuery) -> RequestingBrowser:
    """Return this browser as the one that requests a mailed link, with the target of its sign-in.

    An invalid target is left out: it is stored with the link, and a visitor may send any text.
    """
    kept = await kept_return(call, way)
    return requesting(
        browsers.bind_link(call),
        return_to=browser_returns.safe_path(way.return_to) or "",
        return_id=way.return_id if len(way.return_id) <= browser_returns.ID_CHARACTERS_MAX else "",
        organization_slug=organization_of(way, kept),
        service_slug=kept.service_slug if kept is not None else None,
    )


def organization_of(way: ReturnQuery, kept: BrowserReturn | None) -> str | None:
    """Return the slug of the organization to which a sign-in leads, by its stored return; None without one."""
    return kept.leads_to_organization if kept is not None else browser_returns.organization_of_page(way.return_to)


def place_of(way: ReturnQuery, kept: BrowserReturn | None) -> tuple[str | None, str | None]:
    """Return the slugs of the organization and the service of a sign-in; None for each that is not named."""
    return organization_of(way, kept), kept.service_slug if kept is not None else None


def way_of(call: Call, browser: RequestingBrowser | None) -> ReturnQuery | None:
    """Return the target of a mailed link in the browser that requested it; None in any other browser."""
    if browser is None or not browser.is_bound_to(browsers.link_binding(call)):
        return None
    return ReturnQuery(return_to=browser.return_to, return_id=browser.return_id)


def linking_target(continue_id: str, connection_id: UUID | None) -> str:
    """Return the path on which a sign-in with a provider continues, after a sign-in to the account to link it to.

    It names the connection that the browser comes from, so that the pages on the way do not lead back there.
    """
    named = {} if connection_id is None else {"connection_id": str(connection_id)}
    return f"{UPSTREAM_CONTINUE}?{urlencode({'id': continue_id, **named})}"


def is_linking(kept: BrowserReturn | None) -> bool:
    """Return whether a sign-in is made to link what a provider has proved."""
    return kept is not None and kept.target.startswith(f"{UPSTREAM_CONTINUE}?")


def has_come_from(kept: BrowserReturn | None, connection_id: UUID | None) -> bool:
    """Return whether a sign-in is made to link what this very connection has proved."""
    if kept is None or connection_id is None or not is_linking(kept):
        return False
    return parse_qs(kept.target.partition("?")[2]).get("connection_id") == [str(connection_id)]


def has_come_from_connection(kept: BrowserReturn | None) -> bool:
    """Return whether a sign-in is made to link, or to confirm, what the connection of an organization has proved."""
    if kept is None or not is_linking(kept):
        return False
    return "connection_id" in parse_qs(kept.target.partition("?")[2])


def link_page(path: str, **named: str) -> str:
    """Return the address of the page that a mailed link opens; what is empty is left out."""
    return f"{path}?{urlencode({name: text for name, text in named.items() if text})}"


def read_in(call: Call, back: ReturnTarget) -> None:
    """Show the pages of a mailed link in the language in which it was requested."""
    call.language = back.language


async def context(call: Call, way: ReturnQuery) -> dict[str, Any]:
    """Return what the pages of a sign-in show: where it leads, its place, whose that is, and the proposed address."""
    return shown(call, way, await kept_return(call, way))


def shown(call: Call, way: ReturnQuery, kept: BrowserReturn | None) -> dict[str, Any]:
    """Return what `context` does, of a return that has been read.

    `elsewhere` is the base URL at a custom domain, which has no pages that create or recover an account; else it is
    empty.
    """
    return {
        "elsewhere": call.installation.settings.base_url if call.custom_host is not None else "",
        "way": way,
        "cancel": _cancel_address(kept) if kept is not None else "",
        "place": kept.place if kept is not None else "",
        "owner": kept.owner if kept is not None else "",
        # Who came back from a provider would else take the page for the one before, and begin again.
        "links": is_linking(kept),
        "proposed_email": (kept.email if kept is not None else None) or typed_address(call),
    }


def remember_address(call: Call, email: str) -> None:
    """Propose an address that was typed on the other pages of the sign-in of this browser."""
    if len(email) <= EMAIL_CHARACTERS_MAX:
        name = browsers.cookie_name(call, browsers.ADDRESS_COOKIE)
        call.set_cookie(name, quote(email, safe="@", errors="replace"), lifetime=browsers.ADDRESS_LIFETIME)


def typed_address(call: Call) -> str:
    """Return the address that was typed last on a page of the sign-in of this browser; empty without one."""
    typed = cookie_of(call.request, browsers.cookie_name(call, browsers.ADDRESS_COOKIE)) or ""
    email = unquote(typed)
    return email if len(email) <= EMAIL_CHARACTERS_MAX else ""


def _cancel_address(kept: BrowserReturn) -> str:
    """Return the address to which the button `Cancel` posts; empty when no application has requested the sign-in.

    The path on which the request continues after the sign-in names it.
    """
    path = kept.answering.partition("?")[0]
    return f"{path}/cancel" if _SAML.fullmatch(path) else _CANCELLED_AT.get(path, "")
