"""X.509 certificates: making self-signed ones for the identity provider, and reading service providers' own."""

from __future__ import annotations

import base64
import re
from datetime import datetime
from functools import lru_cache
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from adapters.crypto.key_pairs import make_key_pair, parse_private
from adapters.saml.documents import Unreadable
from core.key_certificates import LIFETIME, MadeCertificate
from core.secrets import Secret
from core.wording import Wording

KEY_BITS_MIN: Final = 2048
CERTIFICATE_CHARACTERS_MAX: Final = 16_000
COMMON_NAME_CHARACTERS_MAX: Final = 64  # X.520
# The services and connections that sign or decrypt most; those beyond load their keys again.
KEYS_MAX: Final = 256

_PEM_FRAME: Final = re.compile(r"-----(?:BEGIN|END) CERTIFICATE-----")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=\s]+")


def make_certificate(common_name: str, *, valid_from: datetime) -> MadeCertificate:
    """Generate a key pair and its certificate, in some tenths of a second: call it on a thread."""
    pair = make_key_pair()
    private = parse_private(pair.private_pem)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name[:COMMON_NAME_CHARACTERS_MAX])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid_from)
        .not_valid_after(valid_from + LIFETIME)
        .sign(private, hashes.SHA256())
    )
    return MadeCertificate(
        certificate_pem=certificate.public_bytes(Encoding.PEM).decode(), private_pem=pair.private_pem
    )


def normalized(given: str) -> str:
    """Return a certificate as PEM, from PEM or from its base64 alone; raise `Unreadable` when it cannot verify."""
    body = _PEM_FRAME.sub("", given).strip()
    if len(given) > CERTIFICATE_CHARACTERS_MAX or not _BASE64.fullmatch(body):
        raise Unreadable("This is no X.509 certificate in PEM.")
    unusable = Wording("This certificate has no RSA key of %(bits)s bits or more.", bits=KEY_BITS_MIN)
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode(body))
        key = certificate.public_key()
    except ValueError:
        raise Unreadable("This is no X.509 certificate in PEM.") from None
    except UnsupportedAlgorithm:
        # A type of key that is unknown here, such as GOST.
        raise Unreadable(unusable) from None
    if not isinstance(key, rsa.RSAPublicKey) or key.key_size < KEY_BITS_MIN:
        raise Unreadable(unusable)
    return certificate.public_bytes(Encoding.PEM).decode()


def public_key_of(certificate_pem: str) -> rsa.RSAPublicKey:
    """Return the key of a certificate that `normalized` has returned."""
    key = x509.load_pem_x509_certificate(certificate_pem.encode()).public_key()
    assert isinstance(key, rsa.RSAPublicKey), "the stored certificate has no RSA key"
    return key


@lru_cache(KEYS_MAX)
def private_key_of(private_pem: Secret) -> rsa.RSAPrivateKey:
    """Return a private key that `make_certificate` has made. It is kept, because its first use costs two signatures.

    It is found again by its content, so that no change of a certificate makes it wrong. Threads may share it.
    """
    return parse_private(private_pem)


def base64_of(certificate_pem: str) -> str:
    """Return the contents of a PEM without its frame, as XML contains it."""
    return "".join(_PEM_FRAME.sub("", certificate_pem).split())
