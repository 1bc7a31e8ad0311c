"""The mails of the instance, which leave nowhere."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Final

from gatehouse_client.testing.instance import Instance
from gatehouse_client.testing.requests import KitFailed

WAIT_SECONDS_MAX: Final = 30.0
_POLL_SECONDS: Final = 0.02
_LINK: Final = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]")
_CODE: Final = re.compile(r"^\s*(\d{6,8}|[A-Z0-9]{4}-[A-Z0-9]{4})\s*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A mail as its recipient would have received it."""

    id: str
    to: str
    subject: str
    text: str
    html: str

    def link(self, containing: str = "") -> str:
        """Return the first link in it, or the first that contains a text."""
        for found in _LINK.findall(self.text):
            if containing in found:
                return found
        raise KitFailed(f"no link with {containing!r} is in the mail {self.subject!r}")

    @property
    def code(self) -> str:
        """The code in it that a person types."""
        found = _CODE.search(self.text)
        assert found is not None, f"no code in the mail {self.subject!r}"
        return found[1]


@dataclass(frozen=True)
class Mailbox:
    """The mails of an instance, to all addresses."""

    instance: Instance

    def all(self, to: str | None = None) -> list[Mail]:
        """List the latest mails, the newest first: to all addresses, or to one."""
        found = self.instance.requests.ask("GET", "/dev/mailbox")["messages"]
        mails = [Mail(**{name: one[name] for name in ("id", "to", "subject", "text", "html")}) for one in found]
        return [mail for mail in mails if to is None or mail.to == to]

    def wait_for(self, to: str, *, containing: str = "", besides: Container[str] = ()) -> Mail:
        """Return the newest mail to an address whose text contains this, when there is one.

        `besides` are ids of mails that are known already.
        """
        return self._newest(
            to, lambda mail: mail.id not in besides and containing in mail.text, f"a mail with {containing!r}"
        )

    def wait_for_code(self, to: str, *, besides: Container[str] = ()) -> str:
        """Return the code of the newest mail to an address that has one, when there is one."""
        return self._newest(to, lambda mail: mail.id not in besides and bool(_CODE.search(mail.text)), "a code").code

    def _newest(self, to: str, fits: Callable[[Mail], bool], what: str) -> Mail:
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            for mail in self.all(to):
                if fits(mail):
                    return mail
            if time.monotonic() > deadline:
                raise KitFailed(f"{what} for {to} did not come in {WAIT_SECONDS_MAX:g} s")
            time.sleep(_POLL_SECONDS)
