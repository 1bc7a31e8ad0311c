"""Encrypting assertions as identity providers do, by the standard or against it (XML Encryption 1.0 and 1.1).

It shares no code with the application. Its elements are text, so that a test can make any of them.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509 import load_pem_x509_certificate

XENC: Final = "http://www.w3.org/2001/04/xmlenc#"
XENC11: Final = "http://www.w3.org/2009/xmlenc11#"
DSIG: Final = "http://www.w3.org/2000/09/xmldsig#"
RSA_15: Final = f"{XENC}rsa-1_5"
OAEP: Final = f"{XENC}rsa-oaep-mgf1p"
OAEP_11: Final = f"{XENC11}rsa-oaep"
GCM_128: Final = f"{XENC11}aes128-gcm"
GCM_256: Final = f"{XENC11}aes256-gcm"
CBC_256: Final = f"{XENC}aes256-cbc"
_HASHES: Final = {"sha1": hashes.SHA1(), "sha256": hashes.SHA256()}  # noqa: S303 - as identity providers use it
_DIGESTS: Final = {"sha1": f"{DSIG}sha1", "sha256": f"{XENC}sha256"}


@dataclass(frozen=True, kw_only=True)
class Encryption:
    """How an assertion is encrypted. `key` replaces the key of the content that is encrypted for the recipient."""

    content: str = GCM_256
    transport: str = OAEP
    digest: str | None = None
    mask: str | None = None
    label: bytes | None = None
    recipient: str | None = None
    is_beside: bool = False
    key: bytes | None = None
    type: str = f"{XENC}Element"

    def element(self, plain: str, certificate_pem: str) -> str:
        """Return an EncryptedAssertion for the owner of a certificate."""
        bits = int("".join(filter(str.isdigit, self.content.rpartition("#")[2])))
        key = secrets.token_bytes(bits // 8)
        encrypted_key = self.encrypted_key(self.key or key, certificate_pem)
        inside = f'<ds:RetrievalMethod Type="{XENC}EncryptedKey" URI="#_key"/>' if self.is_beside else encrypted_key
        return (
            f'<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:xenc="{XENC}"'
            f' xmlns:ds="{DSIG}"><xenc:EncryptedData Type="{self.type}">'
            f'<xenc:EncryptionMethod Algorithm="{self.content}"/><ds:KeyInfo>{inside}</ds:KeyInfo>'
            f"<xenc:CipherData><xenc:CipherValue>{_base64(self.ciphertext(plain.encode(), key))}</xenc:CipherValue>"
            f"</xenc:CipherData></xenc:EncryptedData>{encrypted_key if self.is_beside else ''}"
            "</saml:EncryptedAssertion>"
        )

    def encrypted_key(self, key: bytes, certificate_pem: str) -> str:
        """Return the EncryptedKey for the owner of a certificate."""
        public = load_pem_x509_certificate(certificate_pem.encode()).public_key()
        assert isinstance(public, RSAPublicKey), "the certificate is not one of RSA"
        method = ""
        if self.digest is not None:
            method += f'<ds:DigestMethod Algorithm="{_DIGESTS[self.digest]}"/>'
        if self.mask is not None:
            method += f'<xenc11:MGF xmlns:xenc11="{XENC11}" Algorithm="{XENC11}mgf1{self.mask}"/>'
        if self.label is not None:
            method += f"<xenc:OAEPparams>{_base64(self.label)}</xenc:OAEPparams>"
        recipient = f' Recipient="{self.recipient}"' if self.recipient is not None else ""
        return (
            f'<xenc:EncryptedKey Id="_key"{recipient}><xenc:EncryptionMethod Algorithm="{self.transport}">{method}'
            f"</xenc:EncryptionMethod><xenc:CipherData><xenc:CipherValue>"
            f"{_base64(public.encrypt(key, self._padding()))}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey>"
        )

    def ciphertext(self, plain: bytes, key: bytes) -> bytes:
        """Return the encrypted content, with the initialization vector before it."""
        if "-gcm" in self.content:
            iv = secrets.token_bytes(12)
            return iv + AESGCM(key).encrypt(iv, plain, None)
        iv, missing = secrets.token_bytes(16), 16 - len(plain) % 16
        padded = plain + bytes(missing - 1) + bytes([missing])
        encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
        return iv + encryptor.update(padded) + encryptor.finalize()

    def _padding(self) -> padding.AsymmetricPadding:
        if self.transport == RSA_15:
            return padding.PKCS1v15()
        return padding.OAEP(padding.MGF1(_HASHES[self.mask or "sha1"]), _HASHES[self.digest or "sha1"], self.label)


def _base64(data: bytes) -> str:
    """Return base64 in lines, as many identity providers write it."""
    return base64.encodebytes(data).decode()
