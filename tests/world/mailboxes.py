"""The mailboxes of a test's people: rendered mails, the links in them, and the forms behind the links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from core.mail import mail
from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.world.visitor import LANGUAGE, set_cookies
from tests.world.world import MAILS_MAX, World

_LINK: Final = re.compile(r"https?://[^\s/]+(/\S*\?\S+)")
_REDIRECTS: Final = {301, 302, 303, 307}


@dataclass(frozen=True)
class ReceivedMail:
    """A mail in a mailbox: its template, its values, and the paths of the links in its text."""

    to: str
    template: MailTemplate
    values: Mapping[str, str]
    links: list[str]


@dataclass
class Form:
    """A form of a page: where it is sent, its fields with their values, and the cookies of its browser."""

    action: str
    fields: dict[str, str] = field(default_factory=dict[str, str])
    cookies: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class OpenedPage:
    """A page as its reader sees it: its text, and its forms without the language switch."""

    text: str
    forms: list[Form]


class _Forms(HTMLParser):
    """Collects the forms of a page; a submit button with a name counts as a field."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(attributes.get("action", "")))
        elif tag in {"input", "button"} and self.forms and attributes.get("name"):
            self.forms[-1].fields[attributes["name"]] = attributes.get("value", "")


@dataclass
class Mailboxes:
    """All mails that were sent so far, by recipient."""

    world: World
    seen: set[UUID] = field(default_factory=set["UUID"])
    mails: dict[str, list[ReceivedMail]] = field(default_factory=dict[str, "list[ReceivedMail]"])

    async def collect(self) -> None:
        """Put the mails that were sent since the last call into the mailboxes."""
        renderer = self.world.installation.mail_renderer
        for one in await self.world.installation.database.transact(mail.claim, MAILS_MAX):
            # A mail is claimed again after its lease has ended.
            if one.id in self.seen:
                continue
            self.seen.add(one.id)
            message = one.message
            text = renderer.render(message).text
            received = ReceivedMail(message.to, message.template, message.values, _LINK.findall(text))
            self.mails.setdefault(message.to, []).append(received)

    def of(self, *addresses: str) -> list[ReceivedMail]:
        """Return the mails of these mailboxes, the oldest first in each."""
        return [received for address in addresses for received in self.mails.get(address, [])]

    async def open(self, link: str) -> OpenedPage:
        """Open a link of a mail as a browser does."""
        answer = await self.world.client.get(link, headers={"Accept": "text/html"})
        assert answer.status < 500, answer.text
        if answer.status in _REDIRECTS:
            location = urlsplit(answer.headers["Location"])
            return await self.open(f"{location.path}?{location.query}")
        found = _Forms()
        found.feed(answer.text)
        forms = [form for form in found.forms if form.action != LANGUAGE]
        for form in forms:
            form.cookies = [line.partition(";")[0] for line in set_cookies(answer)]
        return OpenedPage(answer.text, forms)

    async def send(self, form: Form, **typed: str) -> Answer:
        """Send a form with what a person typed into its fields."""
        answer = await self.world.client.post(
            form.action,
            data=urlencode(form.fields | typed).encode(),
            headers={
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "text/html",
                **({"Cookie": "; ".join(form.cookies)} if form.cookies else {}),
            },
        )
        assert answer.status < 500, answer.text
        return answer
