"""Gatehouse as the service provider of an organization's identity provider: requests, answers, and metadata of both.

Of an answer only its one assertion is read, after its signature was verified with the keys of that identity provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from lxml import etree
from lxml.etree import QName, SubElement

from adapters.saml import certificates, decryption, documents, signatures
from adapters.saml.documents import ASSERTION, METADATA, PROTOCOL, SIGNATURE, Undeciphered, Unreadable
from adapters.saml.metadata import (
    CACHED_FOR,
    add_keys,
    location,
    only_role,
)
from adapters.saml.outgoing import encoded, message, written
from core.key_certificates import SamlSigningKey
from core.saml.messages import NameIdFormat, OutgoingMessage, SamlBinding
from core.sign_in.upstream.saml import (
    SUCCESS,
    Confirmation,
    LogoutEndpoint,
    OwnMetadata,
    SamlAnswer,
    SamlAssertion,
    SamlDescription,
    SamlRecipient,
    SamlRequest,
)
from core.wording import Wording

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element


CERTIFICATES_MAX: Final = 10
ATTRIBUTES_MAX: Final = 200
VALUES_MAX: Final = 1_000
CONFIRMATIONS_MAX: Final = 10
AUDIENCES_MAX: Final = 100
STATEMENTS_MAX: Final = 10
# What identity providers choose from to encrypt, the best first.
_OFFERED: Final = (*sorted(decryption.AES_GCM, reverse=True), decryption.RSA_OAEP)
_BEARER: Final = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_FORMATS: Final = (NameIdFormat.PERSISTENT, NameIdFormat.EMAIL_ADDRESS)


def request(content: SamlRequest, key: SamlSigningKey | None) -> OutgoingMessage:
    """Return a request for a sign-in as a browser carries it, signed if there is a key."""
    root = message("AuthnRequest", content.id, content.provider.entity_id, content.destination, content.issued_at)
    root.set("ProtocolBinding", SamlBinding.POST)
    root.set("AssertionConsumerServiceURL", content.provider.acs_url)
    # Without it an identity provider may not make an identifier for a person who signs in here for the first time
    # (saml-core-2.0, 3.4.1.1).
    SubElement(root, QName(PROTOCOL, "NameIDPolicy"), {"Format": content.name_id_format, "AllowCreate": "true"})
    binding = SamlBinding.POST if content.is_posted else SamlBinding.REDIRECT
    return encoded("SAMLRequest", root, content.destination, key, binding, content.relay_state)


def read_answer(value: str, trusted: Sequence[str], recipient: SamlRecipient, *, takes_cbc: bool = False) -> SamlAnswer:
    """Return the answer of the identity provider that has these certificates; raise `Unreadable`.

    With `takes_cbc` an assertion may be encrypted by AES-CBC.
    """
    root = documents.parse(documents.decode_base64(value))
    if root.tag != f"{{{PROTOCOL}}}Response" or root.get("Version") != "2.0":
        raise Unreadable("It is no response of SAML 2.0.")
    issuer = documents.only(root, ASSERTION, "Issuer")
    statuses = _statuses(root)
    return SamlAnswer(
        issuer=documents.text(issuer) if issuer is not None else None,
        destination=documents.attribute(root, "Destination") or None,
        in_response_to=documents.attribute(root, "InResponseTo") or None,
        statuses=statuses,
        assertion=_assertion_of(root, trusted, recipient, takes_cbc=takes_cbc) if statuses[0] == SUCCESS else None,
        certificates=tuple(trusted),
    )


def _statuses(root: Element) -> tuple[str, ...]:
    """Return the names of the status, of the first level and of those within it."""
    code = documents.required(documents.required(root, PROTOCOL, "Status"), PROTOCOL, "StatusCode")
    found: list[str] = []
    while code is not None:
        found.append(documents.attribute(code, "Value") or "")
        code = documents.only(code, PROTOCOL, "StatusCode")
    return tuple(found)


def is_encrypted(value: str) -> bool:
    """Return whether an answer has an encrypted assertion, or what looks like one."""
    try:
        return b"EncryptedAssertion" in documents.decode_base64(value)
    except Unreadable:
        return False


def _assertion_of(root: Element, trusted: Sequence[str], recipient: SamlRecipient, *, takes_cbc: bool) -> SamlAssertion:
    """Return the one assertion of an answer, which is signed, or the answer around it."""
    if _all_of(root, "EncryptedAssertion"):
        return _decrypted_assertion(root, trusted, recipient, takes_cbc=takes_cbc)
    # Wherever a second one stands: no reader may ever take the one for the other (signature wrapping).
    assertion = documents.only(root, ASSERTION, "Assertion")
    if assertion is None or len(_all_of(root, "Assertion")) != 1:
        raise Unreadable("It has no assertion, or more than one.")
    signatures.require_signed((root, assertion), trusted)
    return _assertion(assertion)


def _decrypted_assertion(
    root: Element, trusted: Sequence[str], recipient: SamlRecipient, *, takes_cbc: bool
) -> SamlAssertion:
    """Return the assertion of an answer that has encrypted it.

    It is never put into the message: a signature of that is of the ciphertext, one of the assertion of what was
    encrypted.
    """
    encrypted = documents.only(root, ASSERTION, "EncryptedAssertion")
    if encrypted is None or len(_all_of(root, "EncryptedAssertion")) != 1 or _all_of(root, "Assertion"):
        raise Unreadable("It has more than one assertion, or an encrypted one in the wrong place.")
    found = decryption.decrypted(encrypted, recipient, takes_cbc=takes_cbc)
    assertion = found.element
    try:
        signatures.require_signed((root, assertion), trusted)
        assert found.problem is None, "the decoy was taken for an assertion"
        if assertion.tag != f"{{{ASSERTION}}}Assertion" or len(_all_of(assertion, "Assertion")) > 1:
            raise Unreadable("What it has encrypted is not one assertion.")
        return _assertion(assertion)
    except Unreadable:
        if found.problem is None:
            raise
        raise Undeciphered(found.problem) from None


def _all_of(root: Element, name: str) -> list[Element]:
    return [element for element in documents.elements(root) if etree.QName(element).localname == name]


def _assertion(element: Element) -> SamlAssertion:
    if element.get("Version") != "2.0":
        raise Unreadable("Its assertion is not of SAML 2.0.")
    subject = documents.required(element, ASSERTION, "Subject")
    if documents.only(subject, ASSERTION, "EncryptedID") is not None:
        raise Unreadable("The name of its user is encrypted by itself (EncryptedID). Encrypt the whole assertion.")
    name_id = documents.required(subject, ASSERTION, "NameID")
    conditions = documents.required(element, ASSERTION, "Conditions")
    statements = _few(element, "AuthnStatement", STATEMENTS_MAX)
    if not statements:
        raise Unreadable("Its assertion does not say that the user has signed in: it has no AuthnStatement.")
    return SamlAssertion(
        issuer=documents.text(documents.required(element, ASSERTION, "Issuer")),
        name_id=documents.text(name_id),
        name_id_format=documents.attribute(name_id, "Format"),
        name_qualifier=documents.attribute(name_id, "NameQualifier"),
        sp_name_qualifier=documents.attribute(name_id, "SPNameQualifier"),
        session_index=documents.attribute(statements[0], "SessionIndex"),
        confirmations=_confirmations(subject),
        audiences=[
            [documents.text(one) for one in _few(restriction, "Audience", AUDIENCES_MAX)]
            for restriction in _few(conditions, "AudienceRestriction", AUDIENCES_MAX)
        ],
        not_before=documents.moment(conditions, "NotBefore"),
        not_on_or_after=documents.moment(conditions, "NotOnOrAfter"),
        session_ends_at=min(
            (end for one in statements if (end := documents.moment(one, "SessionNotOnOrAfter")) is not None),
            default=None,
        ),
        attributes=_attributes(element),
    )


def _confirmations(subject: Element) -> list[Confirmation]:
    found: list[Confirmation] = []
    for confirmation in _few(subject, "SubjectConfirmation", CONFIRMATIONS_MAX):
        data = documents.only(confirmation, ASSERTION, "SubjectConfirmationData")
        if confirmation.get("Method") == _BEARER and data is not None:
            found.append(
                Confirmation(
                    recipient=documents.attribute(data, "Recipient"),
                    in_response_to=documents.attribute(data, "InResponseTo"),
                    not_before=documents.moment(data, "NotBefore"),
                    not_on_or_after=documents.moment(data, "NotOnOrAfter"),
                )
            )
    return found


def _attributes(element: Element) -> dict[str, list[str]]:
    """Return the attributes that are texts, by their names."""
    found: dict[str, list[str]] = {}
    for statement in _few(element, "AttributeStatement", ATTRIBUTES_MAX):
        for attribute in _few(statement, "Attribute", ATTRIBUTES_MAX):
            values = [one for one in _few(attribute, "AttributeValue", VALUES_MAX) if not len(one) and one.text]
            found.setdefault(attribute.get("Name", ""), []).extend(documents.text(one) for one in values)
    return found


def _few(parent: Element, name: str, count_max: int) -> list[Element]:
    found = parent.findall(f"{{{ASSERTION}}}{name}")
    if len(found) > count_max:
        raise Unreadable(Wording("It has more than %(maximum)s of %(name)s.", maximum=count_max, name=name))
    return found


def read_metadata(given: bytes) -> SamlDescription:
    """Return what the metadata of an identity provider say; raise `Unreadable`.

    They come from the address or the text that the organization has chosen, so their own signature adds nothing.
    """
    entity, role, valid_until = only_role(given, "IDPSSODescriptor", "identity provider")
    entity_id = documents.attribute(entity, "entityID")
    redirected, posted = (
        location(role, "SingleSignOnService", one) for one in (SamlBinding.REDIRECT, SamlBinding.POST)
    )
    sso_url = redirected or posted
    if not entity_id or not sso_url:
        raise Unreadable(
            "These metadata name no entityID, or no SingleSignOnService with the HTTP-Redirect or HTTP-POST binding."
        )
    if "{" in entity_id:
        raise Unreadable(
            Wording(
                "These metadata are those of no tenant: their entity id, %(entity_id)s, has a"
                " placeholder. Use the metadata that the identity provider publishes for your own"
                " tenant.",
                entity_id=entity_id,
            )
        )
    return SamlDescription(
        entity_id=entity_id,
        sso_url=sso_url,
        certificates=_signing_certificates(role),
        takes_posts_alone=not redirected,
        wants_signed_requests=documents.flag(role, "WantAuthnRequestsSigned"),
        valid_until=valid_until,
        logout=_logout_endpoint(role),
    )


def _logout_endpoint(role: Element) -> LogoutEndpoint | None:
    """Return where the identity provider takes messages about logouts; None when it takes none by a browser."""
    for binding in (SamlBinding.REDIRECT, SamlBinding.POST):
        for element in role.findall(f"{{{METADATA}}}SingleLogoutService"):
            url = documents.attribute(element, "Location")
            if element.get("Binding") == binding and url:
                response_url = documents.attribute(element, "ResponseLocation") or url
                return LogoutEndpoint(url=url, response_url=response_url, is_post=binding is SamlBinding.POST)
    return None


def _signing_certificates(role: Element) -> tuple[str, ...]:
    """Return the certificates that can verify; there may be several while a key is replaced."""
    usable: dict[str, None] = {}
    problem = "These metadata contain no certificate for signing."
    for descriptor in role.findall(f"{{{METADATA}}}KeyDescriptor"):
        if descriptor.get("use", "signing") != "signing":
            continue
        for element in descriptor.iterfind(f".//{{{SIGNATURE}}}X509Certificate"):
            try:
                usable[certificates.normalized(element.text or "")] = None
            except Unreadable as unusable:
                problem = str(unusable)
    if not usable:
        raise Unreadable(problem)
    if len(usable) > CERTIFICATES_MAX:
        raise Unreadable(
            Wording("These metadata contain more than %(maximum)s certificates for signing.", maximum=CERTIFICATES_MAX)
        )
    return tuple(usable)


def own_metadata(content: OwnMetadata) -> bytes:
    """Return our metadata for the identity provider of a connection, in the order of the schema."""
    provider = content.provider
    root = etree.Element(QName(METADATA, "EntityDescriptor"), nsmap={"md": METADATA, "ds": SIGNATURE})
    root.set("entityID", provider.entity_id)
    # After a change of the key, readers must come back within its overlap.
    root.set("cacheDuration", CACHED_FOR)
    root.set("validUntil", written(content.valid_until))
    attributes: dict[str, Any] = {
        "AuthnRequestsSigned": "true" if content.signs_requests else "false",
        "WantAssertionsSigned": "true",
        "protocolSupportEnumeration": PROTOCOL,
    }
    role = SubElement(root, QName(METADATA, "SPSSODescriptor"), attributes)
    add_keys(role, "signing", content.certificates)
    # The first alone: an identity provider may use any published one for encryption, and the others end soon.
    add_keys(role, "encryption", content.certificates[:1])
    for algorithm in _OFFERED:
        SubElement(role[-1], QName(METADATA, "EncryptionMethod"), Algorithm=algorithm)
    for binding in SamlBinding:
        SubElement(role, QName(METADATA, "SingleLogoutService"), Binding=binding, Location=provider.slo_url)
    for name_format in _FORMATS:
        SubElement(role, QName(METADATA, "NameIDFormat")).text = name_format
    SubElement(
        role,
        QName(METADATA, "AssertionConsumerService"),
        {"Binding": SamlBinding.POST.value, "Location": provider.acs_url, "index": "0", "isDefault": "true"},
    )
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")
