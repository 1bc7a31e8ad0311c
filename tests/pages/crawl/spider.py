"""Follows the links of pages, and fills in their forms, as one caller."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from lxml import html

from tests.application import Answer
from tests.pages.crawl.recording import Recorder, route_of
from tests.pages.crawl.values import NAME
from tests.world.visitor import Visitor

# Pages on which a crawl would end or wait.
NEVER = re.compile(
    r"/app/sign-out|/app/language|.*/feed|/docs.*|/auth/(?:codehost|websuite|officesuite|upstream|logout|start).*"
)
# Buttons that end something for good come late, then those that close a customer, and those that end the crawl last.
LATE = (
    re.compile(r"deletion|delete|/end\b|leave|remove|removal|revoke|suspen|demote|stop"),
    re.compile(r"/customers/:customer_id/(pause|end)"),
    re.compile(r"/app/organizations/:org_slug/settings|/app/account/(closing|lock|password|sessions|second-factor)"),
)
# Pages that show the forms of others, and organizations of which only the first page is opened.
QUIET = re.compile(r".*/branding/preview")
BEYOND = re.compile(r"/app/organizations/(?:one-that-is|customer)-[^/]*/.*")


# What is typed into fields of these types; a name into all others.
_TYPED = {"number": "-1", "date": "-1", "datetime-local": "-1", "email": f"{NAME}@example.com"}
_CHOSEN = {"checkbox", "radio"}


@dataclass
class FilledForm:
    """A form with its fields as the spider fills them in."""

    action: str
    fields: list[tuple[str, str]]


def links_of(page: Any) -> list[str]:
    """Return the links to pages of this server."""
    return [str(link) for link in page.xpath("//a/@href") if link.startswith("/")]


def forms_of(page: Any) -> list[FilledForm]:
    """Return the forms that change something, filled in."""
    return [
        FilledForm(form.get("action"), _filled(form, page)) for form in page.xpath("//form[@method='post'][@action]")
    ]


def _filled(form: Any, page: Any) -> list[tuple[str, str]]:
    named = "*[self::input or self::select or self::textarea or self::button][@name][not(@disabled)]"
    elsewhere = page.xpath(f"//{named}[@form=$id]", id=form.get("id")) if form.get("id") else []
    found: list[tuple[str, str]] = []
    for element in [*form.xpath(f".//{named}[not(@form)]"), *elsewhere]:
        name, kind = element.get("name"), element.get("type", "text")
        if element.tag == "select":
            found += [(name, str(value)) for value in element.xpath(".//option/@value[. != '']")[:1]]
        elif element.tag == "button" or kind in _CHOSEN:
            # Of several buttons and of several radio buttons the first one; of checkboxes every one.
            if kind == "checkbox" or name not in dict(found):
                found.append((name, element.get("value", "on")))
        elif kind != "file":
            found.append((name, element.get("value", "") if kind == "hidden" else _TYPED.get(kind, NAME)))
    return found


@dataclass
class Spider:
    """Opens what a caller's pages lead to, each page some times."""

    caller: str
    visitor: Visitor
    recorder: Recorder
    # How often one page is opened, with other rows of the world.
    times_max: int = 2
    # Links to pages that are not below this path are not followed.
    within: str = ""
    opened: Counter[tuple[str, frozenset[tuple[str, str]]]] = field(
        default_factory=Counter[tuple[str, frozenset[tuple[str, str]]]]
    )
    forms: dict[str, FilledForm] = field(default_factory=dict[str, FilledForm])

    async def crawl(self, *starts: str) -> None:
        """Open these pages and those that they lead to."""
        waiting, known = list(starts), set(starts)
        while waiting:
            address = waiting.pop(0)
            answer = await self.open(address)
            if answer is None or not answer.headers.get("Content-Type", "").startswith("text/html"):
                continue
            page: Any = html.fromstring(answer.text)
            for link in links_of(page):
                if link not in known and link.startswith(self.within) and not BEYOND.fullmatch(link):
                    known.add(link)
                    waiting.append(link)
            if not QUIET.match(address):
                self._keep(page)

    async def open(self, address: str, *, always: bool = False) -> Answer | None:
        """Open a page unless it was opened often enough; follow where it leads."""
        for _ in range(6):
            parts = urlsplit(address)
            route = route_of("GET", parts.path)
            if route is None or (NEVER.fullmatch(parts.path) and not always) or "." in parts.path.rpartition("/")[2]:
                return None
            slug = parts.path.split("/")[3] if route.path.startswith("/app/organizations/:") else ""
            # A list of each state is another page.
            named = ((name, value if name in {"state", "status"} else "") for name, value in parse_qsl(parts.query))
            key = route.path + slug, frozenset(named)
            self.opened[key] += 1
            if self.opened[key] > (self.times_max if ":" in route.path else 2) and not always:
                return None
            answer = await self._send("GET", address)
            if answer.status not in {301, 302, 303}:
                return answer
            address = answer.headers["Location"].removeprefix("http://localhost:8000")
            if not address.startswith("/"):
                return answer
        raise AssertionError(f"too many redirects: {address}")

    async def press(self) -> None:
        """Send each form once, filled in with values that no route takes; forms that end something come last."""
        for _, form in sorted(self.forms.items(), key=lambda item: _rank(item[0])):
            await self.send(form)

    async def send(self, form: FilledForm) -> None:
        data = urlencode(form.fields).encode()
        answer = await self._send("POST", form.action, data)
        if answer.status in {301, 302, 303} and answer.headers["Location"].startswith("/"):
            await self.open(answer.headers["Location"], always=True)

    async def _send(self, method: str, address: str, data: bytes | None = None) -> Answer:
        self.recorder.way = self.caller
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if data is not None else None
        return await self.visitor.send(method, address.partition("#")[0], data=data, headers=headers)

    def _keep(self, page: Any) -> None:
        for form in forms_of(page):
            path = urlsplit(form.action).path
            route = route_of("POST", path)
            if route is not None and not NEVER.fullmatch(path):
                self.forms.setdefault(route.path, form)


def _rank(path: str) -> int:
    return max((number + 1 for number, late in enumerate(LATE) if late.search(path)), default=0)
