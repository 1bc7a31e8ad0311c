"""The pages of Gatehouse as a browser without a screen uses them."""

from __future__ import annotations

import html
import re
from typing import Final
from urllib.parse import urlsplit

import httpx

from gatehouse_client.testing.parties import Person
from gatehouse_client.testing.requests import KitFailed

# Redirects included.
STEPS_MAX: Final = 20
_ACTION: Final = re.compile(r'<form method="post" action="([^"]*)"')
_UPSTREAM: Final = re.compile(r'href="([^"]*/auth/upstream\?[^"]*)"')
# A person answers two or three pages.
PAGES_MAX: Final = 6
# Pages that only ask whether to go on.
CONSENTS: Final = ("/auth/authorize/allow",)
# Fields that a browser sends when somebody has chosen them.
CHOSEN: Final = ("checkbox", "radio", "submit", "button", "file")
_FORM: Final = re.compile(r"<form\b.*?</form>", re.DOTALL)
_INPUT: Final = re.compile(r"<input\b[^>]*>")
_ATTRIBUTE: Final = re.compile(r'([a-z-]+)="([^"]*)"')


def submitted(
    browser: httpx.Client, page: httpx.Response, path: str, *, origin: str = "", **typed: str
) -> httpx.Response:
    """Submit the form of a page that leads to a path, with its fields as they are and what was typed.

    `origin` is that of a page of another site.
    """
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"} if origin else {}
    form = _form(page, path)
    if form is None:
        raise KitFailed(f"the page {page.url} has no form for {path}")
    action = page.url.join(_attributes(form.partition(">")[0])["action"])
    fields = map(_attributes, _INPUT.findall(form))
    # A browser sends what nobody has typed as well.
    filled = {one["name"]: one.get("value", "") for one in fields if "name" in one and one.get("type") not in CHOSEN}
    return browser.post(action, data={**filled, **typed}, headers=headers)


def sign_in(browser: httpx.Client, page: httpx.Response, person: Person) -> httpx.Response:
    """Answer the pages of Gatehouse as a person, and return the first page that asks for nothing."""
    typed = {
        "/app/sign-in": {"email": person.email},
        "/app/sign-in/password": {"email": person.email, "password": person.password},
    }
    for _ in range(PAGES_MAX):
        asked = next((path for path in (*CONSENTS, *reversed(typed)) if _form(page, path) is not None), None)
        if asked is not None:
            page = submitted(browser, page, asked, **typed.get(asked, {}))
        elif (later := page.headers.get("Refresh", "").partition("url=")[2]) != "":
            page = browser.get(page.url.join(later))
        else:
            return page
    raise KitFailed(f"{person.email} is asked again and again at {page.url}")


def arrived(browser: httpx.Client, page: httpx.Response, redirect_uri: str, email: str, provider_url: str) -> str:
    """Go on from page to page as a person of a provider, and return the address at a product at which they arrive."""
    has_asked = False
    for _ in range(STEPS_MAX):
        location = page.headers.get("Location") or page.headers.get("Refresh", "").partition("url=")[2]
        if location:
            address = page.url.join(location)
            if str(address).startswith(redirect_uri):
                return str(address)
            page = browser.get(address)
        elif str(page.url).startswith(provider_url):
            [action] = _ACTION.findall(page.text)
            page = submitted(browser, page, urlsplit(html.unescape(action)).path, origin=provider_url)
        elif (link := _UPSTREAM.search(page.text)) is not None and not has_asked:
            has_asked = True
            page = browser.get(page.url.join(html.unescape(link[1])))
        elif _form(page, "/app/sign-in") is not None and not has_asked:
            page = submitted(browser, page, "/app/sign-in", email=email)
        elif (consent := next((path for path in CONSENTS if _form(page, path) is not None), None)) is not None:
            page = submitted(browser, page, consent)
        else:
            break
    raise KitFailed(
        f"{email} arrived at {page.url}, not at {redirect_uri}. Who has an account with a password signs in to that"
        " before the provider is linked to it: name the person to the provider alone."
    )


def _form(page: httpx.Response, path: str) -> str | None:
    """Return the form of a page that leads to a path; None when it has none."""
    for form in _FORM.findall(page.text):
        if urlsplit(_attributes(form.partition(">")[0]).get("action", "")).path == path:
            return form
    return None


def _attributes(tag: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
