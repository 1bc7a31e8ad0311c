"""Tokens for workloads: judges the token of another issuer, and exchanges it (ops/decisions/0071).

The caller names a service or a key, `key:<id>`, and sends the token that its own platform gave it. Its `iss` tells it
from an assertion that a service signed itself (`clients.py`), which names the service. The keys of the issuer are
fetched between two transactions, so the entrypoint verifies the signature, and this module does what comes before and
after. A refused caller learns nothing; the owner reads the reason beside the rule. A token may be used again until it
expires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid import clients, dpop, requests, scopes
from core.openid.clients import CLOCK_DIFFERENCE_MAX, Client
from core.openid.dpop import DpopProof
from core.openid.refusals import ClientInvalid, TargetInvalid
from core.organizations.key_callers import SUBJECT_PREFIX
from core.organizations.organizations import OrganizationStatus
from core.prefixed_tokens import USE_RECORDED_EVERY
from core.services.workload_rules import RefusalReason, RefusedAssertion, Workload
from core.services.workloads import HeldKey, WorkloadHolder, of_service
from core.sessions.security_profiles import SignatureAlgorithm

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME_MAX: Final = timedelta(hours=24)
# Of many wrong tokens, one in this time is stored with a rule: enough for a person who corrects it.
REFUSAL_RECORDED_EVERY: Final = timedelta(seconds=10)
# An unverified token may be anyone's, so for a while it does not hide why a verified one was refused.
VERIFIED_SHOWN_FOR: Final = timedelta(minutes=10)
# Rules with one issuer may have different keys. A wrong token is tried with at most so many sets.
SOURCES_TRIED_MAX: Final = 3
CLAIM: Final = "workload"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """What a caller wants a token for, by its `client_id`: a service, or a key of an organization."""

    client_id: UUID | None = None
    key_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadKeys:
    """Where the keys of workloads are: in the rule, at an address, or found by discovery of the issuer."""

    issuer: str
    key_set: Mapping[str, Any] | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The workloads of a service or of a key that have the issuer of a token."""

    holder: WorkloadHolder
    workloads: Sequence[Workload]
    client: Client | None = None
    key: HeldKey | None = None

    def sources(self, claims: Mapping[str, Any], issuer: str) -> Sequence[WorkloadKeys]:
        """Return where the keys are to verify a token with these claims, first the keys of rules that it fits."""
        by_fit = sorted(self.workloads, key=lambda one: not (one.fits(claims) and one.has_audience(claims, issuer)))
        distinct: list[WorkloadKeys] = []
        for source in map(keys_of, by_fit):
            if source not in distinct:
                distinct.append(source)
        return distinct[:SOURCES_TRIED_MAX]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadToken:
    """The claims of a token for a workload; `audience` is None for Gatehouse itself, which a key calls."""

    audience: str | None
    claims: dict[str, Any] = field(repr=False)
    expires_at: datetime | None = None
    signature_algorithm: SignatureAlgorithm | None = None


def candidates(uow: UnitOfWork, claimant: Claimant, issuer: str) -> Candidates:
    """Return the workloads that may have this issuer; raise `ClientInvalid` when there are none."""
    found = _of_service(uow, claimant.client_id) if claimant.client_id is not None else _of_key(uow, claimant.key_id)
    workloads = [one for one in uow.workloads.of_holder(found.holder) if one.issuer == issuer]
    if not workloads:
        raise ClientInvalid
    return Candidates(holder=found.holder, client=found.client, key=found.key, workloads=workloads)


def judge(
    found: Candidates, source: WorkloadKeys, claims: Mapping[str, Any], *, issuer: str, at: datetime
) -> Workload | Sequence[tuple[Workload, RefusedAssertion]]:
    """Return the workload that a verified token fits, or why it fits no workload with these keys."""
    refused: list[tuple[Workload, RefusedAssertion]] = []
    for workload in found.workloads:
        if keys_of(workload) == source:
            reason = _reason(workload, claims, issuer=issuer, at=at)
            if reason is None:
                return workload
            refused.append((workload, RefusedAssertion(at=at, reason=reason, claims=workload.named_claims(claims))))
    return refused


def unverified(
    found: Candidates, reason: RefusalReason, *, at: datetime
) -> Sequence[tuple[Workload, RefusedAssertion]]:
    """Return the refusal of a token with an unverified signature; none of its claims counts."""
    return [(workload, RefusedAssertion(at=at, reason=reason, claims={})) for workload in found.workloads]


def due(refused: Sequence[tuple[Workload, RefusedAssertion]]) -> Sequence[tuple[UUID, RefusedAssertion]]:
    """Return the refusals to store: one for each rule in `REFUSAL_RECORDED_EVERY`."""
    return [
        (workload.id, refusal)
        for workload, refusal in refused
        if workload.last_refused is None
        or workload.last_refused.at + _shown_for(workload.last_refused, refusal) <= refusal.at
    ]


def _shown_for(last: RefusedAssertion, refusal: RefusedAssertion) -> timedelta:
    return VERIFIED_SHOWN_FOR if last.is_verified and not refusal.is_verified else REFUSAL_RECORDED_EVERY


def record_refusals(uow: UnitOfWork, holder: WorkloadHolder, refusals: Sequence[tuple[UUID, RefusedAssertion]]) -> None:
    """Store why a token was refused, for the owner of the rules; never wait for another transaction that does so."""
    uow.workloads.record_refusals(holder, refusals, every=REFUSAL_RECORDED_EVERY)


def needs_transaction(workload: Workload, proof: DpopProof | None, *, at: datetime) -> bool:
    """Return whether `issue` has anything to store."""
    return proof is not None or workload.last_used_at is None or workload.last_used_at + USE_RECORDED_EVERY <= at


def issue(
    uow: UnitOfWork,
    found: Candidates,
    workload: Workload,
    *,
    scope: str | None,
    resource: str | None,
    proof: DpopProof | None,
) -> WorkloadToken:
    """Return the claims of a token for a workload, and record that it was used.

    Raise `ClientInvalid` when it was deleted meanwhile, and what `token` raises.
    """
    if all(one.id != workload.id for one in uow.workloads.of_holder(found.holder)):
        raise ClientInvalid
    if proof is not None:
        dpop.accept(uow, proof)
    uow.workloads.record_use(found.holder, workload.id, at=uow.now)
    return token(found, workload, scope=scope, resource=resource, proof=proof)


def token(
    found: Candidates, workload: Workload, *, scope: str | None, resource: str | None, proof: DpopProof | None
) -> WorkloadToken:
    """Return the claims of a token for a workload.

    Raise `TargetInvalid` for a foreign resource, and `WayUnauthorized` for a service with a security profile.
    """
    claims: dict[str, Any] = {CLAIM: str(workload.id)}
    if proof is not None:
        claims["cnf"] = {"jkt": proof.key_thumbprint}
    if found.client is not None:
        clients.require_code_grant(found.client.security_profile)
        client_id = str(found.client.id)
        audience = requests.checked_audience(found.client, resource) or client_id
        claims |= scopes.claim_of(scopes.of_machines(scope, found.client.service))
        return WorkloadToken(
            audience=audience,
            claims={"sub": client_id, "client_id": client_id, **claims},
            signature_algorithm=found.client.service.signature_algorithm,
        )
    assert found.key is not None, "workloads belong to a service or to a key"
    if resource is not None:
        raise TargetInvalid
    subject = f"{SUBJECT_PREFIX}{found.key.id}"
    claims |= {
        "sub": subject,
        "client_id": subject,
        "org": found.key.organization_slug,
        "organization_id": str(found.key.organization_id),
    }
    return WorkloadToken(audience=None, claims=claims, expires_at=found.key.expires_at)


def has_ended(uow: UnitOfWork, client: Client, claims: Mapping[str, Any]) -> bool:
    """Return whether a token was issued for a workload of the client that was deleted since."""
    return CLAIM in claims and not uow.workloads.is_live(of_service(client.service), UUID(claims[CLAIM]))


def keys_of(workload: Workload) -> WorkloadKeys:
    """Return where the keys of a workload are."""
    return WorkloadKeys(issuer=workload.issuer, key_set=workload.jwks, uri=workload.jwks_uri)


def _of_service(uow: UnitOfWork, client_id: UUID) -> Candidates:
    client = clients.find(uow, client_id)
    if client is None or not client.is_confidential or not client.is_organization_active:
        raise ClientInvalid
    return Candidates(holder=of_service(client.service), client=client, workloads=())


def _of_key(uow: UnitOfWork, key_id: UUID | None) -> Candidates:
    key = uow.workloads.key(key_id) if key_id is not None else None
    host = uow.origin.custom_host
    if key is None or (host is not None and host.organization_id != key.organization_id):
        raise ClientInvalid
    has_expired = key.expires_at is not None and key.expires_at <= uow.now
    if has_expired or key.organization_status != OrganizationStatus.ACTIVE:
        raise ClientInvalid
    holder = WorkloadHolder(organization_id=key.organization_id, key_id=key.id)
    return Candidates(holder=holder, key=key, workloads=())


def _reason(workload: Workload, claims: Mapping[str, Any], *, issuer: str, at: datetime) -> RefusalReason | None:
    if not workload.has_audience(claims, issuer):
        return RefusalReason.AUDIENCE
    expires_at = clients.moment(claims.get("exp"))
    if expires_at is None or expires_at > at + LIFETIME_MAX:
        return RefusalReason.LIFETIME
    if expires_at <= at - CLOCK_DIFFERENCE_MAX:
        return RefusalReason.EXPIRED
    for begins in (clients.moment(claims.get(name, 0)) for name in ("nbf", "iat")):
        if begins is None or begins > at + CLOCK_DIFFERENCE_MAX:
            return RefusalReason.NOT_YET_VALID
    return None if workload.fits(claims) else RefusalReason.CLAIMS
