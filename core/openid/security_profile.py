"""The checks of a client's security profile at the OAuth endpoints, in their order in a sign-in (ops/decisions/0034).

These are the rules of the FAPI 2.0 Security Profile for clients that authenticate by `private_key_jwt` and bind their
tokens by DPoP; None, a client without a profile, passes each of them. What a profile means for the record of a service,
for sessions and for the signatures of tokens is in `core/sessions/security_profiles.py`. For every client codes live 60
seconds (`codes.py`), and authorization responses have their `iss` (`authorization.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.openid.dpop import DpopProof
from core.openid.refusals import ClientInvalid, GrantInvalid, ProofInvalid, WayUnauthorized
from core.secrets import Secret
from core.services.problems import ProblemKind
from core.sessions.security_profiles import CLIENT_ALGORITHMS, SecurityProfile

# A client's clock may be this much ahead; the FAPI 2.0 Security Profile, 5.3.2.1, requires at least 10 seconds.
AHEAD_SECONDS_MAX: Final = 30


def assertion_algorithms(profile: SecurityProfile | None) -> frozenset[str] | None:
    """Return the algorithms by which a client may sign its assertions; None for all that we accept."""
    return CLIENT_ALGORITHMS if profile is not None else None


def require_assertion(profile: SecurityProfile | None, claims: Mapping[str, Any], issuer: str) -> None:
    """Raise `ClientInvalid` unless an assertion names the issuer, alone and as a text, as its audience."""
    if profile is not None and claims.get("aud") != issuer:
        raise ClientInvalid("The aud of the assertion must be the issuer, as a single string.")


def require_no_secret(profile: SecurityProfile | None, secret: Secret | None) -> None:
    """Raise `ClientInvalid` when a client with a profile authenticates by a secret."""
    if profile is not None and secret is not None:
        raise ClientInvalid("This service authenticates by private_key_jwt alone. Send a client_assertion.")


def requires_challenge(profile: SecurityProfile | None, *, is_confidential: bool) -> bool:
    """Return whether an authorization request needs a `code_challenge`: from public clients, and with a profile."""
    return not is_confidential or profile is not None


def require_code_grant(profile: SecurityProfile | None) -> None:
    """Raise `WayUnauthorized` when a client with a profile uses another grant than codes and refresh tokens."""
    if profile is not None:
        raise WayUnauthorized


def require_challenged(profile: SecurityProfile | None, code_challenge: str | None) -> None:
    """Raise `GrantInvalid` for a code without PKCE, which was issued before the profile was turned on."""
    if profile is not None and code_challenge is None:
        refusal = GrantInvalid("The authorization request had no code_challenge. Start again, with PKCE.")
        raise refusal.about(ProblemKind.PKCE, None)


def require_proof(profile: SecurityProfile | None, proof: DpopProof | None, *, at: datetime) -> None:
    """Raise `ProofInvalid` unless a token request has a proof by an algorithm of the profile, not from the future."""
    if profile is None:
        return
    if proof is None:
        raise ProofInvalid("This service binds its tokens to a key. Send a DPoP proof.")
    require_proof_if_any(profile, proof, at=at)


def require_proof_if_any(profile: SecurityProfile | None, proof: DpopProof | None, *, at: datetime) -> None:
    """Do what `require_proof` does for a pushed request, which may come without a proof."""
    if profile is None or proof is None:
        return
    if proof.algorithm not in CLIENT_ALGORITHMS:
        raise ProofInvalid("This service signs its DPoP proofs by ES256 or PS256.")
    if proof.valid_from > at.timestamp() + AHEAD_SECONDS_MAX:
        raise ProofInvalid("The DPoP proof is from the future. Correct the clock of the service.")
