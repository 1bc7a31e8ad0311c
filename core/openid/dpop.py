"""DPoP (RFC 9449): tokens that only the holder of a key can use, who proves it with each request.

The signature of a proof is verified before the transaction, with the key that it carries. This module judges its
claims, checks its nonce, which shows that the proof is new, and uses up its id. A nonce is a time and a MAC, so every
replica accepts the nonces of the others without storing any; a client uses one for several proofs.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from core.lazy_dataclasses import dataclass
from core.openid.refusals import NonceRequired, NonceRequiredHere, ProofInvalid, ProofUnauthorized
from core.secrets import hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

NONCE_LIFETIME: Final = timedelta(minutes=5)
# The nonce limits the age of a proof; the client's clock may differ by this much.
CLOCK_DIFFERENCE_MAX: Final = timedelta(minutes=5)
TYPE: Final = "dpop+jwt"
_ID_CHARACTERS_MAX: Final = 200
_SECONDS: Final = struct.Struct(">Q")
_MAC_BYTES: Final = 16
# 24 bytes in base64: no padding, and a single encoding of each nonce.
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfSigned:
    """A token whose signature was verified with the key in its header: the thumbprint of that key, and the claims."""

    key_thumbprint: str
    algorithm: str
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DpopProof:
    """A proof for the present request; `nonce` and `id` are still to be checked.

    `valid_from` is the later of its `iat` and `nbf`, in seconds.
    """

    key_thumbprint: str
    algorithm: str
    valid_from: float
    id: str
    nonce: str | None
    is_of_access_token: bool


def judged_proof(signed: SelfSigned, *, method: str, url: str, access_token: str | None, at: datetime) -> DpopProof:
    """Return the proof of a request that carries an access token or asks for one; raise `ProofInvalid`."""
    claims = signed.claims
    refusal = ProofInvalid if access_token is None else ProofUnauthorized
    earliest, latest = ((at + sign * CLOCK_DIFFERENCE_MAX).timestamp() for sign in (-1, 1))
    identifier, issued_at, nonce = claims.get("jti"), claims.get("iat"), claims.get("nonce")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= _ID_CHARACTERS_MAX:
        raise refusal("The DPoP proof needs a jti.")
    if claims.get("htm") != method or _without_query(claims.get("htu")) != _without_query(url):
        raise refusal("The DPoP proof is for another request: htm and htu must name its method and its address.")
    # Only compared: a whole number of a stranger may be too large to become a float.
    if type(issued_at) is not int or not earliest <= issued_at <= latest:
        raise refusal("The DPoP proof is too old, or from the future: iat must be the present time.")
    not_before = claims.get("nbf", issued_at)
    if isinstance(not_before, bool) or not isinstance(not_before, int | float):
        raise refusal("The nbf of the DPoP proof is no time.")
    if access_token is not None and claims.get("ath") != _hash_of(access_token):
        raise refusal("The DPoP proof is for another access token: ath must be its hash.")
    return DpopProof(
        key_thumbprint=signed.key_thumbprint,
        algorithm=signed.algorithm,
        valid_from=max(issued_at, not_before),
        id=identifier,
        nonce=nonce if isinstance(nonce, str) else None,
        is_of_access_token=access_token is not None,
    )


def accept(uow: UnitOfWork, proof: DpopProof) -> None:
    """Use up a proof; raise `NonceRequired` without a current nonce, `ProofInvalid` when it was used already."""
    if proof.nonce is None or not _is_current(uow, proof.nonce):
        fresh = nonce(uow)
        raise NonceRequiredHere(fresh) if proof.is_of_access_token else NonceRequired(fresh)
    mark = hash_token(f"dpop {proof.key_thumbprint} {proof.id}")
    if not uow.single_uses.claim(mark, until=uow.now + NONCE_LIFETIME):
        refusal = ProofUnauthorized if proof.is_of_access_token else ProofInvalid
        raise refusal("The DPoP proof was used already. Sign a new one for each request.")


def bound_to(proof: DpopProof | None, announced: str | None) -> str | None:
    """Return the key to which tokens are bound; raise `ProofInvalid` when another one was announced (RFC 9449, 10)."""
    thumbprint = proof.key_thumbprint if proof is not None else None
    if announced is not None and announced != thumbprint:
        raise ProofInvalid("The DPoP proof is not signed with the key that the authorization request has announced.")
    return thumbprint


def nonce(uow: UnitOfWork) -> str:
    """Return a nonce for the proofs of the next minutes."""
    made_at = _SECONDS.pack(int(uow.now.timestamp()))
    return base64.urlsafe_b64encode(made_at + _mac(uow, made_at)).decode()


def _is_current(uow: UnitOfWork, text: str) -> bool:
    if not _SHAPE.fullmatch(text):
        return False
    raw = base64.urlsafe_b64decode(text)
    made_at, mac = raw[: _SECONDS.size], raw[_SECONDS.size :]
    if not hmac.compare_digest(mac, _mac(uow, made_at)):
        return False
    return datetime.fromtimestamp(_SECONDS.unpack(made_at)[0], UTC) > uow.now - NONCE_LIFETIME


def _mac(uow: UnitOfWork, made_at: bytes) -> bytes:
    return uow.pepper.mark("dpop nonce", made_at)[:_MAC_BYTES]


def _hash_of(access_token: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(access_token.encode()).digest()).decode().rstrip("=")


def _without_query(url: object) -> str | None:
    """Return the form of an address for comparison (RFC 9449, 4.3); None for any other value."""
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url)
        default_port = {"https": 443, "http": 80}.get(parts.scheme)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    host = f"[{host}]" if ":" in host else host
    return urlunsplit(
        (parts.scheme, host if port in {None, default_port} else f"{host}:{port}", parts.path or "/", "", "")
    )
