"""Domain routes: which connection signs in the addresses of a mail domain that an organization has proved.

Any organization may claim a domain; only one claim to it can be verified. The proof is judged like that of every domain
(`core/organizations/domain_proofs.py`); a proof for the custom domain does not count here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import domain_proofs
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.domain_proofs import DomainFinding, DomainProof, ProofStatus
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved, DomainVerifiedElsewhere
from core.sign_in.upstream.connections import at_once, changes
from core.sign_in.upstream.connections.editors import Editor
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ROUTES_MAX = 100
# How many customers' vendors learn in one transaction that an organization has proved a mail domain.
TOLD_MAX = 100


class RouteUnknown(NotFound):
    """The organization has no route with that id."""

    default_message = "This organization has no such domain route."


class DomainRoutedAlready(Conflict):
    """The organization has a route of the domain."""

    default_message = "This organization has a route of this domain already. Change that one."


class RouteInForce(Conflict):
    """The domain is verified, or its route is to be enforced, so the holder of a setup link cannot give it up."""

    default_message = (
        "This mail domain is in use, so a setup link cannot remove it. Ask the person who sent you the link."
    )


class TooManyRoutes(BadRequest):
    """The organization has the maximum number of routes."""

    default_message = Wording(
        "An organization can have at most %(maximum)s domain routes. Delete one that is not in use.", maximum=ROUTES_MAX
    )


class DomainLoss(StrEnum):
    """Why a mail domain of a customer is lost, as its vendor is told."""

    RECORD_MISSING = "record_missing"
    REMOVED = "removed"
    PROVED_BY_ORGANIZATION = "proved_by_organization"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteClaim:
    """A claim to a mail domain, and the connection to which it leads.

    `vouched_for` is the connection to which an editor has led it who may give every role (`at_once.py`).
    """

    id: UUID
    organization_id: UUID
    connection_id: UUID
    enforced: bool
    proof: DomainProof
    vouched_for: UUID | None = None

    @property
    def is_open(self) -> bool:
        """Whether the holder of a setup link can give it up: it was never verified, and nothing is to be enforced."""
        return self.proof.verified_at is None and not self.enforced

    @property
    def is_vouched_for(self) -> bool:
        """Whether an editor who may give every role has led it to its connection."""
        return self.vouched_for == self.connection_id

    def is_enforced_at(self, at: datetime) -> bool:
        """Return whether it is proved and enforced; its connection may be switched off."""
        return self.enforced and self.is_in_force_at(at)

    def is_in_force_at(self, at: datetime) -> bool:
        """Return whether its domain is proved."""
        ends_at = self.proof.ends_at
        return self.proof.verified_at is not None and (ends_at is None or at < ends_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainRoute:
    """A route, with the TXT record that proves the domain."""

    id: UUID
    domain: str
    provider_id: UUID
    enforced: bool
    status: ProofStatus
    txt_name: str
    txt_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRoute:
    """A route in force: the domain is proved, the connection enabled, the organization active."""

    connection_id: UUID
    connection_name: str
    organization_slug: str
    enforced: bool


def list_all(uow: UnitOfWork, slug: str) -> Sequence[DomainRoute]:
    """List the routes of an organization by their domains."""
    organization = authorize(uow, slug, Operation.DOMAIN_ROUTES_READ).organization
    return [_shown(claim) for claim in uow.domain_routes.of_organization(organization.id)]


def create(uow: UnitOfWork, slug: str, text: str, connection_id: UUID, *, enforced: bool) -> DomainRoute:
    """Claim a mail domain; it routes nothing before it is verified. The holder of a setup link enforces nothing."""
    editor = Editor.of_caller(uow, slug, Operation.DOMAIN_ROUTES_CHANGE)
    domain = domain_proofs.checked_domain(uow, text)
    require_connection(uow, editor.organization_id, connection_id)
    if len(uow.domain_routes.of_organization(editor.organization_id)) >= ROUTES_MAX:
        raise TooManyRoutes
    claim = RouteClaim(
        id=uow.randomness.new_id(),
        organization_id=editor.organization_id,
        connection_id=connection_id,
        enforced=enforced and not editor.is_link,
        proof=domain_proofs.claim(uow, domain),
        vouched_for=at_once.lead_domain(uow, editor, connection_id),
    )
    if not uow.domain_routes.add(claim, uow.made_through):
        raise DomainRoutedAlready
    _record(uow, editor, AuditAction.DOMAIN_ROUTE_CREATED, claim)
    return _shown(claim)


def change(
    uow: UnitOfWork, slug: str, route_id: UUID, *, connection_id: UUID | None, enforced: bool | None
) -> DomainRoute:
    """Change the given fields of a route; raise `RouteInForce` as `delete` does."""
    editor = Editor.of_caller(uow, slug, Operation.DOMAIN_ROUTES_CHANGE)
    if editor.is_link:
        enforced = None
    if connection_id is not None:
        require_connection(uow, editor.organization_id, connection_id)
    before = _changeable(uow, editor, route_id)
    after = replace(
        before,
        connection_id=connection_id or before.connection_id,
        enforced=before.enforced if enforced is None else enforced,
    )
    if connection_id is not None and (editor.may_trust or connection_id != before.connection_id):
        after = replace(after, vouched_for=at_once.lead_domain(uow, editor, connection_id))
    uow.domain_routes.save(after)
    _record(uow, editor, AuditAction.DOMAIN_ROUTE_UPDATED, after, **_enforce(uow, before, after))
    return _shown(after)


def lead(uow: UnitOfWork, editor: Editor, before: RouteClaim, connection_id: UUID) -> None:
    """Lead a mail domain of an editor's locked organization to another connection, which is switched off."""
    after = replace(before, connection_id=connection_id, vouched_for=at_once.lead_domain(uow, editor, connection_id))
    uow.domain_routes.save(after)
    _record(uow, editor, AuditAction.DOMAIN_ROUTE_UPDATED, after)


def delete(uow: UnitOfWork, slug: str, route_id: UUID) -> None:
    """Delete a route, and give up the claim to its domain.

    Raise `RouteInForce` for the holder of a setup link, unless it routes nothing yet.
    """
    editor = Editor.of_caller(uow, slug, Operation.DOMAIN_ROUTES_CHANGE)
    claim = _changeable(uow, editor, route_id)
    uow.domain_routes.remove(editor.organization_id, route_id)
    _record(uow, editor, AuditAction.DOMAIN_ROUTE_DELETED, claim)
    if editor.is_for_customer and claim.proof.verified_at is not None:
        tell_of_loss(uow, editor.organization_id, claim.proof.domain, DomainLoss.REMOVED)


def find_to_verify(uow: UnitOfWork, slug: str, route_id: UUID) -> RouteClaim:
    """Return the claim whose name servers are to be asked; raise `RouteUnknown`."""
    organization = authorize(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization
    return found(uow, organization.id, route_id)


def verify(
    uow: UnitOfWork, slug: str, route_id: UUID, records: Sequence[str] | None
) -> DomainRoute | DomainUnanswered | DomainUnproved:
    """Record what the name servers answered when the organization asked for it; return or raise what is missing.

    A vendor reads back when it asked last for its customer, so that what is missing is returned there.
    """
    editor = Editor.of_caller(uow, slug, Operation.DOMAIN_ROUTES_CHANGE)
    claim = _locked(uow, editor.organization_id, route_id)
    finding = domain_proofs.finding(claim.proof, records)
    if finding is not DomainFinding.FOUND:
        refusal = DomainUnanswered() if finding is DomainFinding.UNANSWERED else DomainUnproved()
        if not editor.is_for_customer:
            raise refusal
        uow.domain_routes.save_proof(replace(claim, proof=replace(claim.proof, checked_at=uow.now)))
        return refusal
    after = _checked(uow, claim, finding)
    if claim.proof.verified_at is None:
        _record(uow, editor, AuditAction.DOMAIN_ROUTE_VERIFIED, after)
        _tell_of_proof(uow, editor, claim.proof.domain)
    return _shown(after)


def claim_checks(uow: UnitOfWork, limit: int) -> Sequence[RouteClaim]:
    """Return claims that are due to be checked again; no other replica gets them within the next hour."""
    return uow.domain_routes.claim_checks(limit, until=uow.now + domain_proofs.RECHECK_PERIOD)


def record_check(uow: UnitOfWork, asked: RouteClaim, records: Sequence[str] | None) -> ProofStatus | None:
    """Record what the name servers of a verified domain answered; None when the route was deleted in the meantime."""
    claim = uow.domain_routes.lock(asked.organization_id, asked.id)
    if claim is None or claim.proof.verified_at is None:
        return None
    status = _checked(uow, claim, domain_proofs.finding(claim.proof, records)).proof.status
    if status is ProofStatus.FAILING and claim.proof.status is ProofStatus.VERIFIED:
        tell_of_loss(uow, claim.organization_id, claim.proof.domain, DomainLoss.RECORD_MISSING)
    return status


def found(uow: UnitOfWork, organization_id: UUID, route_id: UUID) -> RouteClaim:
    """Return the claim of a route; raise `RouteUnknown`."""
    claim = next((one for one in uow.domain_routes.of_organization(organization_id) if one.id == route_id), None)
    if claim is None:
        raise RouteUnknown
    return claim


def require_connection(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> None:
    """Raise `BadRequest` for a connection that the organization does not have."""
    if uow.upstream_connections.find(organization_id, connection_id) is None:
        raise BadRequest.of_field("provider_id", "This organization has no such connection.")


def _record(uow: UnitOfWork, editor: Editor, action: AuditAction, claim: RouteClaim, **details: Any) -> None:
    editor.record(
        uow,
        action,
        route_id=str(claim.id),
        domain=claim.proof.domain,
        provider_id=str(claim.connection_id),
        enforced=claim.enforced,
        **details,
    )


def _tell_of_proof(uow: UnitOfWork, editor: Editor, domain: str) -> None:
    """Tell a vendor that a domain is proved for its customer, and vendors that another organization has proved it."""
    if editor.is_for_customer:
        uow.tell_vendor(EventType.CUSTOMER_DOMAIN_PROVED, editor.organization_id, domain=domain)
        return
    for internal_id in uow.domain_routes.proved_for_customers(domain, limit=TOLD_MAX):
        tell_of_loss(uow, internal_id, domain, DomainLoss.PROVED_BY_ORGANIZATION)


def tell_of_loss(uow: UnitOfWork, internal_id: UUID, domain: str, reason: DomainLoss) -> None:
    """Tell a vendor that a mail domain of its customer is lost."""
    uow.tell_vendor(EventType.CUSTOMER_DOMAIN_LOST, internal_id, domain=domain, reason=reason)


def _enforce(uow: UnitOfWork, before: RouteClaim, after: RouteClaim) -> dict[str, int]:
    """End the sessions that began otherwise, if the route is enforced from now on; return the detail to record."""
    if not after.is_enforced_at(uow.now):
        return {}
    if before.is_enforced_at(uow.now) and before.connection_id == after.connection_id:
        return {}
    connection = uow.upstream_connections.find(after.organization_id, after.connection_id)
    if connection is None or not connection.enabled:
        return {}
    ended = changes.enforce_domain(uow, after.organization_id, after.connection_id, after.proof.domain)
    return {"sessions_ended": ended}


def _checked(uow: UnitOfWork, claim: RouteClaim, finding: DomainFinding) -> RouteClaim:
    """Store a claim after a check; raise `DomainVerifiedElsewhere` when it would be a second verified one."""
    after = replace(claim, proof=claim.proof.checked(finding, at=uow.now))
    if not uow.domain_routes.save_proof(after):
        raise DomainVerifiedElsewhere
    _enforce(uow, claim, after)
    return after


def _changeable(uow: UnitOfWork, editor: Editor, route_id: UUID) -> RouteClaim:
    claim = _locked(uow, editor.organization_id, route_id)
    if editor.is_link and not claim.is_open:
        raise RouteInForce
    return claim


def _locked(uow: UnitOfWork, organization_id: UUID, route_id: UUID) -> RouteClaim:
    claim = uow.domain_routes.lock(organization_id, route_id)
    if claim is None:
        raise RouteUnknown
    return claim


def _shown(claim: RouteClaim) -> DomainRoute:
    return DomainRoute(
        id=claim.id,
        domain=claim.proof.domain,
        provider_id=claim.connection_id,
        enforced=claim.enforced,
        status=claim.proof.status,
        txt_name=claim.proof.record_name,
        txt_value=claim.proof.value,
    )
