"""Messages of the identity provider: built as XML by the schemas, signed, and encoded for their binding."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from lxml import etree
from lxml.etree import QName, SubElement

from adapters.saml import signatures
from adapters.saml.documents import ASSERTION, PROTOCOL, deflate
from core.key_certificates import SamlSigningKey
from core.saml.messages import (
    IssuedAssertion,
    OutgoingLogoutRequest,
    OutgoingLogoutResponse,
    OutgoingMessage,
    Response,
    SamlBinding,
    StatusOf,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element


ASSERTION_LIFETIME: Final = timedelta(minutes=5)
# The clock of a service provider may be a little behind.
BEFORE: Final = timedelta(seconds=30)

_NAMESPACES: Final = {"samlp": PROTOCOL, "saml": ASSERTION}
_BEARER: Final = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_URI_NAME: Final = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
_BASIC_NAME: Final = "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"
# What XML 1.0 cannot contain (2.2), such as control characters in a name from a directory.
_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_URI_SCHEMES: Final = ("urn:", "http://", "https://")


def response(content: Response, key: SamlSigningKey) -> str:
    """Return the signed response in base64, for the POST binding."""
    root = message("Response", content.id, content.issuer, content.destination, content.issued_at)
    if content.in_response_to is not None:
        root.set("InResponseTo", content.in_response_to)
    _add_status(root, content.status)
    if content.assertion is not None:
        _add_assertion(root, content, content.assertion)
        if content.sign_assertion:
            # The assertion is signed first, because the signature of the response covers it.
            signatures.sign(root[-1], key)
    # A refusal has no assertion whose signature would prove it.
    if content.sign_response or content.assertion is None:
        signatures.sign(root, key)
    return base64.b64encode(serialized(root)).decode()


def logout_request(
    content: OutgoingLogoutRequest, key: SamlSigningKey, binding: SamlBinding, relay_state: str | None
) -> OutgoingMessage:
    """Return the signed request for its binding."""
    root = message("LogoutRequest", content.id, content.issuer, content.destination, content.issued_at)
    root.set("NotOnOrAfter", written(content.issued_at + ASSERTION_LIFETIME))
    name_id = SubElement(root, QName(ASSERTION, "NameID"), Format=content.name_id.format)
    for name, value in (("NameQualifier", content.name_qualifier), ("SPNameQualifier", content.audience)):
        if value is not None:
            name_id.set(name, value)
    name_id.text = content.name_id.value
    if content.session_index is not None:
        SubElement(root, QName(PROTOCOL, "SessionIndex")).text = content.session_index
    return encoded("SAMLRequest", root, content.destination, key, binding, relay_state)


def logout_response(
    content: OutgoingLogoutResponse, key: SamlSigningKey, binding: SamlBinding, relay_state: str | None
) -> OutgoingMessage:
    """Return the signed answer for its binding."""
    root = message("LogoutResponse", content.id, content.issuer, content.destination, content.issued_at)
    root.set("InResponseTo", content.in_response_to)
    _add_status(root, content.status)
    return encoded("SAMLResponse", root, content.destination, key, binding, relay_state)


def encoded(
    parameter: str,
    root: Element,
    destination: str,
    key: SamlSigningKey | None,
    binding: SamlBinding,
    relay_state: str | None,
) -> OutgoingMessage:
    """Return a message for its binding (saml-bindings-2.0, 3.4 and 3.5), signed if there is a key."""
    if binding is SamlBinding.POST:
        if key is not None:
            signatures.sign(root, key)
        value = base64.b64encode(serialized(root)).decode()
        return OutgoingMessage(
            binding=binding, url=destination, parameter=parameter, value=value, relay_state=relay_state
        )
    # The signature of this binding is in the query string.
    parameters = {parameter: base64.b64encode(deflate(serialized(root))).decode()}
    if relay_state is not None:
        parameters["RelayState"] = relay_state
    separator = "&" if "?" in destination else "?"
    query = signatures.signed_query(parameters, key) if key is not None else urlencode(parameters)
    return OutgoingMessage(binding=binding, url=f"{destination}{separator}{query}")


def message(name: str, own_id: str, issuer: str, destination: str, issued_at: datetime) -> Element:
    """Return the root of a message with its Issuer."""
    root = etree.Element(QName(PROTOCOL, name), nsmap=_NAMESPACES)
    for attribute, value in _identity(own_id, issued_at).items():
        root.set(attribute, value)
    root.set("Destination", destination)
    SubElement(root, QName(ASSERTION, "Issuer")).text = issuer
    return root


def _identity(own_id: str, issued_at: datetime) -> Mapping[str, str]:
    return {"ID": own_id, "Version": "2.0", "IssueInstant": written(issued_at)}


def _add_status(root: Element, status: StatusOf) -> None:
    code = SubElement(SubElement(root, QName(PROTOCOL, "Status")), QName(PROTOCOL, "StatusCode"), Value=status.first)
    if status.second is not None:
        SubElement(code, QName(PROTOCOL, "StatusCode"), Value=status.second)


def _add_assertion(root: Element, content: Response, assertion: IssuedAssertion) -> None:
    ends_at = written(content.issued_at + ASSERTION_LIFETIME)
    element = SubElement(root, QName(ASSERTION, "Assertion"), _identity(assertion.id, content.issued_at))
    SubElement(element, QName(ASSERTION, "Issuer")).text = content.issuer
    subject = SubElement(element, QName(ASSERTION, "Subject"))
    name_id = SubElement(
        subject, QName(ASSERTION, "NameID"), Format=assertion.name_id.format, SPNameQualifier=content.audience
    )
    name_id.text = assertion.name_id.value
    confirmation = SubElement(subject, QName(ASSERTION, "SubjectConfirmation"), Method=_BEARER)
    data = SubElement(
        confirmation,
        QName(ASSERTION, "SubjectConfirmationData"),
        NotOnOrAfter=ends_at,
        Recipient=content.destination,
    )
    if content.in_response_to is not None:
        data.set("InResponseTo", content.in_response_to)
    conditions = SubElement(
        element, QName(ASSERTION, "Conditions"), NotBefore=written(content.issued_at - BEFORE), NotOnOrAfter=ends_at
    )
    restriction = SubElement(conditions, QName(ASSERTION, "AudienceRestriction"))
    SubElement(restriction, QName(ASSERTION, "Audience")).text = content.audience
    statement = SubElement(
        element,
        QName(ASSERTION, "AuthnStatement"),
        AuthnInstant=written(assertion.authenticated_at),
        SessionIndex=assertion.session_index,
        SessionNotOnOrAfter=written(assertion.session_ends_at),
    )
    context = SubElement(statement, QName(ASSERTION, "AuthnContext"))
    SubElement(context, QName(ASSERTION, "AuthnContextClassRef")).text = assertion.context_class
    _add_attributes(element, assertion)


def _add_attributes(element: Element, assertion: IssuedAssertion) -> None:
    statement = SubElement(element, QName(ASSERTION, "AttributeStatement"))
    for name, value in assertion.attributes:
        attribute = SubElement(
            statement,
            QName(ASSERTION, "Attribute"),
            Name=name,
            NameFormat=_URI_NAME if name.startswith(_URI_SCHEMES) else _BASIC_NAME,
        )
        for text in [value] if isinstance(value, str) else value or ():
            SubElement(attribute, QName(ASSERTION, "AttributeValue")).text = _NOT_XML.sub("", text)


def serialized(root: Element) -> bytes:
    """Return a message as it is sent."""
    return etree.tostring(root, encoding="utf-8")


def written(at: datetime) -> str:
    """Return a time as messages and metadata have it: in whole seconds, which every implementation reads."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
