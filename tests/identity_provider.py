"""An identity provider of SAML as a program: it has metadata, and answers requests with what a test says.

It shares no code with the application. Its messages are text, so that a test can make any answer.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.service_provider import DECLARED, NAMESPACES, KeyPair, inflated, key_pair, sign

ENTITY_ID = "https://idp.acme.example/saml"
SSO_URL = "https://idp.acme.example/saml/sso?tenant=acme"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
MINUTES = timedelta(minutes=5)


@dataclass(frozen=True)
class Asked:
    """A request as a browser brought it."""

    id: str
    issuer: str
    acs_url: str
    relay_state: str


def asked(address: str) -> Asked:
    """Return the request of an address."""
    assert address.startswith(f"{SSO_URL}&"), address
    parameters = dict(parse_qsl(urlsplit(address).query))
    root = inflated(parameters["SAMLRequest"])
    issuer = root.findtext(f"{{{NAMESPACES['saml']}}}Issuer")
    return Asked(root.get("ID"), issuer, root.get("AssertionConsumerServiceURL"), parameters["RelayState"])


@dataclass(frozen=True, kw_only=True)
class IdentityProvider:
    """An identity provider, and what it says of the user who has signed in there."""

    now: Callable[[], datetime]
    entity_id: str = ENTITY_ID
    key: KeyPair = field(default_factory=lambda: key_pair("idp of acme"))
    name_id: str = "employee-1"
    name_format: str = PERSISTENT
    attributes: Mapping[str, str] = field(default_factory=lambda: {"email": "ada@acme.example"})

    def metadata(
        self,
        *more: KeyPair,
        entity_id: str | None = None,
        binding: str = REDIRECT,
        valid_until: str = "",
        rest: str = "",
    ) -> str:
        """Return its metadata, with certificates of its key and of further ones; `rest` are attributes of its role."""
        keys = "".join(
            '<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>'
            + "".join(key.certificate_pem.splitlines()[1:-1])
            + "</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
            for key in (*more, self.key)
        )
        ends = f' validUntil="{valid_until}"' if valid_until else ""
        return (
            f'<md:EntityDescriptor {DECLARED} entityID="{entity_id or self.entity_id}"{ends}>'
            f'<md:IDPSSODescriptor protocolSupportEnumeration="{NAMESPACES["samlp"]}" {rest}>{keys}'
            f'<md:SingleSignOnService Binding="{binding}" Location="{SSO_URL}"/>'
            "</md:IDPSSODescriptor></md:EntityDescriptor>"
        )

    def time(self, shift: timedelta = timedelta()) -> str:
        """Return a moment as messages contain it."""
        return (self.now() + shift).strftime("%Y-%m-%dT%H:%M:%SZ")

    def assertion(self, request: Asked, **changes: str) -> str:
        """Return an assertion without a signature; a change replaces one of its values."""
        given = {
            "id": "_assertion",
            "issuer": self.entity_id,
            "audience": request.issuer,
            "recipient": request.acs_url,
            "in_response_to": request.id,
            "not_before": self.time(-MINUTES),
            "not_on_or_after": self.time(MINUTES),
            "confirmed_until": self.time(MINUTES),
            "method": "urn:oasis:names:tc:SAML:2.0:cm:bearer",
            "statement": f'<saml:AuthnStatement AuthnInstant="{self.time()}"><saml:AuthnContext>'
            "<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified"
            "</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>",
            **changes,
        }
        attributes = "".join(
            f'<saml:Attribute Name="{name}"><saml:AttributeValue>{value}</saml:AttributeValue></saml:Attribute>'
            for name, value in self.attributes.items()
        )
        return (
            f'<saml:Assertion {DECLARED} ID="{given["id"]}" Version="2.0" IssueInstant="{self.time()}">'
            f"<saml:Issuer>{given['issuer']}</saml:Issuer>"
            f'<saml:Subject><saml:NameID Format="{self.name_format}">{self.name_id}</saml:NameID>'
            f'<saml:SubjectConfirmation Method="{given["method"]}"><saml:SubjectConfirmationData'
            f' Recipient="{given["recipient"]}" InResponseTo="{given["in_response_to"]}"'
            f' NotOnOrAfter="{given["confirmed_until"]}"/></saml:SubjectConfirmation></saml:Subject>'
            f'<saml:Conditions NotBefore="{given["not_before"]}" NotOnOrAfter="{given["not_on_or_after"]}">'
            f"<saml:AudienceRestriction><saml:Audience>{given['audience']}</saml:Audience></saml:AudienceRestriction>"
            f"</saml:Conditions>{given['statement']}"
            f"<saml:AttributeStatement>{attributes}</saml:AttributeStatement></saml:Assertion>"
        )

    def response(self, request: Asked, assertion: str, *, status: str = SUCCESS, **changes: str) -> str:
        """Return a response around an assertion, without a signature of its own."""
        given = {"issuer": self.entity_id, "destination": request.acs_url, "in_response_to": request.id, **changes}
        return (
            f'<samlp:Response {DECLARED} ID="_response" Version="2.0" IssueInstant="{self.time()}"'
            f' Destination="{given["destination"]}" InResponseTo="{given["in_response_to"]}">'
            f"<saml:Issuer>{given['issuer']}</saml:Issuer>"
            f'<samlp:Status><samlp:StatusCode Value="{status}"/></samlp:Status>{assertion}</samlp:Response>'
        )

    def answer(self, request: Asked, **changes: str) -> str:
        """Return the usual answer: a response whose assertion is signed."""
        return self.response(request, sign(self.assertion(request, **changes), self.key))


def posted(response: str, relay_state: str) -> bytes:
    """Return the body with which a browser posts a response."""
    return urlencode({"SAMLResponse": base64.b64encode(response.encode()).decode(), "RelayState": relay_state}).encode()
