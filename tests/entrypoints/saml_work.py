"""Browsers that sign in by SAML while the server is killed: here for a service provider, and by an identity provider.

A sign-in whose answer was lost may have been completed; sent again it is refused, and the browser begins another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.entrypoints.killed_server import Acknowledged
from tests.entrypoints.work import Client
from tests.identity_provider import IdentityProvider, asked, posted
from tests.service_provider import ServiceProvider, posted_form
from tests.world.saml_connection import HEADERS

PAGES = {"Accept": "text/html", "User-Agent": "a browser"}
REFUSED = 400


@dataclass
class Browser(Client):
    """A browser that a SAML service provider sends to sign in, each time with another request."""

    cookies: str = field(kw_only=True)
    sp: ServiceProvider = field(kw_only=True)
    path: str = field(kw_only=True)
    # The SessionIndex of each assertion that arrived.
    indexes: list[str] = field(default_factory=list[str])

    async def work(self, name: str) -> None:
        request_id = f"_{name}"
        query = self.sp.query(self.sp.authn_request(ID=request_id))
        headers = {**PAGES, "Cookie": self.cookies}
        page = (await self.server.request("GET", f"{self.path}/sso?{query}", headers=headers)).expect(200, REFUSED)
        if page.status == REFUSED:
            return
        form = posted_form(page.answer.text)
        assert form.statuses == ["Success"], form.statuses
        assert form.texts("/samlp:Response/@InResponseTo") == [request_id]
        self.indexes += form.texts("//saml:AuthnStatement/@SessionIndex")


@dataclass
class Employees(Client):
    """Employees who each sign in once by the identity provider of their organization; they are new to Gatehouse.

    `signed_in` says of each whether the page after the sign-in arrived.
    """

    idp: IdentityProvider = field(kw_only=True)
    connection_id: str = field(kw_only=True)
    signed_in: dict[str, bool] = field(default_factory=dict[str, bool])
    # The answers of the identity provider that Gatehouse took, as they were posted.
    taken: list[bytes] = field(default_factory=list[bytes])

    async def work(self, name: str) -> None:
        email = f"{name}@initech.example"
        self.signed_in[email] = await self._sign_in(name, email)

    async def _sign_in(self, name: str, email: str) -> bool:
        path = f"/auth/upstream?connection_id={self.connection_id}"
        departure = (await self.server.request("GET", path, headers=PAGES)).expect(303)
        request = asked(departure.answer.headers["Location"])
        idp = replace(self.idp, name_id=name, attributes={"email": email})
        answer = posted(idp.answer(request, id=f"_{name}"), request.relay_state)
        kept = (await self.post(answer)).expect(303, REFUSED)
        if kept.status == REFUSED:
            return False
        self.taken.append(answer)
        cookies = "; ".join(f"{key}={value}" for key, value in departure.answer.cookies.items())
        address = kept.answer.headers["Location"]
        page = await self.server.request("GET", address, headers={**PAGES, "Cookie": cookies})
        return page.expect(303, REFUSED).status != REFUSED

    async def post(self, answer: bytes) -> Acknowledged:
        """Post an answer as a browser does for another site, without any cookie."""
        path = f"/auth/upstream/{self.connection_id}/acs"
        return await self.server.request("POST", path, headers={**PAGES, **HEADERS}, content=answer)
