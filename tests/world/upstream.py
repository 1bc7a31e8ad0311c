"""A visitor who signs in with external providers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from tests.application import Answer
from tests.upstream_provider import Account, StandIn
from tests.world.visitor import Visitor


@dataclass
class Upstream:
    """A browser and the providers."""

    stand_in: StandIn
    visitor: Visitor

    async def depart(self, path: str = "/auth/codehost", visitor: Visitor | None = None) -> str:
        """Begin a sign-in, and return the address at the provider to which the browser is sent."""
        answer = await (visitor or self.visitor).send("GET", path)
        assert answer.status == 303, answer.text
        return answer.headers["Location"]

    async def come_back(
        self, path: str = "/auth/codehost", account: Account | None = None, visitor: Visitor | None = None
    ) -> Answer:
        """Sign in with a provider, and return what answers the browser that comes back, without following it."""
        address = await self.depart(path, visitor)
        back = self.stand_in.sign_in(address, account or Account())
        return await (visitor or self.visitor).send("GET", back)

    async def sign_in(
        self, path: str = "/auth/codehost", account: Account | None = None, visitor: Visitor | None = None
    ) -> Answer:
        """Sign in with a provider, and return the page that follows."""
        browser = visitor or self.visitor
        address = await self.depart(path, browser)
        return await browser.open(self.stand_in.sign_in(address, account or Account()))


def parameters_of(address: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return dict(parse_qsl(urlsplit(address).query))
