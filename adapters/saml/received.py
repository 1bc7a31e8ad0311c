"""Received messages, from their XML to the values of the core; nothing is judged here but the form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from adapters.saml import documents, signatures
from adapters.saml.documents import ASSERTION, PROTOCOL, Unreadable
from core.saml.messages import (
    AuthnRequest,
    EncodedMessage,
    LogoutResponse,
    NameId,
    SamlBinding,
    SamlLogoutRequest,
    SamlStatus,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element


SESSION_INDEXES_MAX: Final = 100
CONTEXT_CLASSES_MAX: Final = 20
SHORT_BYTES_MAX: Final = 2 * 1024
_NO_FORMAT: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"


def is_short(message: EncodedMessage, certificate_pem: str | None) -> bool:
    """Return whether a message is read within a millisecond, whatever it contains; False for an undecodable one."""
    if len(message.value) > SHORT_BYTES_MAX or (message.binding is SamlBinding.POST and certificate_pem is not None):
        return False
    try:
        return len(_document(message)) <= SHORT_BYTES_MAX
    except Unreadable:
        return False


def read(message: EncodedMessage, certificate_pem: str | None) -> AuthnRequest | SamlLogoutRequest | LogoutResponse:
    """Return a message; raise `Unreadable`. With a certificate its signature is verified, without one it is ignored."""
    root = documents.parse(_document(message))
    common = {**_common(root), "is_signed": certificate_pem is not None and _is_signed(message, root, certificate_pem)}
    name = etree.QName(root)
    if name.namespace == PROTOCOL and message.is_response == (name.localname == "LogoutResponse"):
        match name.localname:
            case "AuthnRequest":
                return _authn_request(root, common)
            case "LogoutRequest":
                return _logout_request(root, common)
            case "LogoutResponse":
                return _logout_response(root, common)
            case _:
                pass
    raise Unreadable("It is of a kind that is not taken here.")


def _document(message: EncodedMessage) -> bytes:
    data = documents.decode_base64(message.value)
    # Some libraries compress what they post as well, which the binding does not foresee.
    is_compressed = message.binding is SamlBinding.REDIRECT or not data.lstrip().startswith(b"<")
    return documents.inflate(data) if is_compressed else data


def _is_signed(message: EncodedMessage, root: Element, certificate_pem: str) -> bool:
    if message.binding is SamlBinding.REDIRECT:
        return signatures.verify_query(message, certificate_pem)
    return signatures.verify(root, certificate_pem)


def _common(root: Element) -> dict[str, Any]:
    own_id = documents.require_unique_ids(root)
    if root.get("Version") != "2.0":
        raise Unreadable("Its Version is not 2.0.")
    issued_at = documents.moment(root, "IssueInstant")
    if issued_at is None:
        raise Unreadable("It has no IssueInstant.")
    return {
        "id": own_id,
        "issuer": documents.text(documents.required(root, ASSERTION, "Issuer")),
        "issued_at": issued_at,
        "destination": documents.attribute(root, "Destination") or None,
    }


def _authn_request(root: Element, common: dict[str, Any]) -> AuthnRequest:
    policy = documents.only(root, PROTOCOL, "NameIDPolicy")
    subject = documents.only(root, ASSERTION, "Subject")
    context = documents.only(root, PROTOCOL, "RequestedAuthnContext")
    name_id = documents.only(subject, ASSERTION, "NameID") if subject is not None else None
    classes = context.findall(f"{{{ASSERTION}}}AuthnContextClassRef") if context is not None else []
    if len(classes) > CONTEXT_CLASSES_MAX:
        raise Unreadable("It asks for too many authentication contexts.")
    return AuthnRequest(
        **common,
        acs_url=documents.attribute(root, "AssertionConsumerServiceURL"),
        protocol_binding=documents.attribute(root, "ProtocolBinding"),
        name_id_format=documents.attribute(policy, "Format") if policy is not None else None,
        name_qualifier=documents.attribute(policy, "SPNameQualifier") if policy is not None else None,
        subject=documents.text(name_id) if name_id is not None else None,
        force_authn=documents.flag(root, "ForceAuthn"),
        is_passive=documents.flag(root, "IsPassive"),
        context_classes=tuple(documents.text(one) for one in classes),
        comparison=context.get("Comparison", "exact") if context is not None else "exact",
    )


def _logout_request(root: Element, common: dict[str, Any]) -> SamlLogoutRequest:
    if documents.only(root, ASSERTION, "EncryptedID") is not None:
        raise Unreadable("The name of its user is encrypted (EncryptedID), which is not taken.")
    name_id = documents.required(root, ASSERTION, "NameID")
    indexes = root.findall(f"{{{PROTOCOL}}}SessionIndex")
    if len(indexes) > SESSION_INDEXES_MAX:
        raise Unreadable("It names too many sessions.")
    return SamlLogoutRequest(
        **common,
        name_id=NameId(value=documents.text(name_id), format=documents.attribute(name_id, "Format") or _NO_FORMAT),
        session_indexes=tuple(documents.text(one) for one in indexes),
        not_on_or_after=documents.moment(root, "NotOnOrAfter"),
    )


def _logout_response(root: Element, common: dict[str, Any]) -> LogoutResponse:
    status = documents.required(documents.required(root, PROTOCOL, "Status"), PROTOCOL, "StatusCode")
    return LogoutResponse(
        **common,
        in_response_to=documents.attribute(root, "InResponseTo"),
        is_success=documents.attribute(status, "Value") == SamlStatus.SUCCESS,
    )
