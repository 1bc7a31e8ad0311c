"""A visitor of the pages: a browser without a screen, which keeps cookies, follows redirects and submits forms."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

from werkzeug.http import parse_cookie

from tests.application import Answer, Client
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL, PASSWORD

LANGUAGE = "/app/language"
SIGN_IN = "/app/sign-in"
ANOTHER_WAY = "/app/sign-in/another-way"
FORM = "application/x-www-form-urlencoded"
REDIRECTS_MAX = 5


@dataclass
class Form:
    """A form of a page: where it is sent, and the values of its fields."""

    action: str = ""
    id: str = ""
    method: str = "post"
    fields: dict[str, str] = field(default_factory=dict[str, str])


class _Forms(HTMLParser):
    """Collects the forms of a page with the fields that a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(
                Form(action=values["action"], id=values.get("id", ""), method=values.get("method", "get"))
            )
        elif tag == "input" and self.forms and "name" in values and values.get("type") != "checkbox":
            if values.get("type") != "radio" or "checked" in values:
                self.forms[-1].fields[values["name"]] = values.get("value", "")
        elif tag == "button" and self.forms and values.get("name") == "form_token":
            self.forms[-1].fields["form_token"] = values["value"]


def without_tokens(html: str) -> str:
    """Return the source of a page without its form tokens, which each answer masks anew, and ids of challenges."""
    return re.sub('name="(form_token|challenge_id)" value="[^"]+"', "", html)


def forms_of(page: Answer) -> list[Form]:
    """Return the forms of a page."""
    return forms_in(page.text)


def forms_in(html: str) -> list[Form]:
    """Return the forms in the source of a page that change something.

    Without the language switch, which stands on every page, and without the filters of lists.
    """
    parser = _Forms()
    parser.feed(html)
    return [form for form in parser.forms if form.action != LANGUAGE and form.method == "post"]


@dataclass
class Visitor:
    """A browser with its cookies."""

    client: Client
    address: str = "127.0.0.1"
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    headers: dict[str, str] = field(default_factory=lambda: {"User-Agent": "a visitor", "Accept": "text/html"})

    async def send(
        self, method: str, path: str, *, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request with the cookies, and keep the cookies of the answer."""
        sent = {**self.headers, **(headers or {})}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            WATCH.add(*self.cookies.values())
        answer = await self.client.request(method, path, data=data, headers=sent, address=self.address)
        self.keep(answer)
        return answer

    def keep(self, answer: Answer) -> None:
        """Keep the cookies that an answer sets, and forget those that it removes."""
        for line in set_cookies(answer):
            [(name, value)] = parse_cookie(line.partition(";")[0]).items()
            if "Max-Age=0" in line:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value

    async def open(self, path: str) -> Answer:
        """Open a page, through redirects."""
        return await self._follow(await self.send("GET", path))

    async def submit(
        self,
        page: Answer,
        /,
        action: str | None = None,
        filled: dict[str, str] | None = None,
        *,
        headers: dict[str, str] | None = None,
        is_followed: bool = True,
        **fields: str,
    ) -> Answer:
        """Submit the form of a page, by its action where there are several, with these fields filled in.

        Where the page of the sign-in leads on to a connection after the address, return the one with the other ways.
        """
        form = next(form for form in forms_of(page) if action in {None, form.action})
        sent = {**form.fields, **(filled or {}), **fields}
        answer = await self.post(form.action, sent, headers=headers, is_followed=is_followed)
        leads_on = form.action == SIGN_IN and ANOTHER_WAY in answer.text
        return await self.follow(answer, ANOTHER_WAY) if leads_on else answer

    async def follow(self, page: Answer, path: str) -> Answer:
        """Follow the link of a page to this path."""
        links = re.findall(r'href="([^"]+)"', page.text)
        return await self.open(next(unescape(link) for link in links if link.partition("?")[0] == path))

    async def switch(self, page: Answer, language: str) -> Answer:
        """Choose a language by the switch of a page, and return the page that follows."""
        parser = _Forms()
        parser.feed(page.text)
        form = next(form for form in parser.forms if form.action == LANGUAGE)
        return await self.post(form.action, {**form.fields, "language": language})

    async def post(
        self, path: str, fields: dict[str, str], *, headers: dict[str, str] | None = None, is_followed: bool = True
    ) -> Answer:
        """Send a form."""
        answer = await self.send(
            "POST", path, data=urlencode(fields).encode(), headers={"Content-Type": FORM, **(headers or {})}
        )
        return await self._follow(answer) if is_followed else answer

    async def sign_in(self, email: str = EMAIL, password: str = PASSWORD, path: str = "/app", **fields: str) -> Answer:
        """Open a page, sign in by password where it asks for that, and return what follows."""
        asked = await self.open(path)
        methods = await self.submit(asked, "/app/sign-in", email=email)
        return await self.submit(methods, "/app/sign-in/password", {"password": password, **fields})

    @property
    def has_session(self) -> bool:
        """Whether the browser has the cookie of a session."""
        return any("gatehouse_session" in name for name in self.cookies)

    async def led_on(self, answer: Answer) -> Answer:
        """Return the page to which an answer leads."""
        return await self._follow(answer)

    async def _follow(self, answer: Answer) -> Answer:
        for _ in range(REDIRECTS_MAX):
            if answer.status not in {301, 302, 303}:
                return answer
            # A browser keeps the fragment to itself.
            answer = await self.send("GET", answer.headers["Location"].partition("#")[0])
        raise AssertionError("too many redirects")


def set_cookies(answer: Answer) -> list[str]:
    """Return the `Set-Cookie` headers of an answer."""
    return [value for name, value in answer.headers.items() if name.lower() == "set-cookie"]
