"""An identity provider that takes part in logouts: its metadata, its messages, and what a browser brings it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.application import Answer
from tests.identity_provider import IdentityProvider
from tests.service_provider import POST, KeyPair, ServiceProvider, inflated
from tests.world.saml_connection import HEADERS, SamlAcme
from tests.world.visitor import Visitor

BASE_URL = "http://localhost:8000"
SLO_URL = "https://idp.acme.example/saml/slo"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"


def metadata_with_logout(idp: IdentityProvider, binding: str = REDIRECT, response: str = "") -> str:
    """Return the metadata of an identity provider, with an endpoint for logouts."""
    answers = f' ResponseLocation="{response}"' if response else ""
    element = f'<md:SingleLogoutService Binding="{binding}" Location="{SLO_URL}"{answers}/>'
    return idp.metadata().replace("<md:SingleSignOnService", f"{element}<md:SingleSignOnService")


def statement(idp: IdentityProvider, index: str = "session-1") -> str:
    """Return an AuthnStatement that names a session."""
    return (
        f'<saml:AuthnStatement AuthnInstant="{idp.time()}" SessionIndex="{index}"><saml:AuthnContext>'
        "<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified</saml:AuthnContextClassRef>"
        "</saml:AuthnContext></saml:AuthnStatement>"
    )


@dataclass(frozen=True)
class LogoutAcme:
    """Acme, and the part of its identity provider that sends and takes messages about logouts."""

    acme: SamlAcme

    @property
    def slo(self) -> str:
        """The path to which the identity provider sends its messages."""
        return f"/auth/upstream/{self.acme.connection_id}/slo"

    @property
    def party(self) -> ServiceProvider:
        """The identity provider, as the program that makes messages about logouts."""
        idp = self.acme.idp
        address = f"{BASE_URL}/auth/upstream/{self.acme.connection_id}"
        return ServiceProvider(now=idp.now, idp=address, entity_id=idp.entity_id, key=idp.key)

    async def sign_in(self, index: str = "session-1") -> Answer:
        """Sign in with a session that the identity provider names."""
        return await self.acme.sign_in(statement=statement(self.acme.idp, index))

    async def send(self, message: str, *, key: KeyPair | None = None, visitor: Visitor, **options: Any) -> Answer:
        """Bring a message by redirect, which is signed."""
        query = self.party.query(message, key=key or self.acme.idp.key, **options)
        return await visitor.send("GET", f"{self.slo}?{query}")

    async def post(self, message: str, *, visitor: Visitor, key: KeyPair | None = None, **options: Any) -> Answer:
        """Bring a message by POST, which is signed, without the cookies of the browser."""
        signed = self.party.signed(message, key=key or self.acme.idp.key)
        form = self.party.form(signed, **options)
        answer = await visitor.client.request("POST", self.slo, data=form, headers={**visitor.headers, **HEADERS})
        visitor.keep(answer)
        return answer

    @property
    def live_sessions(self) -> int:
        """How many sessions by the connection are live."""
        return self.acme.world.value(
            "SELECT count(*) FROM sessions WHERE connection_id IS NOT NULL AND revoked_at IS NULL"
        )


def message_at(address: str, target: str, name: str) -> Any:
    """Return the message with which a browser is sent to an address, parsed; its query has to be signed."""
    assert address.startswith(f"{target}?"), address
    query = parse_qs(urlsplit(address).query)
    assert {"SigAlg", "Signature"} <= query.keys()
    return inflated(query[name][0])


__all__ = ["POST", "REDIRECT", "SLO_URL", "LogoutAcme", "message_at", "metadata_with_logout", "statement"]
