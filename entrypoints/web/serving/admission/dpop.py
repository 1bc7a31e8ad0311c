"""Proofs of possession (RFC 9449) as requests carry them, in the header `DPoP`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from core.openid import dpop
from core.openid.dpop import DpopProof
from core.openid.refusals import ProofInvalid, ProofUnauthorized
from entrypoints.web.serving.admission.hosts import issuer_of
from entrypoints.web.serving.calls import Call

HEADER: Final = "DPoP"


def presented_proof(call: Call, *, access_token: str | None = None) -> DpopProof | None:
    """Return the proof of a request, None without one; raise `ProofInvalid`. The use case still uses it up."""
    values = call.request.headers.getlist(HEADER)
    if not values:
        return None
    refusal = ProofInvalid if access_token is None else ProofUnauthorized
    if len(values) > 1:
        raise refusal("The request has two DPoP headers. Send one.")
    installation = call.installation
    signed = installation.signatures.self_signed(values[0], kind=dpop.TYPE)
    if signed is None:
        raise refusal
    return dpop.judged_proof(
        signed,
        method=call.request.method,
        url=issuer_of(call) + call.request.path,
        access_token=access_token,
        at=installation.clock(),
    )


async def require_proof(call: Call, access_token: str, claims: Mapping[str, Any]) -> DpopProof:
    """Return the proof of the key to which an access token is bound; raise `ProofUnauthorized` without one."""
    proof = presented_proof(call, access_token=access_token)
    if proof is None or proof.key_thumbprint != claims["cnf"]["jkt"]:
        raise ProofUnauthorized
    await call.step(dpop.accept, proof)
    return proof
