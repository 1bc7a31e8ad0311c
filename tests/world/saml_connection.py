"""Acme with a connection to a SAML identity provider, and a browser that signs in by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.identity_provider import Asked, IdentityProvider, asked, posted
from tests.world.openid_connection import CONNECTIONS, prove_domain
from tests.world.signing_in import SignedInUser
from tests.world.visitor import FORM, Visitor
from tests.world.world import World

HEADERS = {"Content-Type": FORM, "Origin": "https://idp.acme.example", "Sec-Fetch-Site": "cross-site"}


@dataclass
class SamlAcme:
    """The organization, its identity provider, and a browser."""

    world: World
    visitor: Visitor
    idp: IdentityProvider
    owner: SignedInUser
    organization_id: UUID
    connection_id: str

    @property
    def acs(self) -> str:
        """The path to which the identity provider posts."""
        return f"/auth/upstream/{self.connection_id}/acs"

    async def depart(self, visitor: Visitor | None = None) -> Asked:
        """Begin a sign-in, and return the request with which the browser comes to the identity provider."""
        path = f"/auth/upstream?connection_id={self.connection_id}"
        answer = await (visitor or self.visitor).send("GET", path)
        assert answer.status == 303, answer.text
        return asked(answer.headers["Location"])

    async def post(self, response: str, relay_state: str, *, acs: str | None = None) -> Answer:
        """Post a response as a browser does for another site, without any cookie."""
        return await self.world.client.request(
            "POST", acs or self.acs, data=posted(response, relay_state), headers=HEADERS
        )

    async def sign_in(self, **changes: str) -> Answer:
        """Sign in by the connection, and return the page that follows."""
        request = await self.depart()
        answer = await self.post(self.idp.answer(request, **changes), request.relay_state)
        if answer.status != 303:
            return answer
        return await self.visitor.open(answer.headers["Location"])

    async def change(self, **fields: Any) -> Answer:
        """Change the connection."""
        return await self.owner.patch(f"{CONNECTIONS}/{self.connection_id}", fields)

    def of(self, **fields: Any) -> SamlAcme:
        """Return the same with another state of the identity provider."""
        return replace(self, idp=replace(self.idp, **fields))


async def saml_acme(world: World, visitor: Visitor, idp: IdentityProvider, **fields: Any) -> SamlAcme:
    """Return Acme, whose domain `acme.example` signs in by SAML."""
    organization_id = world.organization("acme")
    owner = await world.signed_in_member(organization_id, email="owner@acme.example")
    body = {"type": "saml", "name": "Acme", "metadata_xml": idp.metadata(), **fields}
    created = await owner.post(CONNECTIONS, body)
    assert created.status == 200, created.text
    await prove_domain(world, owner, created.json["id"])
    return SamlAcme(world, visitor, idp, owner, organization_id, created.json["id"])
