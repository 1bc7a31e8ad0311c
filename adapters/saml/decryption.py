"""Decrypting assertions: RSA-OAEP for the key, AES-GCM for the content, and AES-CBC where the installation takes it.

Who sees what becomes of ciphertexts that they have changed can decrypt others, by many questions. So a failure
takes the way of a success: every key is tried with every encrypted key, whatever the first one gave, a key that cannot
be found is replaced by a random one, and an assertion that cannot be read by a decoy. The decoy is signed by a key that
no connection trusts, so it fails where a forged assertion fails, after the same work.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lxml import etree

from adapters.saml import certificates, documents, signatures
from adapters.saml.documents import ASSERTION, ENCRYPTION, ENCRYPTION_11, SIGNATURE, Unreadable
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.wording import Wording

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element

    from core.sign_in.upstream.saml import SamlRecipient

# An assertion has an encrypted key for each of its recipients.
ENCRYPTED_KEYS_MAX: Final = 3
RSA_OAEP: Final = f"{ENCRYPTION}rsa-oaep-mgf1p"
RSA_OAEP_11: Final = f"{ENCRYPTION_11}rsa-oaep"
AES_GCM: Final[Mapping[str, int]] = {f"{ENCRYPTION_11}aes{bits}-gcm": bits // 8 for bits in (128, 192, 256)}
AES_CBC: Final[Mapping[str, int]] = {f"{ENCRYPTION}aes{bits}-cbc": bits // 8 for bits in (128, 192, 256)}

_KEY_BYTES: Final = {**AES_GCM, **AES_CBC}

_ELEMENT: Final = f"{ENCRYPTION}Element"
_SHA1: Final = f"{SIGNATURE}sha1"
_MGF1_SHA1: Final = f"{ENCRYPTION_11}mgf1sha1"
# SHA-1 is sound here: nothing depends on collisions (RFC 8017, B.1), and the most common algorithm knows no other.
_DIGESTS: Final[Mapping[str, hashes.HashAlgorithm]] = {
    _SHA1: hashes.SHA1(),  # noqa: S303 - see above
    f"{ENCRYPTION}sha256": hashes.SHA256(),
    "http://www.w3.org/2001/04/xmldsig-more#sha384": hashes.SHA384(),
    f"{ENCRYPTION}sha512": hashes.SHA512(),
}
_MASKS: Final[Mapping[str, hashes.HashAlgorithm]] = {
    _MGF1_SHA1: hashes.SHA1(),  # noqa: S303 - see above
    f"{ENCRYPTION_11}mgf1sha256": hashes.SHA256(),
    f"{ENCRYPTION_11}mgf1sha384": hashes.SHA384(),
    f"{ENCRYPTION_11}mgf1sha512": hashes.SHA512(),
}
_IV_BYTES: Final = 12
_BLOCK_BYTES: Final = 16

_USUAL_PADDING: Final = padding.OAEP(padding.MGF1(_MASKS[_MGF1_SHA1]), _DIGESTS[_SHA1], None)
_DECOY: Final = (
    f'<saml:Assertion xmlns:saml="{ASSERTION}" ID="_decoy" Version="2.0" IssueInstant="2026-01-01T00:00:00Z">'
    f"<saml:Issuer>urn:decoy</saml:Issuer><saml:Subject><saml:NameID>{'decoy' * 100}</saml:NameID></saml:Subject>"
    "</saml:Assertion>"
)

_NOT_DECRYPTED: Final = "Its assertion cannot be decrypted with a key of this connection."
_KEY_REFUSED: Final = (
    "The key of its encrypted assertion is not encrypted by an algorithm that is accepted. Use RSA-OAEP, with the"
    " certificate of the metadata of this connection."
)
_CONTENT_REFUSED: Final = (
    "Its assertion is not encrypted by an algorithm that is accepted. Use AES-GCM. AES-CBC is accepted only where the"
    " operator of the platform has allowed it."
)


@dataclass(frozen=True, slots=True)
class Decrypted:
    """The element that was encrypted; with a `problem`, the decoy in its place, and why, for the log."""

    element: Element
    problem: str | None


@dataclass(frozen=True, slots=True)
class _EncryptedKey:
    value: bytes
    padding: padding.AsymmetricPadding


def decrypted(encrypted: Element, recipient: SamlRecipient, *, takes_cbc: bool) -> Decrypted:
    """Return the content of an EncryptedAssertion, by one of our private keys; it raises nothing.

    It is in a document of its own. It has to be verified before anything else is read of it, with a problem or without.
    """
    decoy = documents.parse(_signed_decoy())
    problem = None
    try:
        method, content = _content(encrypted, takes_cbc=takes_cbc)
    except Unreadable as unreadable:
        method, content, problem = next(iter(AES_GCM)), bytes(256), Wording.of(unreadable)
    try:
        encrypted_keys = _encrypted_keys(encrypted, recipient.entity_id)
    except Unreadable as unreadable:
        encrypted_keys, problem = [], problem or Wording.of(unreadable)
    plain = _plain(method, content, _content_key(encrypted_keys, recipient.private_pems, _KEY_BYTES[method]))
    element = _element(plain, encrypted)
    if problem is None and element is not None:
        return Decrypted(element, None)
    return Decrypted(decoy, problem or _NOT_DECRYPTED)


def _content(encrypted: Element, *, takes_cbc: bool) -> tuple[str, bytes]:
    """Return by which algorithm the content is encrypted, and its ciphertext."""
    data = documents.required(encrypted, ENCRYPTION, "EncryptedData")
    method = documents.required(data, ENCRYPTION, "EncryptionMethod").get("Algorithm", "")
    if method not in AES_GCM and not (takes_cbc and method in AES_CBC):
        raise Unreadable(_CONTENT_REFUSED)
    if data.get("Type", _ELEMENT) != _ELEMENT:
        raise Unreadable("What it has encrypted is no element.")
    return method, _cipher_value(data)


def _encrypted_keys(encrypted: Element, entity_id: str) -> list[_EncryptedKey]:
    """Return the encrypted keys that may be for us: those within the encrypted data, and those beside it.

    A RetrievalMethod only says which of them it is; no other place is looked into.
    """
    data = documents.required(encrypted, ENCRYPTION, "EncryptedData")
    within = data.findall(f"{{{SIGNATURE}}}KeyInfo/{{{ENCRYPTION}}}EncryptedKey")
    elements = within + encrypted.findall(f"{{{ENCRYPTION}}}EncryptedKey")
    ours = [one for one in elements if one.get("Recipient", entity_id) == entity_id]
    if not ours or len(ours) > ENCRYPTED_KEYS_MAX:
        raise Unreadable("Its encrypted assertion has no encrypted key for this connection, or too many.")
    found = [_EncryptedKey(_cipher_value(one), how) for one in ours if (how := _padding(one)) is not None]
    if not found:
        raise Unreadable(_KEY_REFUSED)
    return found


def _padding(encrypted_key: Element) -> padding.AsymmetricPadding | None:
    """Return how a key was padded (XML Encryption 1.1, 5.5.2); None for another way than OAEP."""
    method = documents.required(encrypted_key, ENCRYPTION, "EncryptionMethod")
    name = method.get("Algorithm")
    mask_method = documents.only(method, ENCRYPTION_11, "MGF") if name == RSA_OAEP_11 else None
    digest_method = documents.only(method, SIGNATURE, "DigestMethod")
    digest = _DIGESTS.get(digest_method.get("Algorithm", "") if digest_method is not None else _SHA1)
    mask = _MASKS.get(mask_method.get("Algorithm", "") if mask_method is not None else _MGF1_SHA1)
    if name not in {RSA_OAEP, RSA_OAEP_11} or digest is None or mask is None:
        return None
    parameters = documents.only(method, ENCRYPTION, "OAEPparams")
    label = documents.decode_base64(parameters.text or "") if parameters is not None else None
    return padding.OAEP(mgf=padding.MGF1(mask), algorithm=digest, label=label)


def _cipher_value(parent: Element) -> bytes:
    """Return a ciphertext, which has to be in the message itself."""
    value = documents.required(documents.required(parent, ENCRYPTION, "CipherData"), ENCRYPTION, "CipherValue")
    if len(value):
        raise Unreadable("Its CipherValue is not a text.")
    return documents.decode_base64(value.text or "")


def _content_key(encrypted_keys: Sequence[_EncryptedKey], private_pems: Sequence[Secret], key_bytes: int) -> bytes:
    """Return the key of the content; a random one when none of ours decrypts one of that length."""
    found = secrets.token_bytes(key_bytes)
    for private in map(certificates.private_key_of, private_pems):
        # One that is refused costs as much as one that is taken.
        for one in encrypted_keys or (_EncryptedKey(bytes(private.key_size // 8), _USUAL_PADDING),):
            try:
                key = private.decrypt(one.value, one.padding)
            except ValueError:
                continue
            found = key if len(key) == key_bytes else found
    return found


def _plain(method: str, content: bytes, key: bytes) -> bytes:
    """Return the content; nothing when it does not decrypt."""
    if method in AES_GCM:
        try:
            return AESGCM(key).decrypt(content[:_IV_BYTES], content[_IV_BYTES:], None)
        except (InvalidTag, ValueError):
            return b""
    iv, blocks = content[:_BLOCK_BYTES], content[_BLOCK_BYTES:]
    if not blocks or len(blocks) % _BLOCK_BYTES:
        return b""
    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    plain = decryptor.update(blocks) + decryptor.finalize()
    # Only the last byte of this padding says something (XML Encryption 1.1, 5.2).
    return plain[: -plain[-1]] if 1 <= plain[-1] <= _BLOCK_BYTES else b""


def _element(plain: bytes, encrypted: Element) -> Element | None:
    """Return the one element of a decrypted content; None for anything else.

    It was cut out of its surroundings, so it stands in a document that declares the prefixes which those declare.
    """
    declared = b"".join(
        f" xmlns{f':{prefix}' if prefix else ''}={quoteattr(uri)}".encode() for prefix, uri in encrypted.nsmap.items()
    )
    try:
        root = documents.parse(b"<decrypted%s>%s</decrypted>" % (declared, plain))
    except Unreadable:
        return None
    is_one = len(root) == 1 and not (root.text or "").strip() and not (root[0].tail or "").strip()
    return root[0] if is_one else None


@cache
def _signed_decoy() -> bytes:
    """Return an assertion whose signature is right, by a key that is thrown away."""
    made = certificates.make_certificate("decoy", valid_from=datetime.now(UTC))
    root = documents.parse(_DECOY.encode())
    signatures.sign(root, made)
    return etree.tostring(root)
