"""The pages of Gatehouse as a browser without a screen uses them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx

from gatehouse_client.testing.requests import KitFailed

# Redirects included.
STEPS_MAX: Final = 30
# The page that asks for the address, and the one that asks for the password.
FIRST_PATH: Final = "/app/sign-in"
SECOND_PATH: Final = "/app/sign-in/password"
# Of the code that is mailed at the first sign-in by a connection that a vendor has made.
CODE_PATH: Final = "/app/sign-in/address-code"
HINT: Final = (
    "The provider is linked to an account with another way to sign in once the person has used that: let the kit make"
    " the account by person(), or the provider alone."
)
# Where the first form of a page leads.
ACTION: Final = re.compile(r'<form method="post" action="([^"]*)"')
_UPSTREAM: Final = re.compile(r'href="([^"]*/auth/upstream\?[^"]*)"')
# Pages that only ask whether to go on.
CONSENTS: Final = ("/auth/authorize/allow",)
# Fields that a browser sends when the user has chosen them.
CHOSEN: Final = ("checkbox", "radio", "submit", "button", "file")
_FORM: Final = re.compile(r"<form\b.*?</form>", re.DOTALL)
_INPUT: Final = re.compile(r"<input\b[^>]*>")
_ATTRIBUTE: Final = re.compile(r'([a-z-]+)="([^"]*)"')


@dataclass(kw_only=True)
class Visitor:
    """Who answers the pages: with a password, or by the provider at an address, which knows them.

    Who has a password types it once after the provider, so that Gatehouse links the two, and never in its place.
    `read_code` returns the code that was mailed to them meanwhile.
    """

    email: str
    password: str = field(default="", repr=False)
    provider_url: str = ""
    read_code: Callable[[], str] | None = field(default=None, repr=False)
    has_come_by_provider: bool = False

    @property
    def typed(self) -> Mapping[str, Mapping[str, str]]:
        """What they type into the forms of Gatehouse, the later form first."""
        address = {"email": self.email}
        has_password = self.password and (self.has_come_by_provider or not self.provider_url)
        by_password = {SECOND_PATH: {**address, "password": self.password}} if has_password else {}
        return {**{path: {} for path in CONSENTS}, **by_password, FIRST_PATH: address}


def submitted(
    browser: httpx.Client, page: httpx.Response, path: str, *, origin: str = "", **typed: str | Sequence[str]
) -> httpx.Response:
    """Submit the form of a page that leads to a path, with its fields as they are and the typed ones.

    `origin` is the origin of a page of another site.
    """
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"} if origin else {}
    form = _form(page, path)
    if form is None:
        raise KitFailed(f"the page {page.url} has no form for {path}")
    action = page.url.join(_attributes(form.partition(">")[0])["action"])
    fields = map(_attributes, _INPUT.findall(form))
    # A browser also sends fields that the user has not changed.
    filled = {one["name"]: one.get("value", "") for one in fields if "name" in one and one.get("type") not in CHOSEN}
    return browser.post(action, data={**filled, **typed}, headers=headers)


def walk(browser: httpx.Client, page: httpx.Response, visitor: Visitor, *, until: str = "") -> httpx.Response:
    """Answer page after page as a visitor, and return the first that asks for nothing.

    With `until` it is the redirect to that address, which the browser does not follow.
    """
    for _ in range(STEPS_MAX):
        if until and str(onward(page)).startswith(until):
            return page
        following = _answered(browser, page, visitor)
        if following is not None:
            page = following
        elif until or _asks(page, visitor):
            break
        else:
            return page
    raise KitFailed(
        f"{visitor.email} arrived at {page.url}, not at {until or 'the page that follows'}."
        + (f" {HINT}" if visitor.provider_url else "")
    )


def onward(page: httpx.Response) -> httpx.URL | None:
    """Return the address to which a page leads a browser by itself; None for one that stays."""
    location = page.headers.get("Location") or page.headers.get("Refresh", "").partition("url=")[2]
    return page.url.join(location) if location else None


def _answered(browser: httpx.Client, page: httpx.Response, visitor: Visitor) -> httpx.Response | None:
    """Answer a page that asks for something and return the next one; None for a page that asks for nothing."""
    if (address := onward(page)) is not None:
        return browser.get(address)
    if _is_of_provider(page, visitor):
        # The form of SAML, which a script would send; a page that lets people choose has none.
        action = ACTION.search(page.text)
        path = urlsplit(html.unescape(action[1])).path if action else ""
        return submitted(browser, page, path, origin=visitor.provider_url) if action else None
    link = _UPSTREAM.search(page.text) if visitor.provider_url else None
    if link is not None:
        visitor.has_come_by_provider = True
        return browser.get(page.url.join(html.unescape(link[1])))
    if visitor.read_code is not None and _form(page, CODE_PATH) is not None:
        return submitted(browser, page, CODE_PATH, code=visitor.read_code())
    for path, typed in visitor.typed.items():
        if _form(page, path) is not None:
            return submitted(browser, page, path, **typed)
    return None


def _asks(page: httpx.Response, visitor: Visitor) -> bool:
    """Return whether a page still asks who it is."""
    return _is_of_provider(page, visitor) or _form(page, SECOND_PATH) is not None


def _is_of_provider(page: httpx.Response, visitor: Visitor) -> bool:
    return bool(visitor.provider_url) and str(page.url).startswith(visitor.provider_url)


def _form(page: httpx.Response, path: str) -> str | None:
    """Return the form of a page that leads to a path; None when it has none."""
    for form in _FORM.findall(page.text):
        if urlsplit(_attributes(form.partition(">")[0]).get("action", "")).path == path:
            return form
    return None


def _attributes(tag: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
