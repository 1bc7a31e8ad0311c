"""Signing and verifying: enveloped XML signatures, and the query strings of the redirect binding.

What others have signed is verified by xmlsec; what we sign ourselves needs no more than its canonical form.

Only RSA with SHA-256 or a longer hash is accepted, over the root element as a whole. Only this root is read afterwards,
so that a valid signature over another element proves nothing (signature wrapping).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote_plus

import xmlsec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from lxml import etree

from adapters.saml.certificates import base64_of, private_key_of, public_key_of
from adapters.saml.documents import (
    SIGNATURE,
    Unreadable,
    Unsigned,
    WeakSignature,
    WrongSignature,
    decode_base64,
    elements,
    only,
    require_unique_ids,
)
from core.key_certificates import MadeCertificate, SamlSigningKey
from core.secrets import Secret
from core.wording import Wording

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element

    from core.saml.messages import EncodedMessage

RSA_SHA256: Final = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
_HASHES: Final[Mapping[str, hashes.HashAlgorithm]] = {
    RSA_SHA256: hashes.SHA256(),
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384": hashes.SHA384(),
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": hashes.SHA512(),
}
_SHA256: Final = "http://www.w3.org/2001/04/xmlenc#sha256"
_DIGESTS: Final = frozenset(
    {
        _SHA256,
        "http://www.w3.org/2001/04/xmldsig-more#sha384",
        "http://www.w3.org/2001/04/xmlenc#sha512",
    }
)
_ENVELOPED: Final = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
_EXCLUSIVE: Final = "http://www.w3.org/2001/10/xml-exc-c14n#"
# Each is looked for at every element, before the signature is verified.
PREFIXES_MAX: Final = 50
_TRANSFORMS: Final = ([_ENVELOPED, _EXCLUSIVE], [_ENVELOPED])
# The names of the parameters, in the order in which they are signed (saml-bindings-2.0, 3.4.4.1).
_SIGNED: Final = (("SAMLRequest", "SAMLResponse"), ("RelayState",), ("SigAlg",))
_PARAMETERS: Final = frozenset({name for names in _SIGNED for name in names} | {"Signature"})
# The ids of our messages need no escaping.
_SIGNATURE: Final = (
    f'<ds:Signature xmlns:ds="{SIGNATURE}"><ds:SignedInfo>'
    f'<ds:CanonicalizationMethod Algorithm="{_EXCLUSIVE}"/><ds:SignatureMethod Algorithm="{RSA_SHA256}"/>'
    '<ds:Reference URI="#{id}">'
    f'<ds:Transforms><ds:Transform Algorithm="{_ENVELOPED}"/><ds:Transform Algorithm="{_EXCLUSIVE}"/></ds:Transforms>'
    f'<ds:DigestMethod Algorithm="{_SHA256}"/><ds:DigestValue>{{digest}}</ds:DigestValue>'
    "</ds:Reference></ds:SignedInfo><ds:SignatureValue/>"
    "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
    "</ds:Signature>"
)


def sign(element: Element, key: SamlSigningKey | MadeCertificate) -> None:
    """Sign an element; the signature follows its Issuer, which is its first child (saml-core-2.0, 3.2.1).

    The element has no signature yet, so the enveloped form leaves out nothing of what is hashed.
    """
    signature = etree.fromstring(
        _SIGNATURE.format(
            id=element.get("ID"),
            digest=base64.b64encode(hashlib.sha256(_canonical(element)).digest()).decode(),
            certificate=base64_of(key.certificate_pem),
        )
    )
    signed_info, value, _ = signature
    value.text = _signature_of(_canonical(signed_info), key.private_pem)
    element.insert(1, signature)


def _canonical(element: Element) -> bytes:
    return etree.tostring(element, method="c14n", exclusive=True, with_comments=False)


def _signature_of(data: bytes, private_pem: Secret) -> str:
    return base64.b64encode(private_key_of(private_pem).sign(data, padding.PKCS1v15(), hashes.SHA256())).decode()


def verify(root: Element, certificate_pem: str) -> bool:
    """Return whether the root element is signed; False without a signature. Raise `Unreadable` for a wrong one."""
    own_id = require_unique_ids(root)
    signatures = [element for element in elements(root) if element.tag == f"{{{SIGNATURE}}}Signature"]
    if not signatures:
        return False
    signature = only(root, SIGNATURE, "Signature")
    if signature is None or len(signatures) > 1:
        raise Unreadable("Its signature is not that of the message as a whole.")
    _require_strong(signature, own_id)
    if not _verifies(root, signature, certificate_pem):
        raise _wrong()
    return True


def require_signed(owners: Sequence[Element], certificates: Sequence[str]) -> None:
    """Raise `Unreadable` unless one of the certificates verifies the assertion, or the message around it.

    `owners` are the message and its assertion, which is in it, or in a document of its own when it was encrypted. Both
    may be signed, and then both signatures have to be right. Any other signature is refused, so that nothing but what
    was verified is ever read.
    """
    roots = list(dict.fromkeys(owner.getroottree().getroot() for owner in owners))
    signed = [owner for owner in owners if only(owner, SIGNATURE, "Signature") is not None]
    if not signed:
        raise Unsigned("Neither the message nor its assertion is signed.")
    if len(signed) != sum(element.tag == f"{{{SIGNATURE}}}Signature" for root in roots for element in elements(root)):
        raise Unreadable("It has a signature that is neither that of the message nor that of its assertion.")
    for root in roots:
        _require_single_ids(root)
    for owner in signed:
        signature = only(owner, SIGNATURE, "Signature")
        assert signature is not None, "a signature that was found is gone"
        _require_strong(signature, owner.get("ID") or "")
        if not any(_verifies(owner, signature, certificate) for certificate in certificates):
            raise _wrong()


def _require_single_ids(root: Element) -> None:
    # xml:id is an ID as well.
    names = {"id", "ID", "Id"}
    ids = [value for element in elements(root) for name, value in element.items() if name.rpartition("}")[2] in names]
    if len(ids) != len(set(ids)):
        raise Unreadable("Two of its elements have the same ID.")


def _verifies(owner: Element, signature: Element, certificate_pem: str) -> bool:
    context = xmlsec.SignatureContext()
    # With a key of its own, the context ignores the keys that the message brings along.
    context.key = xmlsec.Key.from_memory(certificate_pem, xmlsec.constants.KeyDataFormatCertPem)
    context.register_id(owner, "ID")
    try:
        context.verify(signature)
    except xmlsec.Error:
        return False
    return True


def verify_query(message: EncodedMessage, certificate_pem: str) -> bool:
    """Return whether a message of the redirect binding is signed; raise `Unreadable` for a wrong signature.

    The signature covers the parameters as they were encoded by the sender, so their bytes are compared.
    """
    given: dict[str, str] = {}
    for pair in message.query.decode("ascii", "replace").split("&"):
        name = unquote_plus(pair.partition("=")[0])
        if name in given:
            raise Unreadable(Wording("Its address has %(name)s twice.", name=name))
        if name in _PARAMETERS:
            given[name] = pair
    values = {name: unquote_plus(pair.partition("=")[2]) for name, pair in given.items()}
    if "Signature" not in given:
        return False
    algorithm = _HASHES.get(values.get("SigAlg", ""))
    if algorithm is None:
        raise _weak()
    if message.value != values.get("SAMLResponse" if message.is_response else "SAMLRequest"):
        raise _wrong()
    signed = "&".join(given[name] for names in _SIGNED for name in names if name in given)
    try:
        public_key_of(certificate_pem).verify(
            decode_base64(values["Signature"]), signed.encode(), padding.PKCS1v15(), algorithm
        )
    except InvalidSignature:
        raise _wrong() from None
    return True


def signed_query(parameters: Mapping[str, str], key: SamlSigningKey) -> str:
    """Return the query string of a message for the redirect binding, with its signature."""
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in {**parameters, "SigAlg": RSA_SHA256}.items())
    return f"{query}&Signature={quote(_signature_of(query.encode(), key.private_pem), safe='')}"


def _require_strong(signature: Element, signed_id: str) -> None:
    """Refuse a signature over anything but the root, or with other algorithms than these."""
    info = only(signature, SIGNATURE, "SignedInfo")
    references = info.findall(f"{{{SIGNATURE}}}Reference") if info is not None else []
    if info is None or len(references) != 1 or references[0].get("URI") != f"#{signed_id}":
        raise Unreadable("Its signature is not that of the message as a whole.")
    [reference] = references
    transforms = [one.get("Algorithm") for one in reference.iterfind(f"{{{SIGNATURE}}}Transforms/*")]
    if (
        _algorithm(info, "CanonicalizationMethod") != _EXCLUSIVE
        or _algorithm(info, "SignatureMethod") not in _HASHES
        or _algorithm(reference, "DigestMethod") not in _DIGESTS
        or transforms not in _TRANSFORMS
    ):
        raise _weak()
    lists = [one.get("PrefixList", "") for one in info.iter(f"{{{_EXCLUSIVE}}}InclusiveNamespaces")]
    if sum(len(one.split()) for one in lists) > PREFIXES_MAX:
        raise Unreadable("Its signature names too many prefixes.")


def _algorithm(parent: Element, name: str) -> Any:
    method = only(parent, SIGNATURE, name)
    return method.get("Algorithm") if method is not None else None


def _weak() -> WeakSignature:
    return WeakSignature("It is signed with an algorithm that is not accepted. Use RSA with SHA-256.")


def _wrong() -> WrongSignature:
    return WrongSignature("Its signature does not fit the certificate that is configured for this service.")
