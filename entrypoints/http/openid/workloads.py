"""The grant of workloads: a token of another issuer is exchanged for one of a service, or of an organization's key.

Every refusal is `invalid_client` to the caller; its reason is stored with the workload, for its owner. A request whose
assertion fails is counted by its address, any other one by its workload.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from core.openid import workloads
from core.openid.clients import ASSERTION_TYPE, KeySet
from core.openid.dpop import DpopProof
from core.openid.refusals import ClientInvalid, RequestInvalid
from core.openid.workloads import Candidates, Claimant, WorkloadKeys, WorkloadToken
from core.organizations.key_callers import SUBJECT_PREFIX
from core.rate_limits import RateLimit
from core.services.workload_rules import RefusalReason, RefusedAssertion, Workload
from entrypoints.http.openid.client_authentication import ClientFields
from entrypoints.web.serving.admission.hosts import issuer_of
from entrypoints.web.serving.calls import Call

_REFUSED: Final = (
    "The client is unknown, or does not take this assertion. Its owner reads why beside the workload, in the console."
)


def is_of_workload(call: Call, fields: ClientFields) -> bool:
    """Return whether a request asks for a token of a workload: the client itself has not made its assertion."""
    if fields.client_assertion is None or fields.client_id is None:
        return False
    return (
        fields.client_id.startswith(SUBJECT_PREFIX)
        or call.installation.signatures.named_issuer(fields.client_assertion) != fields.client_id
    )


async def exchange_assertion(
    call: Call, fields: ClientFields, *, scope: str | None, resource: str | None, proof: DpopProof | None
) -> WorkloadToken:
    """Return the claims of a token for the workload that sends an assertion; raise `ClientInvalid` for any other."""
    if fields.client_secret is not None or "Authorization" in call.request.headers:
        raise RequestInvalid("The client authenticates in two ways. Use one.")
    if fields.client_assertion_type != ASSERTION_TYPE:
        raise RequestInvalid(f"The client_assertion_type must be {ASSERTION_TYPE}.")
    assert fields.client_assertion is not None, "a request without an assertion is none of a workload"
    said = call.installation.signatures.unverified(fields.client_assertion)
    issuer = said.get("iss") if said is not None else None
    if said is None or not isinstance(issuer, str):
        call.limit(RateLimit.SIGN_IN_GROUP)
        raise ClientInvalid(_REFUSED)
    try:
        found = await call.step(workloads.candidates, _claimant(fields.client_id), issuer)
    except ClientInvalid:
        call.limit(RateLimit.SIGN_IN_GROUP)
        raise ClientInvalid(_REFUSED) from None
    judged = await _judged(call, found, fields.client_assertion, said)
    if not isinstance(judged, Workload):
        call.limit(RateLimit.SIGN_IN_GROUP)
        due = workloads.due(judged)
        if due:
            await call.step(workloads.record_refusals, found.holder, due)
        raise ClientInvalid(_REFUSED)
    call.limit_key(judged.id.bytes, RateLimit.CLIENT)
    if workloads.needs_transaction(judged, proof, at=call.installation.clock()):
        return await call.step(workloads.issue, found, judged, scope=scope, resource=resource, proof=proof)
    return workloads.token(found, judged, scope=scope, resource=resource, proof=proof)


def _claimant(client_id: str | None) -> Claimant:
    text = client_id or ""
    is_key = text.startswith(SUBJECT_PREFIX)
    try:
        named = UUID(text.removeprefix(SUBJECT_PREFIX))
    except ValueError:
        raise ClientInvalid(_REFUSED) from None
    return Claimant(key_id=named) if is_key else Claimant(client_id=named)


async def _judged(
    call: Call, found: Candidates, assertion: str, said: Mapping[str, Any]
) -> Workload | Sequence[tuple[Workload, RefusedAssertion]]:
    """Return the workload that an assertion fits, or why it fits none."""
    at = call.installation.clock()
    reason = RefusalReason.KEYS_UNAVAILABLE
    for source in found.sources(said, issuer_of(call)):
        for is_fresh in (False, True):
            keys = await _keys(call, found, source, is_fresh=is_fresh)
            if keys is None:
                break
            claims = call.installation.signatures.verified(assertion, keys)
            if claims is not None:
                return workloads.judge(found, source, claims, issuer=issuer_of(call), at=at)
            reason = RefusalReason.SIGNATURE
            if source.key_set is not None:
                break
    return workloads.unverified(found, reason, at=at)


async def _keys(call: Call, found: Candidates, source: WorkloadKeys, *, is_fresh: bool) -> KeySet | None:
    organization_id, key_sets = found.holder.organization_id, call.installation.key_sets
    if source.key_set is not None:
        return source.key_set
    if source.uri is not None:
        return await key_sets.fetch(organization_id, source.uri, is_fresh=is_fresh, is_kept=True)
    return await key_sets.discover(organization_id, source.issuer, is_fresh=is_fresh)
