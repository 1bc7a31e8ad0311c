"""The messages of a SAML identity provider: its metadata, and the signed answer to a request."""

from __future__ import annotations

import base64
import hashlib
import secrets
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - it has no public name

_DSIG: Final = "http://www.w3.org/2000/09/xmldsig#"
_EXCLUSIVE: Final = "http://www.w3.org/2001/10/xml-exc-c14n#"
_NAMESPACES: Final = (
    'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"'
    ' xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"'
)
_MINUTES: Final = timedelta(minutes=5)
_EMAIL: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
_REQUEST_BYTES_MAX: Final = 65_536


@dataclass(frozen=True, kw_only=True)
class Request:
    """What Gatehouse asks."""

    id: str
    issuer: str
    acs_url: str


def read_request(encoded: str) -> Request:
    """Read a request of the redirect binding."""
    inflated = zlib.decompressobj(-15).decompress(base64.b64decode(encoded), _REQUEST_BYTES_MAX)
    root = etree.fromstring(inflated, etree.XMLParser(resolve_entities=False, no_network=True))
    issuer = root.findtext("{urn:oasis:names:tc:SAML:2.0:assertion}Issuer")
    return Request(
        id=root.get("ID", ""), issuer=(issuer or "").strip(), acs_url=root.get("AssertionConsumerServiceURL", "")
    )


def metadata(entity_id: str, sso_url: str, key: RSAPrivateKey) -> str:
    """Return the metadata of a provider."""
    certificate = base64.b64encode(_certificate(key).public_bytes(serialization.Encoding.DER)).decode()
    return (
        f"<md:EntityDescriptor {_NAMESPACES} entityID={quoteattr(entity_id)}>"
        '<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">'
        '<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>'
        f"{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        '<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"'
        f" Location={quoteattr(sso_url)}/></md:IDPSSODescriptor></md:EntityDescriptor>"
    )


def response(
    request: Request,
    *,
    key: RSAPrivateKey,
    entity_id: str,
    name_id: str,
    attributes: Mapping[str, Sequence[str]],
    now: datetime,
) -> str:
    """Return the answer to a request, whose assertion is signed, as the field of a form."""
    assertion = _signed(_assertion(request, entity_id, name_id, attributes, now), key)
    text = (
        f'<samlp:Response {_NAMESPACES} ID="_{secrets.token_hex(16)}" Version="2.0" IssueInstant="{_time(now)}"'
        f" Destination={quoteattr(request.acs_url)} InResponseTo={quoteattr(request.id)}>"
        f"<saml:Issuer>{escape(entity_id)}</saml:Issuer>"
        '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
        f"{assertion}</samlp:Response>"
    )
    return base64.b64encode(text.encode()).decode()


def _assertion(
    request: Request, entity_id: str, name_id: str, attributes: Mapping[str, Sequence[str]], now: datetime
) -> str:
    said = "".join(
        f"<saml:Attribute Name={quoteattr(name)}>"
        + "".join(f"<saml:AttributeValue>{escape(value)}</saml:AttributeValue>" for value in values)
        + "</saml:Attribute>"
        for name, values in attributes.items()
        if values
    )
    return (
        f'<saml:Assertion {_NAMESPACES} ID="_{secrets.token_hex(16)}" Version="2.0" IssueInstant="{_time(now)}">'
        f"<saml:Issuer>{escape(entity_id)}</saml:Issuer>"
        f'<saml:Subject><saml:NameID Format="{_EMAIL}">{escape(name_id)}</saml:NameID>'
        '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData'
        f" Recipient={quoteattr(request.acs_url)} InResponseTo={quoteattr(request.id)}"
        f' NotOnOrAfter="{_time(now + _MINUTES)}"/></saml:SubjectConfirmation></saml:Subject>'
        f'<saml:Conditions NotBefore="{_time(now - _MINUTES)}" NotOnOrAfter="{_time(now + _MINUTES)}">'
        "<saml:AudienceRestriction>"
        f"<saml:Audience>{escape(request.issuer)}</saml:Audience></saml:AudienceRestriction></saml:Conditions>"
        f'<saml:AuthnStatement AuthnInstant="{_time(now)}" SessionIndex="_{secrets.token_hex(8)}"><saml:AuthnContext>'
        "<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"
        "</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>"
        f"<saml:AttributeStatement>{said}</saml:AttributeStatement></saml:Assertion>"
    )


def _signed(assertion: str, key: RSAPrivateKey) -> str:
    """Return an assertion with an enveloped signature after its issuer (XML Signature, 3.1)."""
    root = etree.fromstring(assertion)
    digest = base64.b64encode(hashlib.sha256(_canonical(root)).digest()).decode()
    signature = etree.fromstring(
        f'<ds:Signature xmlns:ds="{_DSIG}"><ds:SignedInfo>'
        f'<ds:CanonicalizationMethod Algorithm="{_EXCLUSIVE}"/>'
        '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>'
        f'<ds:Reference URI="#{root.get("ID")}"><ds:Transforms>'
        f'<ds:Transform Algorithm="{_DSIG}enveloped-signature"/><ds:Transform Algorithm="{_EXCLUSIVE}"/>'
        "</ds:Transforms>"
        '<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>'
        f"<ds:DigestValue>{digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>"
        "<ds:SignatureValue/></ds:Signature>"
    )
    signed_info, value = signature
    value.text = base64.b64encode(key.sign(_canonical(signed_info), PKCS1v15(), hashes.SHA256())).decode()
    root.insert(1, signature)
    return etree.tostring(root).decode()


def _canonical(element: Element) -> bytes:
    return etree.tostring(element, method="c14n", exclusive=True)


@cache
def _certificate(key: RSAPrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Identity provider of the tests")])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=3650))
        .not_valid_after(now + timedelta(days=3650))
        .sign(key, hashes.SHA256())
    )


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
