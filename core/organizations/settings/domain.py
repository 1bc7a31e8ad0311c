"""The custom domain of an organization: claimed, proved, checked again, and given up.

Any organization may claim a domain; only one claim to it can be verified. The hosted pages then work under the domain.
How a proof is judged is in `core/organizations/domain_proofs.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import domain_proofs
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.domain_proofs import DomainFinding, DomainProof, ProofStatus
from core.sessions.origins import CustomHost

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class DomainUnset(NotFound):
    """The organization has claimed no domain."""

    default_message = "This organization has no custom domain."


class DomainUnproved(BadRequest):
    """The TXT record with the value of the claim was not found."""

    default_message = (
        "The TXT record was not found. Publish it as shown, wait until your name servers answer with it, and try again."
    )


class DomainUnanswered(BadRequest):
    """The name servers of the domain gave no answer."""

    default_message = "The name servers of this domain gave no answer. Check that the domain exists, and try again."


class DomainVerifiedElsewhere(Conflict):
    """Another organization has proved this domain before, and its proof still holds."""

    default_message = (
        "Another organization has verified this domain. If it is yours, remove the other TXT record; seven days later"
        " the other claim ends."
    )


class DomainChanged(Conflict):
    """Another person has claimed or verified a domain since the caller saw the state."""

    default_message = (
        "Another person has changed the domain meanwhile. Check what is shown now, and send the form again if you still"
        " want it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainClaim:
    """A claim to a domain with its owner; another claim of the same organization has another id."""

    id: UUID
    organization_id: UUID
    proof: DomainProof


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainUses:
    """A claim to a domain with what ends when it is given up: sessions that run, and passkeys."""

    claim: DomainClaim
    sessions: int
    passkeys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomDomain:
    """The custom domain of an organization, with the TXT record that proves it."""

    domain: str
    status: ProofStatus
    txt_name: str
    txt_value: str
    verified_at: datetime | None
    checked_at: datetime | None
    failing_since: datetime | None
    ends_at: datetime | None


def show(uow: UnitOfWork, slug: str) -> CustomDomain:
    """Return the domain of an organization; raise `DomainUnset` without one."""
    organization = authorize(uow, slug, Operation.DOMAIN_READ).organization
    return shown(_find(uow, organization.id).proof)


def find(uow: UnitOfWork, slug: str) -> DomainClaim | None:
    """Return the claim of an organization; None without one."""
    return uow.custom_domains.of(authorize(uow, slug, Operation.DOMAIN_READ).organization.id)


def seen_state_of(claim: DomainClaim | None) -> str:
    """Return a text that is another one for each claim, and before and after it is verified."""
    return f"{claim.id} {'verified' if claim.proof.verified_at else 'pending'}" if claim is not None else "none"


def set_domain(
    uow: UnitOfWork, slug: str, text: str, *, own_names: Collection[str], seen_state: str | None = None
) -> CustomDomain:
    """Claim a domain in place of the one before; `own_names`, the names of the installation, cannot be claimed.

    The same domain keeps its claim. Raise `DomainChanged` when the state before is not `seen_state`, which the caller
    has seen.
    """
    organization_id = authorize_and_lock(uow, slug, Operation.DOMAIN_CHANGE).organization.id
    domain = domain_proofs.checked_domain(uow, text)
    before = uow.custom_domains.of(organization_id)
    if seen_state not in {None, seen_state_of(before)}:
        raise DomainChanged
    if domain in own_names:
        raise BadRequest.of_field("domain", "This domain belongs to the platform itself. Choose one of your own.")
    if before is not None and before.proof.domain == domain:
        return shown(before.proof)
    if before is not None:
        uow.custom_domains.remove(organization_id, before.id)
    proof = domain_proofs.claim(uow, domain)
    uow.custom_domains.add(DomainClaim(id=uow.randomness.new_id(), organization_id=organization_id, proof=proof))
    uow.record(
        AuditAction.DOMAIN_SET,
        organization_id,
        organization_id=organization_id,
        domain=domain,
        replaced=before.proof.domain if before is not None else None,
    )
    return shown(proof)


def show_ends(uow: UnitOfWork, slug: str) -> DomainUses:
    """Return what ends with the domain; raise `DomainUnset` without one."""
    organization = authorize(uow, slug, Operation.DOMAIN_CHANGE).organization
    claim = _find(uow, organization.id)
    sessions, passkeys = uow.custom_domains.count_uses(organization.id, claim.id, at=uow.now)
    return DomainUses(claim=claim, sessions=sessions, passkeys=passkeys)


def delete(uow: UnitOfWork, slug: str, *, claim_id: str | None = None) -> None:
    """Give the domain up; sessions and passkeys that were made there end with it.

    Raise `DomainUnset` when the claim is another one than `claim_id`, which the caller has seen.
    """
    organization = authorize_and_lock(uow, slug, Operation.DOMAIN_CHANGE).organization
    claim = _find(uow, organization.id)
    if claim_id not in {None, str(claim.id)}:
        raise DomainUnset
    uow.custom_domains.remove(organization.id, claim.id)
    uow.record(AuditAction.DOMAIN_DELETED, organization.id, organization_id=organization.id, domain=claim.proof.domain)


def find_to_verify(uow: UnitOfWork, slug: str) -> DomainClaim:
    """Return the claim whose name servers are to be asked; raise `DomainUnset` without one."""
    organization = authorize(uow, slug, Operation.DOMAIN_CHANGE).organization
    return _find(uow, organization.id)


def verify(uow: UnitOfWork, slug: str, asked: DomainClaim, records: Sequence[str] | None) -> CustomDomain:
    """Record what the name servers answered when the organization asked for it; raise an error for a missing proof.

    Raise `DomainVerifiedElsewhere` when another claim to the domain holds.
    """
    organization = authorize_and_lock(uow, slug, Operation.DOMAIN_CHANGE).organization
    claim = uow.custom_domains.of(organization.id)
    if claim is None or claim.id != asked.id:
        raise DomainUnset
    finding = domain_proofs.finding(claim.proof, records)
    if finding is DomainFinding.UNANSWERED:
        raise DomainUnanswered
    if finding is DomainFinding.MISSING:
        raise DomainUnproved
    return shown(_save(uow, claim, finding))


def claim_checks(uow: UnitOfWork, limit: int) -> Sequence[DomainClaim]:
    """Return claims that are due to be checked again; no other replica gets them within the next hour."""
    return uow.custom_domains.claim_checks(limit, until=uow.now + domain_proofs.RECHECK_PERIOD)


def record_check(uow: UnitOfWork, asked: DomainClaim, records: Sequence[str] | None) -> ProofStatus | None:
    """Record what the name servers of a verified domain answered; None when the claim was given up meanwhile."""
    claim = uow.custom_domains.lock(asked.organization_id, asked.id)
    if claim is None or claim.proof.verified_at is None:
        return None
    return _save(uow, claim, domain_proofs.finding(claim.proof, records)).status


def host(uow: UnitOfWork, name: str) -> CustomHost | None:
    """Return the custom host of that name; None unless it is in force and its organization is active."""
    return uow.custom_domains.host(name)


def shown(proof: DomainProof) -> CustomDomain:
    """Return a claim as the organization sees it."""
    return CustomDomain(
        domain=proof.domain,
        status=proof.status,
        txt_name=proof.record_name,
        txt_value=proof.value,
        verified_at=proof.verified_at,
        checked_at=proof.checked_at,
        failing_since=proof.failing_since,
        ends_at=proof.ends_at,
    )


def _find(uow: UnitOfWork, organization_id: UUID) -> DomainClaim:
    claim = uow.custom_domains.of(organization_id)
    if claim is None:
        raise DomainUnset
    return claim


def _save(uow: UnitOfWork, claim: DomainClaim, finding: DomainFinding) -> DomainProof:
    """Store a claim after a check; raise `DomainVerifiedElsewhere` when the domain has another verified claim."""
    proof = claim.proof.checked(finding, at=uow.now)
    if not uow.custom_domains.save(claim.organization_id, claim.id, proof):
        raise DomainVerifiedElsewhere
    if claim.proof.verified_at is None and proof.verified_at is not None:
        uow.record(
            AuditAction.DOMAIN_VERIFIED,
            claim.organization_id,
            organization_id=claim.organization_id,
            domain=proof.domain,
        )
    if claim.proof.ends_at is None and proof.ends_at is not None:
        _warn(uow, claim.organization_id, proof, proof.ends_at)
    return proof


def _warn(uow: UnitOfWork, organization_id: UUID, proof: DomainProof, ends_at: datetime) -> None:
    """Tell the owner that the proof has disappeared, once each time that it does."""
    owner = uow.mail_servers.owner_contact(organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.DOMAIN_FAILING,
        organization_id=organization_id,
        organization=owner.organization_name,
        domain=proof.domain,
        record_name=proof.record_name,
        record_value=proof.value,
        at=ends_at.strftime("%Y-%m-%d %H:%M UTC"),
    )
