"""A service provider of SAML as a program: it makes requests, signs them or not, and reads answers.

It shares no code with the application. Its requests are text, so that a test can make any request.
"""

from __future__ import annotations

import base64
import secrets
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urlencode
from xml.sax.saxutils import quoteattr

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree

from tests.kept_keys import BITS, rsa_key
from tests.seeds import Numbers

NAMESPACES = {
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "md": "urn:oasis:names:tc:SAML:2.0:metadata",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
RSA_SHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
EMAIL_FORMAT = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"

_NUMBERS = Numbers()


@dataclass(frozen=True)
class KeyPair:
    """A key with its certificate."""

    private: rsa.RSAPrivateKey
    certificate_pem: str

    @property
    def private_pem(self) -> str:
        """The private key as PEM."""
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@cache
def key_pair(name: str, bits: int = BITS) -> KeyPair:
    """Return a key pair, the same for the same name."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=bits) if bits != BITS else rsa_key(name)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2050, 1, 1, tzinfo=UTC))
        .sign(private, hashes.SHA256())
    )
    return KeyPair(private, certificate.public_bytes(Encoding.PEM).decode())


@dataclass(frozen=True)
class PostedForm:
    """The one form of a page: where it goes, and its fields."""

    action: str
    fields: Mapping[str, str]

    @property
    def xml(self) -> bytes:
        """The message that it carries."""
        return base64.b64decode(self.fields.get("SAMLResponse") or self.fields["SAMLRequest"])

    @property
    def root(self) -> Any:
        """The message, parsed."""
        return etree.fromstring(self.xml)

    def texts(self, path: str) -> list[str]:
        """Return what an XPath finds in the message."""
        return [str(found) for found in self.root.xpath(path, namespaces=NAMESPACES)]

    @property
    def statuses(self) -> list[str]:
        """The last words of the status codes, the first level first."""
        return [value.rpartition(":")[2] for value in self.texts("//samlp:StatusCode/@Value")]


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PostedForm] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(PostedForm(given.get("action", ""), {}))
        elif tag == "input" and self.forms and given.get("name"):
            last = self.forms[-1]
            self.forms[-1] = PostedForm(last.action, {**last.fields, given["name"]: given.get("value", "")})


def forms_of(page: str) -> list[PostedForm]:
    """Return the forms of a page, without the language switch, which stands on every page."""
    parser = _Forms()
    parser.feed(page)
    return [form for form in parser.forms if form.action != "/app/language"]


def posted_form(page: str) -> PostedForm:
    """Return the form of a page that carries a message."""
    [form] = [one for one in forms_of(page) if {"SAMLResponse", "SAMLRequest"} & one.fields.keys()]
    return form


@dataclass(frozen=True)
class ServiceProvider:
    """A service provider. `now` is its clock; `idp` the entity id of its identity provider."""

    now: Callable[[], datetime]
    idp: str
    entity_id: str = "https://sp.example/metadata"
    acs_url: str = "https://sp.example/acs"
    slo_url: str = "https://sp.example/slo"
    key: KeyPair = field(default_factory=lambda: key_pair("sp"))

    @property
    def configuration(self) -> dict[str, Any]:
        """The settings of the identity provider for it."""
        return {"enabled": True, "entity_id": self.entity_id, "acs_url": self.acs_url, "slo_url": self.slo_url}

    def authn_request(self, *, inside: str = "", **attributes: str | None) -> str:
        """Return a request for a sign-in; None leaves an attribute out."""
        given = {
            "ID": f"_request-{next(_NUMBERS)}-{secrets.token_hex(4)}",
            "Version": "2.0",
            "IssueInstant": self.time(),
            "Destination": f"{self.idp}/sso",
            "AssertionConsumerServiceURL": self.acs_url,
            "ProtocolBinding": POST,
        }
        return self._message("AuthnRequest", {**given, **attributes}, inside)

    def logout_request(
        self, name: str, *indexes: str, name_format: str = EMAIL_FORMAT, **attributes: str | None
    ) -> str:
        """Return a request for the end of these sessions of a user, or of all."""
        inside = f'<saml:NameID Format="{name_format}">{name}</saml:NameID>'
        inside += "".join(f"<samlp:SessionIndex>{index}</samlp:SessionIndex>" for index in indexes)
        return self._message("LogoutRequest", {**self._to_slo(), **attributes}, inside)

    def logout_response(self, in_response_to: str, *, status: str = "Success", **attributes: str | None) -> str:
        """Return an answer to the request for the end of a session."""
        code = f"urn:oasis:names:tc:SAML:2.0:status:{status}"
        inside = f'<samlp:Status><samlp:StatusCode Value="{code}"/></samlp:Status>'
        return self._message("LogoutResponse", {**self._to_slo(), "InResponseTo": in_response_to, **attributes}, inside)

    def time(self, shift: timedelta = timedelta()) -> str:
        """Return a moment as messages contain it."""
        return (self.now() + shift).strftime("%Y-%m-%dT%H:%M:%SZ")

    def metadata(self, *, inside: str = "", **attributes: str) -> str:
        """Return its metadata."""
        given = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
        return (
            f'<md:EntityDescriptor {DECLARED} entityID="{self.entity_id}">'
            f'<md:SPSSODescriptor protocolSupportEnumeration="{NAMESPACES["samlp"]}" {given}>{inside}'
            f'<md:SingleLogoutService Binding="{POST}" Location="{self.slo_url}"/>'
            f"<md:NameIDFormat>{EMAIL_FORMAT}</md:NameIDFormat>"
            f'<md:AssertionConsumerService index="0" Binding="{POST}" Location="{self.acs_url}"/>'
            f"</md:SPSSODescriptor></md:EntityDescriptor>"
        )

    def key_descriptor(self) -> str:
        """Return the element of metadata with its certificate."""
        body = "".join(self.key.certificate_pem.splitlines()[1:-1])
        return (
            f'<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{body}'
            "</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        )

    def signed(self, message: str, *, key: KeyPair | None = None) -> str:
        """Return a message with an enveloped signature after its Issuer."""
        return sign(message, key or self.key)

    def query(
        self,
        message: str,
        *,
        name: str = "SAMLRequest",
        relay_state: str | None = None,
        key: KeyPair | None = None,
        algorithm: str = RSA_SHA256,
    ) -> str:
        """Return the query string of a message for the redirect binding; with a key it is signed."""
        parameters = {name: redirected(message)}
        if relay_state is not None:
            parameters["RelayState"] = relay_state
        if key is None:
            return urlencode(parameters, quote_via=quote)
        query = urlencode({**parameters, "SigAlg": algorithm}, quote_via=quote)
        digest = hashes.SHA1() if algorithm == RSA_SHA1 else hashes.SHA256()  # noqa: S303 - a weak one, to be refused
        signature = key.private.sign(query.encode(), padding.PKCS1v15(), digest)
        return f"{query}&{urlencode({'Signature': base64.b64encode(signature).decode()}, quote_via=quote)}"

    def form(self, message: str, *, name: str = "SAMLRequest", relay_state: str | None = None) -> bytes:
        """Return the body of a message for the POST binding."""
        fields = {name: base64.b64encode(message.encode()).decode()}
        if relay_state is not None:
            fields["RelayState"] = relay_state
        return urlencode(fields).encode()

    def _to_slo(self) -> dict[str, str]:
        return {
            "ID": f"_request-{next(_NUMBERS)}-{secrets.token_hex(4)}",
            "Version": "2.0",
            "IssueInstant": self.time(),
            "Destination": f"{self.idp}/slo",
        }

    def _message(self, name: str, attributes: Mapping[str, str | None], inside: str) -> str:
        given = " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items() if value is not None)
        issuer = f"<saml:Issuer>{self.entity_id}</saml:Issuer>"
        return f"<samlp:{name} {DECLARED} {given}>{issuer}{inside}</samlp:{name}>"


def redirected(message: str) -> str:
    """Return the value of a message in the redirect binding."""
    compressor = zlib.compressobj(wbits=-15)
    return base64.b64encode(compressor.compress(message.encode()) + compressor.flush()).decode()


def inflated(value: str) -> Any:
    """Return the message of the redirect binding, parsed."""
    return etree.fromstring(zlib.decompress(base64.b64decode(value), wbits=-15))


def sign(message: str, key: KeyPair, *, method: Any = None, digest: Any = None) -> str:
    """Return a document whose root has an enveloped signature after its first child."""
    root = etree.fromstring(message)
    template = xmlsec.template.create(
        root, xmlsec.constants.TransformExclC14N, method or xmlsec.constants.TransformRsaSha256, ns="ds"
    )
    root.insert(1, template)
    reference = xmlsec.template.add_reference(
        template, digest or xmlsec.constants.TransformSha256, uri=f"#{root.get('ID')}"
    )
    xmlsec.template.add_transform(reference, xmlsec.constants.TransformEnveloped)
    xmlsec.template.add_transform(reference, xmlsec.constants.TransformExclC14N)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(key.private_pem, xmlsec.constants.KeyDataFormatPem)
    context.register_id(root, "ID")
    context.sign(template)
    return etree.tostring(root).decode()


def is_signed(element: Any, certificate_pem: str) -> bool:
    """Return whether an element has a valid signature right after its Issuer."""
    children = [etree.QName(child).localname for child in element]
    if children[:2] != ["Issuer", "Signature"]:
        return False
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(certificate_pem, xmlsec.constants.KeyDataFormatCertPem)
    context.register_id(element, "ID")
    try:
        context.verify(element[1])
    except xmlsec.Error:
        return False
    return True
